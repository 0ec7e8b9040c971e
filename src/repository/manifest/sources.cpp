#include "repository/manifest/sources.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/regular_file.hpp"
#include "base/text.hpp"
#include "repository/manifest/read_manifest.hpp"
#include "repository/quoted_includes.hpp"

namespace hone::repository::manifest {

namespace {

constexpr std::uint64_t kLargestSourceBytes = std::uint64_t{8} << 20;
constexpr std::size_t kMostFiles = 500;

// "a/../b" as "b"; nothing where it leads above the start.
std::optional<std::string> normalized(const std::string& path) {
  std::vector<std::string> parts;
  for (const std::string& part : base::split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (parts.empty()) return std::nullopt;
      parts.pop_back();
    } else {
      parts.push_back(part);
    }
  }
  return base::join_text(parts, "/");
}

// A pointer of any type, as the kernel declares it.
constexpr const char* kAddress = R"cpp(#include <cstdint>
                                       namespace hone_call {
                                       struct Address {
                                         void* to;
                                         template <class T>
                                         operator T*() const {
                                           return static_cast<T*>(to);
                                         }
                                       };
                                       template <class T>
                                       T value(void* const* arguments, int index) {
                                         return *static_cast<const T*>(arguments[index]);
                                       }
                                       }  // namespace hone_call
)cpp";

const char* type_of(const kernels::Argument& argument) {
  switch (argument.index()) {
    case 1: return "std::int32_t";
    case 2: return "std::int64_t";
    case 3: return "float";
    default: return "hone_call::Address";
  }
}

// One call of `function` with what the arguments point at; `first`: written before them.
std::string call_of(const std::string& function, const std::string& first, const std::vector<std::string>& types) {
  std::string text = function + "(" + first;
  for (std::size_t i = 0; i < types.size(); ++i) text += fmt::format("{}a{}", i > 0 || !first.empty() ? ", " : "", i);
  return text + ");";
}

std::string loads_of(const std::vector<std::string>& types) {
  std::string text;
  for (std::size_t i = 0; i < types.size(); ++i)
    text += fmt::format("  const auto a{0} = hone_call::value<{1}>(arguments, {0});\n", i, types[i]);
  return text;
}

// The calls that hone writes follow from the manifest: what the compiler finds wrong in one is shown at the launch's line there.
// Each function is one line, so that all of it is at that place.
std::string at_manifest(const Manifest& manifest, const Place& place, const std::string& function) {
  std::string name;
  for (const char c : base::file_name(manifest.path)) name += c == '"' || c == '\\' ? '_' : c;
  std::string line;
  for (const char c : function) line += c == '\n' ? ' ' : c;
  return fmt::format("#line {} \"{}\"\n{}\n", std::max(1, place.line), name, line);
}

constexpr const char* kSignature =
    "(void* const* arguments, std::int64_t first, std::int64_t last, int, int, void*) {\n";

}  // namespace

base::Result<std::string> Sources::read(const std::string& path) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto known = read_.find(path); known != read_.end()) return known->second;
  const std::string full = manifest_.full(path);
  if (!files_.exists(full))
    return base::Error{base::ErrorKind::usage, "the file that " + manifest_.path + " names", "no such file", full,
                       "correct the path in the manifest; it is relative to the manifest's folder"};
  const std::string folder = files_.canonical(manifest_.folder) + "/";
  if (!base::starts_with(files_.canonical(full), folder))
    return base::Error{base::ErrorKind::usage, "a file below " + folder, "a link to " + files_.canonical(full), full,
                       "put the file itself below the manifest's folder"};
  HONE_TRY(text, base::read_regular(files_, full, kLargestSourceBytes));
  return read_.emplace(path, std::move(*text)).first->second;
}

