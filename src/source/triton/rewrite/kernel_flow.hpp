// Which names of a kernel depend on what: the program's index, a tile of offsets, a loop.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "source/triton/rewrite/subject.hpp"

namespace hone::source::rewrite {

class KernelFlow {
 public:
  KernelFlow(const Subject& subject, int kernel) : subject_(subject), kernel_(kernel) {}

  // Names whose value is made with a node for which `seed` holds, directly or through other names of the kernel.
  std::set<std::string> depending(const std::function<bool(Node)>& seed) const;
  bool depends(Node expression, const std::function<bool(Node)>& seed, const std::set<std::string>& names) const;

  // "load" for tl.load and the like, whatever the names it is called by; empty for other calls.
  std::string op(Node call) const;
  // Calls of tl.load, tl.store in source order.
  std::vector<Node> accesses(bool loads, bool stores) const;
  static Node pointer_of(Node access);
  // The kernel's pointer parameter that an access goes through; empty where it can not be traced.
  std::string base_of(Node access) const;

  // Names that a statement, with all below it, gives a value.
  std::set<std::string> assigned_in(Node statement) const;
  // The loops of the kernel, outermost first in source order.
  std::vector<Node> loops() const;

  // How this file spells triton.language ("tl"); empty where it imports only names from it.
  std::string language() const;

 private:
  const Subject& subject_;
  int kernel_;
};

bool is_loop(Node node);
// The kernels of this file that a request asks for.
std::vector<int> wanted_kernels(const Subject& subject, const Request& request);

}  // namespace hone::source::rewrite
