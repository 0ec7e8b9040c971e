// What memory a host expression stands for: freshly allocated, an input of forward, a saved tensor or an incoming
// gradient.
#pragma once

#include <string>
#include <vector>

#include "source/triton/module/module_set.hpp"
#include "source/triton/module/python.hpp"

namespace hone::source {

enum class BufferKind { fresh, forward_input, saved_tensor, incoming_gradient };

struct BufferOrigin {
  BufferKind kind = BufferKind::fresh;
  std::vector<std::string> conditions;  // of the branches on the way
  std::string text;                     // the expression or parameter it ends at
  int line = 0;                         // where the last alias on the way is made
};

class BufferTracer {
 public:
  explicit BufferTracer(ModuleSet& modules) : modules_(modules) {}
  // All memory that `expression`, standing in function `scope`, may stand for. What can not be followed is left out.
  std::vector<BufferOrigin> trace(const Module& module, int scope, Node expression);

 private:
  // The call through which a function was entered, so that its parameters mean that call's arguments.
  struct Entry {
    const Module* module;
    int scope;
    Node call;
    int function;
    const Module* function_module;
    const Entry* outer;
  };
  void expression(const Module& module, int scope, Node node, int element, const BufferOrigin& path, const Entry* entry,
                  int depth);
  void name(const Module& module, int scope, Node node, int element, const BufferOrigin& path, const Entry* entry,
            int depth);
  void parameter(const Module& module, int scope, const std::string& name, const BufferOrigin& path, const Entry* entry,
                 int depth);
  void call(const Module& module, int scope, Node node, int element, const BufferOrigin& path, const Entry* entry,
            int depth);
  void end(const BufferOrigin& path, BufferKind kind, Node at);

  ModuleSet& modules_;
  std::vector<BufferOrigin> found_;
  int steps_ = 0;
};

}  // namespace hone::source
