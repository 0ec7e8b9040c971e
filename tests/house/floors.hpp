// The floors and who may include whom, as data: the one place where the rule stands. docs/architecture.md explains it.
#pragma once

#include <string>
#include <vector>

namespace hone::house {

// One row holds for every file below `folder`; where rows nest, the longest folder that fits a file decides.
struct Floor {
  std::string folder;  // "src/measure"
  std::vector<std::string>
      may_include;  // path prefixes as written in an #include; a '/' at the end means the folder itself
                    // and all below, "device/*" the files in the folder but not those below
};

// Every floor may include its own folder.
inline const std::vector<Floor>& floors() {
  static const std::vector<Floor> table = {
      {"src/base", {}},
      {"src/model", {"base/"}},
      {"src/source", {"model/", "base/"}},
      {"src/device", {"model/", "base/"}},
      {"src/device/cpu", {"device/*", "model/", "base/"}},
      {"src/device/cuda", {"device/*", "model/", "base/"}},
      {"src/measure", {"device/*", "model/", "base/"}},
      {"src/counters", {"device/*", "model/", "base/"}},
      {"src/diagnose", {"model/", "base/"}},
      {"src/repository", {"source/", "device/*", "measure/", "counters/", "diagnose/", "model/", "base/"}},
      {"src/repository/native",
       {"repository/*", "source/", "device/*", "measure/", "counters/", "diagnose/", "model/", "base/", "kernels/"}},
      {"src/repository/liger",
       {"repository/*", "source/", "device/*", "measure/", "counters/", "diagnose/", "model/", "base/"}},
      {"src/repository/manifest",
       {"repository/*", "source/", "device/*", "measure/", "counters/", "diagnose/", "model/", "base/"}},
      {"src/stages", {"repository/*", "source/", "device/*", "measure/", "counters/", "diagnose/", "model/", "base/"}},
      {"src/render", {"model/", "base/"}},
      {"src/cli",
       {"stages/", "render/", "repository/", "source/", "device/", "measure/", "counters/", "diagnose/", "model/",
        "base/", "kernels/"}},
      {"src", {"cli/"}},  // main.cpp
      {"kernels", {}},
  };
  return table;
}

// Libraries that cost much time or tie a floor to a machine stay where they belong.
struct LibraryRule {
  std::string header;                // as written between the brackets; a prefix
  std::vector<std::string> allowed;  // path prefixes of files that may include it
  bool in_headers = false;           // also from .hpp files
  std::string reason;
};

inline const std::vector<LibraryRule>& library_rules() {
  static const std::vector<LibraryRule> table = {
      {"nlohmann/json_fwd.hpp", {"src/"}, true, "kernels know no documents"},
      {"nlohmann/", {"src/"}, false, "9 s a translation unit: only in .cpp files"},
      {"CLI/", {"src/cli/"}, false, "the command line belongs to cli"},
      {"sqlite3.h", {"src/"}, false, "only behind an interface"},
      {"iostream", {"src/cli/", "src/main.cpp"}, false, "only cli prints"},
      {"cuda.h", {}, false, "CUDA is opened at run time; its types are declared in src/device/cuda"},
      {"cuda_runtime.h", {"kernels/tile/"}, true, "CUDA is opened at run time"},
  };
  return table;
}

}  // namespace hone::house
