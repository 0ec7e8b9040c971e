#include "repository/liger/providers.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "repository/liger/operators.hpp"
#include "repository/liger/scripts.hpp"

namespace hone::repository::liger {

namespace {

constexpr const char* kLiger = "liger";

// Values other than a kernel's defaults that the worker's call stands for.
std::map<std::string, std::string> meant_by_the_call(const ProviderCase& asked) {
  if (asked.kernel == "grpo_loss") return {{"old_logp", "no"}, {"completion_mask", "no"}};
  const auto casting = asked.options.find("casting_mode");
  if (casting != asked.options.end() && casting->second == "gemma") return {{"offset", "1"}};
  return {};
}

std::string below_site(const std::string& origin) {  // ".../site/liger_kernel/__init__.py" -> ".../site"
  return base::parent(base::parent(origin));
}

}  // namespace

// One provider at one case, for as long as it is interleaved with others.
class PythonProviders::Timed final : public measure::Subject {
 public:
  Timed(PythonProviders& providers, std::string provider, ProviderCase asked)
      : providers_(providers), provider_(std::move(provider)), asked_(std::move(asked)) {}
  std::string name() const override { return provider_; }
  base::Result<model::Sample> sample() override { return providers_.sample(provider_, asked_); }

 private:
  PythonProviders& providers_;
  std::string provider_;
  ProviderCase asked_;
};

PythonProviders::~PythonProviders() = default;

CaseSpec case_of(const ProviderCase& asked) {
  CaseSpec spec;
  spec.dtype = asked.dtype;
  const OperatorFacts* facts = find_operator(asked.kernel);
  if (!facts) return spec;
  spec.shape = facts->at(asked.columns, asked.rows);
  if (asked.depth > 0) {
    if (spec.shape.count("hidden")) spec.shape["hidden"] = asked.depth;
    if (spec.shape.count("batch")) {  // there `rows` are those of one sequence
      spec.shape["batch"] = asked.depth;
      spec.shape["rows"] = asked.rows / asked.depth;
    }
  }
  spec.options = facts->options;
  for (auto& [name, value] : spec.options)
    if (const auto found = asked.options.find(name); found != asked.options.end())
      value = found->second == "yes" ? "true" : found->second == "no" ? "false" : found->second;
  return spec;
}

std::string unlike(const ProviderCase& asked) {
  const OperatorFacts* facts = find_operator(asked.kernel);
  if (!facts) return "hone does not know how to call it";
  const auto meant = meant_by_the_call(asked);
  for (const auto& [name, value] : meant)
    if (const auto found = asked.options.find(name); found != asked.options.end() && found->second != value)
      return "timed with --option " + name + "=" + value + " alone";
  for (const auto& [name, value] : asked.not_default) {
    const auto choices = facts->choices.find(name);
    const std::string word = value == "yes" ? "true" : value == "no" ? "false" : value;
    const bool passed_on = choices != facts->choices.end() &&
                           std::find(choices->second.begin(), choices->second.end(), word) != choices->second.end();
    if (!passed_on && !meant.count(name)) return "not timed with --option " + name + "=" + value;
  }
  if (std::find(facts->modes.begin(), facts->modes.end(), asked.mode) == facts->modes.end())
    return "has no " + asked.mode + " of its own: forward computes the gradient";
  return "";
}

const PythonEnvironment& PythonProviders::environment() {
  if (environment_) return *environment_;
  const std::string folder = base::join(context_.scratch, "worker");
  if (auto unpacked = unpack_scripts(context_.files, folder); !unpacked) {
    environment_ = PythonEnvironment{};
    environment_->problem = "the worker's scripts could not be written: " + unpacked.error().found;
  } else {
    // No checkout is put in front: what counts is the liger_kernel that this python imports by itself.
    environment_ = inspect_python(context_.processes, context_.python, folder, folder);
  }
  return *environment_;
}

std::string PythonProviders::absent(const std::string& provider, const ProviderCase& asked) {
  if (!base::starts_with(context_.device, "cuda")) return "needs a CUDA device; here is " + context_.device;
  const PythonEnvironment& found = environment();
  if (!found.problem.empty()) return found.problem;
  if (found.torch.empty()) return found.executable + " has no torch";
  if (found.cuda_devices == 0)
    return "torch " + found.torch + " finds no GPU" + (found.cuda_error.empty() ? "" : ": " + found.cuda_error);
  if (found.triton.empty()) return found.executable + " has no triton";
  if (provider == kLiger && found.installed.empty())
    return found.executable + " has no liger_kernel (PYTHONPATH=CHECKOUT/src would do)";
  return unlike(asked);
}

base::Result<Worker*> PythonProviders::worker_for(const std::string& kernel) {
  if (worker_ && worker_kernel_ == kernel && worker_->alive()) return worker_.get();
  worker_.reset();
  loaded_.clear();
  const PythonEnvironment& found = environment();
  WorkerSetup setup;
  setup.python = context_.python;
  const std::string folder = base::join(context_.scratch, "worker");
  setup.script = base::join(folder, "hone_worker.py");
  setup.device = context_.device;
  setup.op = kernel;
  setup.source = folder;
  if (!found.installed.empty()) {
    setup.source = below_site(found.installed);
    setup.module = "liger_kernel.ops." + kernel;
  }
  auto started = Worker::start(context_.processes, setup);
  if (!started) return started.error();
  worker_ = std::move(*started);
  worker_kernel_ = kernel;
  return worker_.get();
}

base::Result<model::Sample> PythonProviders::sample(const std::string& provider, const ProviderCase& asked) {
  auto worker = worker_for(asked.kernel);
  if (!worker) return worker.error();
  const std::string implementation = provider == kLiger ? "v0" : "formula";
  if (!loaded_[implementation]) {
    if (auto loaded = (*worker)->load(implementation, ""); !loaded) return loaded.error();
    loaded_[implementation] = true;
  }
  auto reply = (*worker)->sample(implementation, case_of(asked), asked.mode);
  if (!reply) return reply.error();
  return reply->sample;
}

base::Result<std::unique_ptr<measure::Subject>> PythonProviders::subject(const std::string& provider,
                                                                         const ProviderCase& asked) {
  if (environment_ && environment_->stopped)
    return base::Error{base::ErrorKind::interrupted, "python to say what it has", "stopped by the user",
                       context_.python, "give the command again"};
  if (const std::string why = absent(provider, asked); !why.empty())
    return base::Error{base::ErrorKind::preflight, "the provider " + provider, why, "--provider", "leave it out"};
  // Triton compiles at the first call, and what can not run is known before anything is interleaved with it.
  if (auto first = sample(provider, asked); !first) return first.error();
  return std::unique_ptr<measure::Subject>(std::make_unique<Timed>(*this, provider, asked));
}

}  // namespace hone::repository::liger
