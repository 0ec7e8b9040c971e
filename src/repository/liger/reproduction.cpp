#include "repository/liger/reproduction.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "repository/liger/scripts.hpp"

namespace hone::repository::liger {

namespace {

constexpr std::int64_t kCaptureLimitS = 90;

constexpr const char* kEnd = R"py(

def main():
    on_gpu = torch.cuda.is_available() and DEVICE != "cpu"
    if on_gpu:
        torch.cuda.set_device(torch.device(DEVICE))
    case = Case(OP, SHAPE, DTYPE, OPTIONS, SEED, torch.device(DEVICE if on_gpu else "cpu"))
    implementation = Implementation(OPERATORS[OP], load_module("", MODULE, ""))
    with torch.enable_grad():
        for mode in PASSES:  # compiles, tunes, and leaves the first launches behind
            case.prepare(implementation, mode)()
        if on_gpu:
            torch.cuda.synchronize()
        for mode in PASSES:
            call = case.prepare(implementation, mode)
            if not on_gpu:
                call()
                continue
            torch.cuda.synchronize()
            torch.cuda.profiler.start()
            call()
            torch.cuda.synchronize()
            torch.cuda.profiler.stop()
    print(f"{OP}: ran {', '.join(PASSES)} at {SHAPE}, {DTYPE}" + ("" if on_gpu else "; no GPU: there is nothing to profile"))


if __name__ == "__main__":
    main()
)py";

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      result += std::string("\\") + c;
    else if (byte < 0x20 || byte == 0x7f)
      result += fmt::format("\\x{:02x}", byte);
    else
      result += c;
  }
  return result + "\"";
}

// The text of an embedded module without the lines that import another one: both stand in one file here.
std::string inlined(const std::string& name) {
  std::string text;
  for (const Script& script : scripts()) {
    if (script.name != name) continue;
    for (const std::string& line : base::split(script.text, '\n'))
      if (!base::starts_with(line, "from hone_") && !base::starts_with(line, "import hone_")) text += line + "\n";
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text + "\n";
}

}  // namespace

std::string reproduction_script(const WorkerSetup& setup, const CaseSpec& spec, const std::vector<std::string>& passes,
                                const std::string& by_hand) {
  std::string shape, options, modes;
  for (const auto& [name, extent] : spec.shape)
    shape += fmt::format("{}{}: {}", shape.empty() ? "" : ", ", quoted(name), extent);
  for (const auto& [name, value] : spec.options)
    options += fmt::format("{}{}: {}", options.empty() ? "" : ", ", quoted(name), quoted(value));
  for (const std::string& pass : passes) modes += (modes.empty() ? "" : ", ") + quoted(pass);
  std::string text =
      "# Runs " + setup.op + " of a Liger-Kernel checkout as hone measures it. Under Nsight Compute:\n#\n";
  text += "#   " + by_hand + "\n#   hone counters FILE.csv\n#\n";
  text +=
      "# What runs before the profiler starts (building inputs, compiling, tuning) is not captured. Needs torch, "
      "triton\n"
      "# and the checkout; change the values below as you like.\nimport sys\n\n";
  text += "SOURCE = " + quoted(setup.source) + "\nOP, MODULE = " + quoted(setup.op) + ", " + quoted(setup.module);
  text += fmt::format("\nSHAPE = {{{}}}\nDTYPE, SEED = {}, {}\nOPTIONS = {{{}}}\nPASSES = [{}]\nDEVICE = {}\n\n", shape,
                      quoted(spec.dtype), spec.seed, options, modes, quoted(setup.device));
  text += "sys.path.insert(0, SOURCE)\n\n";
  return text + inlined("hone_operators.py") + "\n\n" + inlined("hone_case.py") + kEnd;
}

counters::CaptureRequest reproduction_capture(const std::string& python, const std::string& path,
                                              const std::vector<std::string>& kernels) {
  counters::CaptureRequest request;
  request.command = {python, "-B", path};
  request.kernels = kernels;
  request.from_start = false;
  request.warmup_launches = 0;
  request.limit_s = kCaptureLimitS;
  return request;
}

}  // namespace hone::repository::liger
