#include "repository/manifest/test_command.hpp"

#include <stdlib.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include <fmt/format.h>

#include "base/text.hpp"

namespace hone::repository::manifest {

namespace {

constexpr std::uint64_t kLargestFolderBytes = std::uint64_t{2} << 30;
constexpr std::size_t kMostEntries = 100'000, kLastWords = 600;

// A folder of this run below the system's temporary folder, removed at the end.
class PrivateFolder {
 public:
  static base::Result<std::unique_ptr<PrivateFolder>> make() {
    const char* below = ::getenv("TMPDIR");
    std::string pattern = base::join(below != nullptr && *below != '\0' ? below : "/tmp", "hone-tests-XXXXXX");
    if (::mkdtemp(pattern.data()) == nullptr)
      return base::Error{base::ErrorKind::preflight, "a temporary folder for the tests", "it can not be made", pattern,
                         "set TMPDIR to a folder that can be written"};
    return std::unique_ptr<PrivateFolder>(new PrivateFolder(pattern));
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  explicit PrivateFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

base::Error not_copied(const std::string& folder, const std::string& found) {
  return {base::ErrorKind::preflight, "a copy of the manifest's folder, in which the tests run", found, folder,
          "give the manifest a folder of its own with what its tests need, on a disk with room in TMPDIR"};
}

// Every entry but hone's workspaces; links stay links, pipes and devices are left out.
base::Result<void> copy_folder(const std::filesystem::path& from, const std::filesystem::path& to) {
  namespace fs = std::filesystem;
  std::error_code failed;
  std::uint64_t bytes = 0;
  std::size_t entries = 0;
  for (auto it = fs::recursive_directory_iterator(from, failed); !failed && it != fs::recursive_directory_iterator();
       it.increment(failed)) {
    const fs::path target = to / it->path().lexically_relative(from);
    const fs::file_status status = it->symlink_status(failed);
    if (failed) break;
    if (++entries > kMostEntries) return not_copied(from, fmt::format("more than {} files in it", kMostEntries));
    if (fs::is_directory(status)) {
      if (it->path().filename() == "optimization") {
        it.disable_recursion_pending();
        continue;
      }
      fs::create_directories(target, failed);
    } else if (fs::is_symlink(status)) {
      fs::copy_symlink(it->path(), target, failed);
    } else if (fs::is_regular_file(status)) {
      bytes += fs::file_size(it->path(), failed);
      if (bytes > kLargestFolderBytes)
        return not_copied(from, fmt::format("more than {} bytes in it", kLargestFolderBytes));
      if (!failed) fs::copy_file(it->path(), target, failed);
    }
    if (failed) break;
  }
  return failed ? not_copied(from, failed.message()) : base::Result<void>();
}

// The number that ends before `at`, or the one that begins there.
std::optional<int> number_before(const std::string& text, std::size_t at) {
  while (at > 0 && text[at - 1] == ' ') --at;
  std::size_t begin = at;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(text[begin - 1])) && at - begin < 9) --begin;
  return begin == at ? std::nullopt : std::optional<int>(std::stoi(text.substr(begin, at - begin)));
}
std::optional<int> number_at(const std::string& text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) && end - at < 9) ++end;
  return end == at ? std::nullopt : std::optional<int>(std::stoi(text.substr(at, end - at)));
}

std::string last_words(const base::Outcome& outcome) {
  const std::string text = base::trim(outcome.output + "\n" + outcome.error);
  return text.size() > kLastWords ? "..." + text.substr(text.size() - kLastWords) : text;
}

}  // namespace

std::optional<int> tests_in(const std::string& output) {
  for (const char* none : {"No tests were found", "no tests ran", "No tests ran", "collected 0 items"})
    if (output.find(none) != std::string::npos) return 0;
  std::optional<int> total;
  const auto add = [&](std::optional<int> number) {
    if (number) total = total.value_or(0) + *number;
  };
  for (const std::string& line : base::split(output, '\n')) {
    const auto behind = [&](const char* words) {
      const std::size_t found = line.find(words);
      return found == std::string::npos ? std::nullopt : number_at(line, found + std::string(words).size());
    };
    const auto before = [&](const char* words) {
      const std::size_t found = line.find(words);
      return found == std::string::npos ? std::nullopt : number_before(line, found);
    };
    if (const auto ctest = behind("tests failed out of "))
      add(ctest);
    else if (line.find("[==========]") != std::string::npos && line.find(" ran.") != std::string::npos)
      add(before(" tests from") ? before(" tests from") : before(" test from"));
    else if (const auto cargo = behind("test result: ok. "))
      add(cargo);
    else if (const auto unittest = base::starts_with(line, "Ran ") ? number_at(line, 4) : std::nullopt)
      add(unittest);
    else if (line.find(" in ") != std::string::npos && before(" passed"))
      add(before(" passed"));  // pytest
    else if (const auto tap = base::starts_with(line, "1..") ? number_at(line, 3) : std::nullopt)
      add(tap);
    else if (const auto catch2 =
                 line.find("All tests passed") != std::string::npos ? before(" test case") : std::nullopt)
      add(catch2);
  }
  return total;
}

base::Result<launch::OwnTests> run_test_command(base::FileSystem& files, base::Processes* processes,
                                                const Manifest& manifest, const std::vector<FileChange>& changes) {
  const std::string shown = "'" + base::join_text(manifest.test, " ") + "'";
  if (processes == nullptr)
    return base::Error{base::ErrorKind::preflight, "programs to be run here", "none can be", shown,
                       "leave 'test' out of the manifest"};
  HONE_TRY(copy, PrivateFolder::make());
  const std::string folder = files.absolute(manifest.folder);
  HONE_PROPAGATE(copy_folder(folder, (*copy)->path()));
  for (const FileChange& change : changes) {
    const auto below = std::filesystem::path(files.absolute(change.path)).lexically_relative(folder);
    HONE_PROPAGATE(files.write_atomically(base::join((*copy)->path(), below.string()), change.after));
  }
  base::Command command;
  command.arguments = manifest.test;
  command.directory = (*copy)->path();
  command.deadline_ms = manifest.test_timeout_s * 1000;
  auto outcome = processes->run(command);
  if (!outcome && outcome.error().kind == base::ErrorKind::interrupted) return outcome.error();
  launch::OwnTests result;
  result.failed = 1;
  if (!outcome) {
    result.detail = shown + " can not be started: " + outcome.error().found;
    return result;
  }
  const auto counted = tests_in(outcome->output + "\n" + outcome->error);
  if (outcome->timed_out) {
    result.detail = fmt::format("{} did not end within {} s: {}", shown, manifest.test_timeout_s, last_words(*outcome));
  } else if (outcome->exit_status != 0) {
    result.detail = fmt::format("{} ended with status {}: {}", shown, outcome->exit_status, last_words(*outcome));
  } else if (counted && *counted == 0) {
    result.detail = shown + " ran no test: " + last_words(*outcome);
  } else {
    result.failed = 0;
    result.passed = std::max(1, counted.value_or(1));
    result.detail = shown + (counted ? fmt::format(" passed with {} tests", *counted)
                                     : " ended with status 0 (its output does not say how many tests it ran)");
  }
  return result;
}

}  // namespace hone::repository::manifest
