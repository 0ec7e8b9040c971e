// Finds and runs the compiler; turns what it says into errors a person can act on.
#include "device/cpu/toolchain.hpp"

#include <fmt/format.h>

#include <cctype>

#include "base/text.hpp"

namespace hone::device::cpu {

namespace {

constexpr std::int64_t compile_deadline_ms = 180'000, version_deadline_ms = 20'000;
constexpr std::size_t most_messages = 5;

std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words;
  for (const std::string& word : base::split(command, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

// -fno-gnu-unique, -Bsymbolic: two variants of one program live in this process together, and their equally named
// templates and inline variables must not be merged. separate-code: the code's offsets do not depend on the length of
// symbol names. fast-math as a whole would set the processor's denormal mode when loaded, and license NaN away.
std::vector<std::string> flags_for(bool clang) {
  std::vector<std::string> flags = {"-O3"};
#if defined(__x86_64__) || defined(__i386__)
  flags.push_back("-march=native");
#elif defined(__aarch64__) || defined(__arm__) || defined(__powerpc64__)
  flags.push_back("-mcpu=native");
#endif
  for (const char* flag : {"-std=c++20", "-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd", "-fPIC", "-shared",
                           "-fno-semantic-interposition", "-fvisibility-inlines-hidden", "-w", "-Wl,-Bsymbolic",
                           "-Wl,--as-needed", "-Wl,-z,separate-code"}) {
    flags.emplace_back(flag);
  }
  if (!clang) flags.emplace_back("-fno-gnu-unique");
  return flags;
}

base::Error no_compiler(const std::string& found, const std::string& where) {
  return {base::ErrorKind::preflight, "a C++ compiler, which builds kernels at run time", found, where,
          "apt-get install g++, or name one with HONE_CXX"};
}

base::Result<Toolchain> ask_version(std::vector<std::string> command, base::Processes& processes) {
  base::Command question;
  question.arguments = command;
  question.arguments.emplace_back("--version");
  question.environment.emplace("LC_ALL", "C");
  question.deadline_ms = version_deadline_ms;
  const std::string asked = base::join_text(question.arguments, " ");
  HONE_TRY(answer, processes.run(question));
  if (answer->timed_out)
    return base::Error{
        base::ErrorKind::preflight, "a C++ compiler that answers",
        fmt::format("it hangs: no answer within {} s", version_deadline_ms / 1000), asked,
        "find out what it waits for (a wrapper, a cache, a network drive), or name another with HONE_CXX"};
  if (answer->exit_status != 0) {
    const std::string words = base::trim(answer->error);
    return no_compiler(fmt::format("exit status {}{}{}", answer->exit_status, words.empty() ? "" : ": ", words), asked);
  }
  Toolchain toolchain;
  toolchain.version = base::trim(base::split(answer->output, '\n').front());
  if (toolchain.version.empty()) return no_compiler("an empty answer to --version", asked);
  toolchain.identity = base::join_text(command, " ").append("\n").append(answer->output);
  toolchain.flags = flags_for(answer->output.find("clang") != std::string::npos);
  toolchain.command = std::move(command);
  return toolchain;
}

// Texts stay inside the folder: a program source is data, and may come from an outside proposer.
bool stays_inside(const std::string& path) {
  if (path.empty() || path.front() == '/') return false;
  for (const std::string& part : base::split(path, '/')) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return true;
}

base::Result<void> write_tree(const ProgramSource& source, const std::string& folder, base::FileSystem& files) {
  bool has_main = false;
  for (const auto& [path, text] : source.files) {
    if (!stays_inside(path)) {
      return base::Error{base::ErrorKind::internal, "a relative path without '..' for each text", "'" + path + "'",
                         source.name, ""};
    }
    has_main = has_main || path == source.main_file;
    if (auto written = files.write_atomically(base::join(folder, path), text); !written) return written;
  }
  if (!has_main) {
    return base::Error{base::ErrorKind::internal, "the main file among the texts", "'" + source.main_file + "'",
                       source.name, ""};
  }
  return files.create_directories(folder);
}

bool is_error_line(const std::string& line) {
  return line.find("error:") != std::string::npos || line.find("undefined reference") != std::string::npos;
}

// "kernels/a.hpp:12:5: error: ..." -> "kernels/a.hpp:12"
std::string place_of(const std::string& line) {
  const std::size_t name_end = line.find(':');
  if (name_end == std::string::npos) return {};
  std::size_t end = name_end + 1;
  while (end < line.size() && std::isdigit(static_cast<unsigned char>(line[end]))) ++end;
  return end == name_end + 1 ? std::string() : line.substr(0, end);
}

bool says(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

base::Error compile_error(const base::Outcome& outcome, const ProgramSource& source) {
  const std::string expected = "'" + source.name + "' to compile";
  if (outcome.timed_out) {
    return {base::ErrorKind::gate, expected,
            fmt::format("the compiler hangs: no end within {} s", compile_deadline_ms / 1000), source.main_file,
            "look for templates or constant expressions that never end, and for what the compiler itself waits for"};
  }
  std::vector<std::string> messages;
  std::string place;
  for (std::string line : base::split(outcome.error, '\n')) {
    if (!is_error_line(line)) continue;
    if (base::starts_with(line, "./")) line.erase(0, 2);  // the compiler's word for "below the tree"
    if (place.empty()) place = place_of(line);
    if (messages.size() < most_messages) messages.push_back(base::trim(line));
  }
  if (messages.empty()) messages.push_back(base::trim(outcome.error.substr(0, 1000)));
  const std::string words = base::join_text(messages, "\n");
  const std::string where = place.empty() ? source.main_file : place;
  if (says(outcome.error, "No space left on device") || says(outcome.error, "Disk quota exceeded")) {
    return {base::ErrorKind::preflight, "space for the compiler's files", words, where,
            "free some disk, or set TMPDIR to a folder on another one"};
  }
  if (says(outcome.error, "unrecognized command") || says(outcome.error, "unknown argument") ||
      says(outcome.error, "bad value")) {
    return {base::ErrorKind::preflight, "a compiler that knows C++20 and this machine", words, where,
            "install a newer one (g++ 11 or clang 14), and name it with HONE_CXX"};
  }
  if (outcome.exit_status >= 128 || says(outcome.error, "Killed signal")) {
    return {base::ErrorKind::preflight, expected,
            fmt::format("the compiler was killed (status {}): {}", outcome.exit_status, words), where,
            "check the free memory"};
  }
  return {base::ErrorKind::gate, expected, words, where, "correct the source at the place named"};
}

}  // namespace

std::string Toolchain::flags_text() const { return base::join_text(flags, " "); }

base::Result<Toolchain> find_toolchain(const std::string& compiler, base::Processes& processes) {
  if (std::vector<std::string> command = words_of(compiler); !command.empty()) {
    const auto path = processes.find(command.front());
    if (!path) return no_compiler("no program '" + command.front() + "'", "HONE_CXX or CXX");
    command.front() = *path;
    return ask_version(std::move(command), processes);
  }
  for (const char* name : {"c++", "g++", "clang++"}) {
    if (const auto path = processes.find(name)) return ask_version({*path}, processes);
  }
  return no_compiler("neither c++, g++ nor clang++", "PATH");
}

base::Result<std::string> compile_shared_object(const Toolchain& toolchain, const ProgramSource& source,
                                                const std::string& folder, base::Processes& processes,
                                                base::FileSystem& files) {
  const std::string tree = base::join(folder, "tree");
  const std::string output = base::join(folder, "program.so");
  if (auto written = write_tree(source, tree, files); !written) {
    base::Error error = written.error();
    if (error.kind == base::ErrorKind::preflight) error.remedy += "; TMPDIR names another place";
    return error;
  }

  base::Command command;
  command.arguments = toolchain.command;
  command.arguments.insert(command.arguments.end(), toolchain.flags.begin(), toolchain.flags.end());
  for (const auto& [name, value] : source.defines) command.arguments.push_back("-D" + name + "=" + value);
  // The main file is a header in the kernel library: included by an empty unit, it brings no warning about its pragma.
  // Paths are relative to the tree, so that __FILE__ in the code is the same wherever the tree stands.
  for (const std::string& word : {std::string("-I."), std::string("-include"), source.main_file, std::string("-x"),
                                  std::string("c++"), std::string("/dev/null"), std::string("-o"), output}) {
    command.arguments.push_back(word);
  }
  command.directory = tree;
  command.environment = {{"LC_ALL", "C"}, {"TMPDIR", folder}};
  command.deadline_ms = compile_deadline_ms;
  HONE_TRY(outcome, processes.run(command));
  if (outcome->timed_out || outcome->exit_status != 0) return compile_error(*outcome, source);
  if (!files.exists(output))
    return base::Error{base::ErrorKind::preflight, "a compiler that writes the program",
                       "'" + base::join_text(toolchain.command, " ") + "' ended well and wrote nothing",
                       source.main_file, "name a C++20 compiler with HONE_CXX (g++ 11 or clang 14, or newer)"};
  return files.read(output);
}

}  // namespace hone::device::cpu
