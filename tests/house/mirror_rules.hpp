// Finds test files that are named for nothing that exists, and folders of sources without a test. A pure function of paths, so that
// it is itself tested.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace hone::house {

inline std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

// Paths are relative to the root. tests/a/b_test.cpp is for the source src/a/b.cpp (or .hpp) or the folder src/a/b; tests/kernels
// for those of kernels/. An aspect may stand behind the name: tests/cli/application_kill_test.cpp is for src/cli/application.cpp.
// A folder of src that holds a .cpp file needs a test for one of its sources, for itself or for a folder above it within its layer.
inline std::vector<std::string> check_mirror(const std::vector<std::string>& tests,
                                             const std::vector<std::string>& sources) {
  std::set<std::string> names, folders, needy;
  for (const std::string& source : sources) {
    names.insert(source.substr(0, source.rfind('.')));
    for (std::string folder = folder_of(source); folder.find('/') != std::string::npos; folder = folder_of(folder))
      folders.insert(folder);
    if (source.ends_with(".cpp") && folder_of(source).starts_with("src/")) needy.insert(folder_of(source));
  }
  std::vector<std::string> faults;
  std::set<std::string> with_tests, tested_whole;
  for (const std::string& test : tests) {
    const std::string path = test.substr(std::string("tests/").size());
    std::string subject = (path.starts_with("kernels/") ? "" : "src/") + path.substr(0, path.rfind("_test.cpp"));
    while (!subject.empty() && !names.contains(subject) && !folders.contains(subject)) {
      const std::size_t aspect = subject.find_last_of("_/");
      subject.resize(subject[aspect] == '_' ? aspect : 0);
    }
    if (subject.empty()) faults.push_back(test + " is named for no source and no folder");
    with_tests.insert(folder_of(subject));
    if (folders.contains(subject)) tested_whole.insert(subject);
  }
  for (const std::string& folder : needy) {
    const bool within = std::any_of(tested_whole.begin(), tested_whole.end(),
                                    [&](const std::string& whole) { return (folder + "/").starts_with(whole + "/"); });
    if (!within && !with_tests.contains(folder)) faults.push_back(folder + " has no test");
  }
  return faults;
}

}  // namespace hone::house
