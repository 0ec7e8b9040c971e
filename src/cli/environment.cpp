#include "cli/environment.hpp"

#include <cstdlib>

namespace hone::cli {

const std::vector<Variable>& environment_variables() {
  static const std::vector<Variable> variables = {
      {"CLICOLOR_FORCE", "Colours also where no terminal reads, unless it is 0 or NO_COLOR is set"},
      {"COLUMNS", "Width of tables and texts, before what the terminal says; 60 to 400"},
      {"CUDA_HOME",
       "Root of a CUDA toolkit: NVRTC, cuBLASLt, Nsight Compute and disassemblers are looked for below it"},
      {"CUDA_PATH", "The same, where CUDA_HOME does not have it"},
      {"CUDA_VISIBLE_DEVICES", "The GPUs that the driver shows; cuda:N counts these"},
      {"CXX", "Compiler of CPU kernels where HONE_CXX is not set"},
      {"HOME", "Where configuration, settings and the cache lie if no XDG variable says otherwise"},
      {"HONE_CACHE_DIR", "Folder of compiled programs; without it $XDG_CACHE_HOME/hone or ~/.cache/hone"},
      {"HONE_CXX", "Compiler of CPU kernels; without it CXX, then c++, g++ or clang++"},
      {"HONE_NVRTC", "Path of the library NVRTC"},
      {"HONE_PYTHON", "Interpreter that runs Triton and PyTorch; without it python3"},
      {"HONE_SETTINGS_DIR", "Folder of the built-in kernels' installed settings; --settings stands before it"},
      {"NO_COLOR", "No colours, if not empty; --color stands before it"},
      {"PATH", "Where programs are looked for: compilers, git, python3, ncu, rsvg-convert, gh"},
      {"TERM", "dumb: neither colours nor a line of progress that is redrawn"},
      {"TMPDIR", "Folder of temporary files; without it /tmp"},
      {"VIRTUAL_ENV", "Python environment in which NVIDIA's libraries are looked for"},
      {"XDG_CACHE_HOME", "Folder of the cache hone/, if HONE_CACHE_DIR is not set"},
      {"XDG_CONFIG_HOME", "Folder of hone/config.toml; without it ~/.config"},
      {"XDG_DATA_HOME", "Folder of hone/settings, if HONE_SETTINGS_DIR is not set; without it ~/.local/share"},
      {"XDG_RUNTIME_DIR", "Folder of the locks that keep two runs out of one workspace; without it TMPDIR"},
  };
  return variables;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace hone::cli