base::Result<std::vector<std::pair<std::string, std::string>>> Sources::gather(
    const std::string& main, const std::vector<model::SourceEdit>& edits, bool as_written) {
  std::vector<std::pair<std::string, std::string>> found;
  std::map<std::string, std::string> written;  // as included -> its path
  std::set<std::string> seen = {main};
  std::vector<std::string> open = {main};
  const auto is_file = [this](const std::string& path) {
    return files_.exists(manifest_.full(path)) && !files_.is_directory(manifest_.full(path));
  };
  while (!open.empty()) {
    const std::string path = open.back();
    open.pop_back();
    const auto edit = std::find_if(edits.begin(), edits.end(), [&](const auto& e) { return e.file == path; });
    HONE_TRY(text, edit != edits.end() ? base::Result<std::string>(edit->content) : read(path));
    const std::string beside = base::parent(path) == "." ? "" : base::parent(path) + "/";
    for (const std::string& name : quoted_includes(*text)) {
      const auto near = normalized(beside + name), from_root = normalized(name);
      if (name.empty() || name.front() == '/' || !near)
        return base::Error{base::ErrorKind::usage, "includes in quotes that stay below " + manifest_.folder,
                           "\"" + name + "\"", manifest_.full(path),
                           "put the header below the manifest's folder, or include it in <> from the compiler's own"};
      for (const auto& candidate : {near, from_root}) {
        if (!candidate || !is_file(*candidate)) continue;
        if (const auto [known, is_new] = written.emplace(name, *candidate); as_written && known->second != *candidate)
          return base::Error{base::ErrorKind::usage, "one file for one name in quotes",
                             fmt::format("\"{}\" is {} and {}", name, known->second, *candidate), manifest_.full(path),
                             "rename one of them: NVRTC looks for headers by the name alone"};
        if (seen.insert(*candidate).second) open.push_back(*candidate);
        break;
      }
    }
    found.emplace_back(path, std::move(*text));
    if (found.size() > kMostFiles)
      return base::Error{base::ErrorKind::usage, fmt::format("at most {} files in quotes", kMostFiles), "more",
                         manifest_.full(main), "include fewer"};
  }
  if (as_written)
    for (const auto& [name, path] : written)
      if (name != path)
        found.emplace_back(name, std::find_if(found.begin(), found.end(), [&, path = path](const auto& file) {
                                   return file.first == path;
                                 })->second);
  std::sort(found.begin(), found.end());
  return found;
}

base::Result<device::ProgramSource> program_source(Sources& sources, const Manifest& manifest, const PassDecl& pass,
                                                   const kernels::Plan& plan,
                                                   const std::vector<model::SourceEdit>& edits) {
  const bool cuda = manifest.language == Language::cuda;
  HONE_TRY(gathered, sources.gather(manifest.source, edits, cuda));
  device::ProgramSource source;
  source.name = manifest.name + " " + pass.name;
  source.files = std::move(*gathered);
  source.defines = plan.defines;
  source.toolkit_headers = cuda;
  if (cuda) {
    source.main_file = manifest.source;
    return source;
  }
  source.main_file = "hone_programs.cpp";
  std::string text = kAddress + fmt::format("#include \"{}\"\n", manifest.source);
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    std::vector<std::string> types;
    for (const kernels::Argument& argument : plan.launches[i].arguments) types.emplace_back(type_of(argument));
    text += at_manifest(manifest, pass.launches[i].place,
                        "extern \"C\" void " + plan.launches[i].entry + kSignature + loads_of(types) +
                            "  for (std::int64_t program = first; program < last; ++program) " +
                            call_of("::" + pass.launches[i].entry, "program", types) + "\n}");
  }
  source.files.emplace_back(source.main_file, std::move(text));
  return source;
}

base::Error in_users_files(base::Error error, const Manifest& manifest, base::FileSystem& files) {
  const std::string generated = base::file_name(manifest.path) + ":";
  std::string found;
  for (std::string line : base::split(error.found, '\n')) {
    // The column is one of the line that hone wrote.
    if (base::starts_with(line, generated)) {
      const std::size_t number = generated.size(), end = line.find(':', number), column = line.find(':', end + 1);
      if (end != std::string::npos && column != std::string::npos) line.erase(end, column - end);
    }
    found += (found.empty() ? "" : "\n") + line;
  }
  error.found = std::move(found);
  const std::string path = error.where.substr(0, error.where.find_first_of(":("));
  if (!path.empty() && files.exists(manifest.full(path))) error.where = manifest.full(error.where);
  return error;
}

std::string reference_entry(const std::string& pass) { return "hone_reference_" + pass; }

base::Result<device::ProgramSource> reference_source(Sources& sources, const Manifest& manifest) {
  HONE_TRY(gathered, sources.gather(manifest.reference, {}));
  device::ProgramSource source;
  source.name = manifest.name + " reference";
  source.files = std::move(*gathered);
  source.defines = manifest.defines;
  source.main_file = "hone_reference.cpp";
  std::string text = kAddress + fmt::format("#include \"{}\"\n", manifest.reference);
  for (const PassDecl& pass : manifest.passes) {
    if (!pass.reference) continue;
    std::vector<std::string> types;
    for (const ArgumentDecl& argument : pass.reference->arguments)
      types.emplace_back(!argument.tensor.empty()             ? "hone_call::Address"
                         : argument.type == ScalarType::int32 ? "std::int32_t"
                         : argument.type == ScalarType::int64 ? "std::int64_t"
                                                              : "float");
    text += at_manifest(manifest, pass.reference->place,
                        "extern \"C\" void " + reference_entry(pass.name) + kSignature + loads_of(types) +
                            "  if (first < last) " + call_of("::" + pass.reference->function, "", types) + "\n}");
  }
  source.files.emplace_back(source.main_file, std::move(text));
  return source;
}

}  // namespace hone::repository::manifest
