// Finding NVRTC, compiling, and its messages as errors.
#include "device/cuda/compiler.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <mutex>
#include <optional>

#include "base/environment.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"

namespace hone::device::cuda {

namespace {

constexpr std::size_t most_messages = 5;
constexpr int compilation_failed = 6, invalid_option = 5, builtins_missing = 7;
constexpr char entry_mark[] = "hone-cuda/1 ";

constexpr char get_remedy[] =
    "pip install nvidia-cuda-nvrtc==13.0.* (nvidia-cuda-nvrtc-cu12 for drivers before 580), or install the CUDA "
    "toolkit, or name the library with HONE_NVRTC";

// "kernels/a.hpp(12): error: ..." -> "kernels/a.hpp(12)"; empty where a line names no place.
std::string place_of(const std::string& line) {
  const std::size_t end = line.find("): ");
  return end == std::string::npos || line.find('(') > end ? "" : line.substr(0, end + 1);
}

bool is_error_line(const std::string& line) {
  return line.find("error:") != std::string::npos || line.find("error  ") != std::string::npos ||
         line.find("catastrophic error") != std::string::npos || base::starts_with(base::trim(line), "ptxas fatal");
}

base::Error text_error(const ProgramSource& source, const std::string& log, const std::string& reason) {
  std::vector<std::string> messages;
  std::string place;
  for (const std::string& line : base::split(log, '\n')) {
    if (!is_error_line(line) || line.find("errors detected") != std::string::npos ||
        line.find("error detected") != std::string::npos)
      continue;
    if (place.empty()) place = place_of(line);
    if (messages.size() < most_messages) messages.push_back(base::trim(line));
  }
  if (messages.empty()) messages.push_back(base::trim(log.substr(0, 1000)));
  if (messages.front().empty()) messages.front() = reason;
  return {base::ErrorKind::gate, "'" + source.name + "' to compile", base::join_text(messages, "\n"),
          place.empty() ? source.main_file : place, "correct the source at the place named"};
}

// What is kept beside the image: one line of words, then the image. `spill stack shared registers name` for each kernel.
std::string with_facts(const CompiledCuda& compiled) {
  std::string text = entry_mark;
  text += std::to_string(compiled.kernels.size());
  for (const auto& [name, kernel] : compiled.kernels)
    text += fmt::format(" {} {} {} {} {} {}", name, kernel.registers, kernel.stack_bytes, kernel.spill_store_bytes,
                        kernel.spill_load_bytes, kernel.static_shared_bytes);
  return text + "\n" + compiled.image;
}

std::optional<int> whole_number(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool take_facts(std::string_view entry, CompiledCuda& compiled) {
  const std::size_t line_end = entry.find('\n');
  if (!base::starts_with(entry, entry_mark) || line_end == std::string_view::npos) return false;
  const auto words = base::split(entry.substr(sizeof entry_mark - 1, line_end - (sizeof entry_mark - 1)), ' ');
  const auto count = whole_number(words.front());
  if (!count || *count < 0 || words.size() != 1 + 6 * static_cast<std::size_t>(*count)) return false;
  for (std::size_t i = 1; i < words.size(); i += 6) {
    int values[5];
    for (int v = 0; v < 5; ++v) {
      const auto value = whole_number(words[i + 1 + static_cast<std::size_t>(v)]);
      if (!value) return false;
      values[v] = *value;
    }
    compiled.kernels[words[i]] = {values[0], values[1], values[2], values[3], values[4]};
  }
  compiled.image = std::string(entry.substr(line_end + 1));
  return true;
}

// Registers, spills and shared memory of the kernel that has most of each.
base::Result<void> describe_image(CompiledCuda& compiled, const std::string& where) {
  if (!compiled.native) {
    compiled.info.machine_code_hash = base::content_hash(compiled.image);
    compiled.info.code_bytes = static_cast<std::int64_t>(compiled.image.size());
    return {};
  }
  HONE_TRY(facts, read_cubin(compiled.image, where));
  compiled.info.machine_code_hash = facts->machine_code_hash;
  compiled.info.code_bytes = facts->code_bytes;
  for (const auto& [name, registers] : facts->registers)
    if (registers >= 0 && compiled.kernels.count(name)) compiled.kernels[name].registers = registers;
  for (const auto& [name, kernel] : compiled.kernels) {
    compiled.info.registers_per_thread = std::max(compiled.info.registers_per_thread, kernel.registers);
    compiled.info.spill_bytes = std::max(compiled.info.spill_bytes, kernel.spill_bytes());
    compiled.info.static_shared_bytes = std::max(compiled.info.static_shared_bytes, kernel.static_shared_bytes);
  }
  return {};
}

}  // namespace

CompilerOptions CompilerOptions::from_environment() {
  CompilerOptions options;
  options.nvrtc = base::environment_variable("HONE_NVRTC");
  options.cache_directory = base::environment_variable("HONE_CACHE_DIR");
  if (options.cache_directory.empty() && !base::environment_variable("XDG_CACHE_HOME").empty())
    options.cache_directory = base::join(base::environment_variable("XDG_CACHE_HOME"), "hone");
  if (options.cache_directory.empty() && !base::environment_variable("HOME").empty())
    options.cache_directory = base::join(base::environment_variable("HOME"), ".cache/hone");
  options.search = SearchEnvironment::from_process();
  return options;
}

base::Result<std::unique_ptr<CudaCompiler>> CudaCompiler::open(const CompilerOptions& options,
                                                               base::FileSystem& files) {
  const auto missing = [](const std::string& found, const std::string& where) {
    return base::Error{base::ErrorKind::preflight, "NVRTC, which compiles CUDA kernels at run time", found, where,
                       get_remedy};
  };
  std::vector<std::string> folders;
  if (options.nvrtc.empty()) {
    folders = library_folders(files, options.search);
  } else {
    folders = {base::parent(options.nvrtc)};
  }
  // NVRTC asks the loader for its builtins by name: found when they are open already, from the folder it is taken from.
  const auto open_builtins = [&files](const std::string& folder) {
    auto names = files.list(folder);
    if (!names) return;
    std::string words;
    for (const std::string& name : *names)
      if (base::starts_with(name, "libnvrtc-builtins.so")) open_shared_library(base::join(folder, name), words);
  };
  void* library = nullptr;
  std::string path, tried;
  if (!options.nvrtc.empty()) {
    open_builtins(base::parent(options.nvrtc));
    library = open_shared_library(options.nvrtc, tried);
    path = options.nvrtc;
  } else {
    library = open_first({"libnvrtc.so.13", "libnvrtc.so.12"}, folders, files, path, tried);
    if (library != nullptr) {
      void* symbol = find_symbol(library, "nvrtcVersion");
      const std::string file = symbol == nullptr ? path : file_of_symbol(symbol);
      open_builtins(base::parent(file.empty() ? path : file));
      if (!file.empty()) path = file;
    }
  }
  if (library == nullptr) return missing(tried, options.nvrtc.empty() ? "libnvrtc.so" : options.nvrtc);

  NvrtcApi api;
  std::string absent;
  const auto resolve = [&](auto& function, const char* name) {
    const std::string symbol = std::string("nvrtc") + name;
    function = reinterpret_cast<std::decay_t<decltype(function)>>(find_symbol(library, symbol.c_str()));
    if (function == nullptr) absent = symbol;
  };
#define HONE_NVRTC_RESOLVE(name) resolve(api.name, #name)
  HONE_NVRTC_RESOLVE(Version);
  HONE_NVRTC_RESOLVE(GetErrorString);
  HONE_NVRTC_RESOLVE(GetNumSupportedArchs);
  HONE_NVRTC_RESOLVE(GetSupportedArchs);
  HONE_NVRTC_RESOLVE(CreateProgram);
  HONE_NVRTC_RESOLVE(DestroyProgram);
  HONE_NVRTC_RESOLVE(CompileProgram);
  HONE_NVRTC_RESOLVE(GetProgramLogSize);
  HONE_NVRTC_RESOLVE(GetProgramLog);
  HONE_NVRTC_RESOLVE(GetCUBINSize);
  HONE_NVRTC_RESOLVE(GetCUBIN);
  HONE_NVRTC_RESOLVE(GetPTXSize);
  HONE_NVRTC_RESOLVE(GetPTX);
#undef HONE_NVRTC_RESOLVE
  if (!absent.empty()) return missing("a library without " + absent, path);
  return std::make_unique<CudaCompiler>(api, path, options, files);
}

namespace {

// The folders of the toolkit's headers: beside NVRTC, or beside another of the toolkit's libraries, whose package may be another.
// The standard library for devices has one of its own since CUDA 13.
std::vector<std::string> toolkit_headers(const std::string& nvrtc, const SearchEnvironment& search,
                                         base::FileSystem& files) {
  std::vector<std::string> folders = library_folders(files, search);
  folders.insert(folders.begin(), base::parent(nvrtc));
  std::vector<std::string> candidates;
  for (const std::string& folder : folders) {
    candidates.push_back(base::join(base::parent(folder), "include"));
    candidates.push_back(base::join(base::parent(base::parent(folder)), "cuda_runtime/include"));
  }
  for (const std::string& candidate : candidates) {
    if (!files.exists(base::join(candidate, "cuda_fp16.h"))) continue;
    std::vector<std::string> found = {candidate};
    if (const std::string standard = base::join(candidate, "cccl"); files.is_directory(standard))
      found.push_back(standard);
    return found;
  }
  return {};
}

}  // namespace

CudaCompiler::CudaCompiler(NvrtcApi api, std::string path, const CompilerOptions& options, base::FileSystem& files)
    : api_(api), path_(std::move(path)), files_(files), cache_(options.cache_directory, "cuda", ".cubin", files) {
  int major = 0, minor = 0, count = 0;
  api_.Version(&major, &minor);
  version_ = fmt::format("NVRTC {}.{}", major, minor);
  headers_ = toolkit_headers(path_, options.search, files);
  if (api_.GetNumSupportedArchs(&count) == 0 && count > 0) {
    supported_.resize(static_cast<std::size_t>(count));
    api_.GetSupportedArchs(supported_.data());
    std::sort(supported_.begin(), supported_.end());
  }
}

base::Result<CudaCompiler::Built> CudaCompiler::build(const ProgramSource& source,
                                                      const std::vector<std::string>& options, bool native) const {
  std::vector<const char*> texts, names, words;
  for (const auto& [path, text] : source.files) {
    names.push_back(path.c_str());
    texts.push_back(text.c_str());
  }
  for (const std::string& option : options) words.push_back(option.c_str());
  // The main file is a header of the kernel library, compiled through a unit that includes it.
  const std::string unit = "#include \"" + source.main_file + "\"\n";
  NvrtcApi::Handle program = nullptr;
  const auto refused = [&](int result, const char* call) {
    return base::Error{base::ErrorKind::preflight, "'" + source.name + "' to compile",
                       fmt::format("nvrtc{}: {}", call, api_.GetErrorString(result)), path_,
                       result == builtins_missing
                           ? "libnvrtc-builtins.so must stand beside NVRTC; " + std::string(get_remedy)
                           : std::string(get_remedy)};
  };
  if (const int made = api_.CreateProgram(&program, unit.c_str(), "program.cu", static_cast<int>(names.size()),
                                          texts.data(), names.data());
      made != 0)
    return refused(made, "CreateProgram");
  struct Guard {
    const NvrtcApi& api;
    NvrtcApi::Handle handle;
    ~Guard() { api.DestroyProgram(&handle); }
  } const guard{api_, program};

  const int compiled = api_.CompileProgram(program, static_cast<int>(words.size()), words.data());
  Built built;
  std::size_t size = 0;
  if (api_.GetProgramLogSize(program, &size) == 0 && size > 1) {
    built.log.resize(size);
    api_.GetProgramLog(program, built.log.data());
    built.log.resize(size - 1);  // without the zero at its end
  }
  if (compiled == compilation_failed) return text_error(source, built.log, api_.GetErrorString(compiled));
  if (compiled == invalid_option)
    return base::Error{base::ErrorKind::gate, "options that " + version_ + " knows", base::trim(built.log), source.name,
                       "correct the defines"};
  if (compiled != 0) return refused(compiled, "CompileProgram");
  const int sized = native ? api_.GetCUBINSize(program, &size) : api_.GetPTXSize(program, &size);
  if (sized != 0 || size == 0) return refused(sized, native ? "GetCUBINSize" : "GetPTXSize");
  built.image.resize(size);
  const int got = native ? api_.GetCUBIN(program, built.image.data()) : api_.GetPTX(program, built.image.data());
  if (got != 0) return refused(got, native ? "GetCUBIN" : "GetPTX");
  return built;
}

// griddepcontrol came with compute capability 9.0 (PTX ISA, "Parallel Synchronization and Communication Instructions").
constexpr int first_with_early_launches = 90;

bool waits_for_launch_ahead(const ProgramSource& source) {
  bool waits = false;
  for (const auto& [path, text] : source.files) {
    if (text.find("__global__") == std::string::npos) continue;
    waits = text.find("griddepcontrol.wait") != std::string::npos;
    if (!waits) return false;
  }
  return waits;
}

base::Result<CompiledCuda> CudaCompiler::compile(const ProgramSource& source, const Capability& capability) const {
  const CompileTarget target = compile_target(capability, supported_);
  if (target.option.empty()) {
    return base::Error{base::ErrorKind::preflight,
                       fmt::format("a compiler for compute capability {}", capability.text()),
                       fmt::format("{}, which builds for none that this GPU can run", version_), path_,
                       "use an NVRTC of the GPU's time: nvidia-cuda-nvrtc-cu12 for 5.0 to 7.2"};
  }
  // Functions without a mark are device functions (-default-device); entries are extern "C" __global__.
  std::vector<std::string> options = {"--gpu-architecture=" + target.option, "--std=c++20", "-default-device",
                                      "--ptxas-options=-v"};
  if (source.toolkit_headers)
    for (const std::string& folder : headers_) options.push_back("--include-path=" + folder);
  const std::string flags = base::join_text(options, " ");
  for (const auto& [name, value] : source.defines) options.push_back("--define-macro=" + name + "=" + value);

  CompiledCuda compiled;
  compiled.native = target.native;
  compiled.waits_itself = target.number >= first_with_early_launches && waits_for_launch_ahead(source);
  compiled.info.compiler = version_;
  compiled.info.flags = flags;
  const std::string key = cache_key(source, version_ + " " + std::to_string(supported_.size()), flags, target.option);
  if (const auto cached = cache_.find(key); cached && take_facts(unsealed(*cached), compiled)) {
    if (auto described = describe_image(compiled, cache_.path_of(key)); described) {
      compiled.info.from_cache = true;
      return compiled;
    }
  }
  compiled.kernels.clear();
  HONE_TRY(built, build(source, options, target.native));
  compiled.image = std::move(built->image);
  if (target.native) compiled.kernels = read_assembler_log(built->log);
  HONE_PROPAGATE(describe_image(compiled, source.name));
  // A cache that can not be written costs the next run a compilation, and this one nothing.
  (void)cache_.store(key, seal(with_facts(compiled))).ok();
  return compiled;
}

}  // namespace hone::device::cuda
