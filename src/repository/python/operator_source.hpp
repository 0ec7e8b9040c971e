// An operator as a repository found it: where its text stands, what the text shows, and what belongs to it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/profile.hpp"
#include "model/source_facts.hpp"
#include "repository/python/description.hpp"

namespace hone::repository::python {

struct OperatorSource {
  std::shared_ptr<const OperatorDescription> description;  // none: the operator can be read and not measured
  model::AuditedOp audited;                                // what its text shows
  model::Identity identity;                                // without the hash of the source
  std::string hash_scheme;                                 // goes into that hash: "hone.tree/1"
  std::string provider;                                    // the word for its rows in the tables
  std::string place;                                       // "the checkout": what messages call the tree at `root`
  std::string root;                                        // of the tree that the operator belongs to, absolute
  std::string import_root, package;                        // "src", "my_kernels": what is imported from where below it
  std::string path, relative, module;     // of the operator's file: absolute, below `root`, as a module
  std::string text;                       // its bytes, the original
  std::string test_file;                  // the operator's own tests, below `root`; empty: none
  std::vector<std::string> judges;        // files below `root` that no variant may change: tests, benchmarks
  std::string style_configuration;        // of ruff, below `root`; empty: no style is checked
  std::vector<std::string> more_options;  // options of a request that are not the operator's own
  std::vector<std::string> problems;      // what python will not read of the text

  std::string imports() const { return import_root.empty() ? root : root + "/" + import_root; }
};

// What a repository has to add to the measurements of an operator.
class Records {
 public:
  virtual ~Records() = default;
  // As in Described.
  virtual std::vector<model::BaselineRow> recorded() { return {}; }
  virtual base::Result<std::vector<model::BaselineRow>> benchmark(const std::string& folder) {
    (void)folder;
    return std::vector<model::BaselineRow>{};
  }
  virtual std::vector<std::string> remarks() { return {}; }
};

}  // namespace hone::repository::python
