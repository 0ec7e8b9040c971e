#include "repository/python/reproduction.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "repository/python/scripts.hpp"

namespace hone::repository::python {

namespace {

constexpr std::int64_t kCaptureLimitS = 90;

constexpr const char* kEnd = R"py(

def main():
    on_gpu = torch.cuda.is_available() and DEVICE != "cpu"
    if on_gpu:
        torch.cuda.set_device(torch.device(DEVICE))
    operator = Operator(OPERATOR, FUNCTIONS, DEVICE if on_gpu else "cpu")
    case = Case(operator, {"shape": SHAPE, "dtype": DTYPE, "options": OPTIONS, "seed": SEED, "inputs": INPUTS})
    implementation = Implementation(operator, load_module("", MODULE, ""))
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

// As Python writes it. `indent`: what each item of the outermost array or object stands behind, on a line of its own.
std::string literal(const model::Json& json, const std::string& indent = "") {
  if (json.text() != nullptr) return quoted(*json.text());
  if (json.boolean() != nullptr) return *json.boolean() ? "True" : "False";
  if (json.is_null()) return "None";
  if (json.is_number()) return json.dump_plain();
  std::vector<std::string> items;
  if (json.members() != nullptr)
    for (const auto& [name, value] : *json.members()) items.push_back(quoted(name) + ": " + literal(value));
  else
    for (const model::Json& item : *json.items()) items.push_back(literal(item));
  const std::string inside = indent.empty() || items.empty()
                                 ? base::join_text(items, ", ")
                                 : "\n" + indent + base::join_text(items, ",\n" + indent) + ",\n";
  return json.members() != nullptr ? "{" + inside + "}" : "[" + inside + "]";
}

// A text of several lines, between three quotes.
std::string literal_text(const std::string& text) {
  std::string inside;
  for (std::size_t i = 0; i < text.size(); ++i)
    inside += text[i] == '\\' || text.compare(i, 3, "'''") == 0 ? std::string("\\") + text[i] : std::string(1, text[i]);
  return "'''" + inside + "'''";
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
  const model::Json values = case_json(spec);
  const std::string& name = setup.description->name;
  std::string text = "# Runs " + name + " of " + setup.module + " as hone measures it. Under Nsight Compute:\n#\n";
  text += "#   " + by_hand + "\n#   hone counters FILE.csv\n#\n";
  text +=
      "# What runs before the profiler starts (building inputs, compiling, tuning) is not captured. Needs torch, "
      "triton\n"
      "# and the operator's package; change the values below as you like.\nimport sys\n\n";
  text += "SOURCE = " + quoted(setup.source) + "\nOP, MODULE = " + quoted(name) + ", " + quoted(setup.module);
  text += fmt::format("\nSHAPE = {}\nDTYPE, SEED = {}, {}\nOPTIONS = {}\nPASSES = {}\nDEVICE = {}\n",
                      literal(*values.find("shape")), quoted(spec.dtype), spec.seed, literal(*values.find("options")),
                      literal(passes), quoted(setup.device));
  text += "INPUTS = " + literal(*values.find("inputs"), "    ") + "\n";
  text += "OPERATOR = " + literal(description_json(*setup.description), "    ") + "\n";
  text += "FUNCTIONS = " + literal_text(setup.description->code) + "\n\nsys.path.insert(0, SOURCE)\n\n";
  return text + inlined("hone_operator.py") + "\n\n" + inlined("hone_case.py") + kEnd;
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

base::Result<model::Counters> capture_counters(const Context& context, const OperatorSource& source, const Cases& cases,
                                               const std::string& device) {
  HONE_TRY(spec, cases.at(cases.size_names().back()));
  WorkerSetup setup;
  setup.device = device;
  setup.source = source.imports();
  setup.module = source.module;
  setup.description = source.description;
  std::vector<std::string> kernels;
  for (const model::KernelFact& kernel : source.audited.jit_kernels)
    if (!kernel.is_device_helper) kernels.push_back(kernel.name);
  const std::string script = base::join(base::parent(context.scratch), "repro_" + source.identity.kernel + ".py");
  const counters::CaptureRequest request = reproduction_capture(context.python, script, kernels);
  const std::string by_hand = counters::command_by_hand(request);
  const std::string text = reproduction_script(setup, *spec, cases.passes(), by_hand);
  HONE_PROPAGATE(context.files.write_atomically(script, text));
  std::map<std::string, std::string> environment;
  for (const char* name : {"PATH", "CUDA_HOME", "CUDA_PATH"})
    if (const char* value = std::getenv(name)) environment[name] = value;
  auto counters = counters::collect(context.processes, context.files, environment, request);
  if (counters && counters->status != "available")
    counters->remedy +=
        "; where counters may be read, capture by hand and give the file to 'hone counters': " + by_hand;
  return counters;
}

}  // namespace hone::repository::python
