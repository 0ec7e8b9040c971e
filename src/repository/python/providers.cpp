#include "repository/python/providers.hpp"

#include "base/text.hpp"
#include "repository/python/implementations.hpp"

namespace hone::repository::python {

// One row at one case, for as long as it is interleaved with others.
class Providers::Timed final : public measure::Subject {
 public:
  Timed(Providers& providers, Provided provided) : providers_(providers), provided_(std::move(provided)) {}
  std::string name() const override { return provided_.name; }
  base::Result<model::Sample> sample() override { return providers_.sample(provided_); }

 private:
  Providers& providers_;
  Provided provided_;
};

Providers::~Providers() = default;

const PythonEnvironment& Providers::environment() {
  // No folder is put in front: what counts is the package that this python imports by itself.
  if (!environment_) environment_ = inspect_python(context_, context_.scripts(), package_);
  return *environment_;
}

std::string Providers::absent() {
  if (!base::starts_with(context_.device, "cuda")) return "needs a CUDA device; here is " + context_.device;
  const PythonEnvironment& found = environment();
  if (!found.problem.empty()) return found.problem;
  if (found.torch.empty()) return found.executable + " has no torch";
  if (found.cuda_devices == 0)
    return "torch " + found.torch + " finds no GPU" + (found.cuda_error.empty() ? "" : ": " + found.cuda_error);
  if (found.triton.empty()) return found.executable + " has no triton";
  return "";
}

base::Result<Worker*> Providers::worker_for(const Provided& provided) {
  if (worker_ && worker_operator_ == provided.description->name && worker_->alive()) return worker_.get();
  worker_.reset();
  loaded_.clear();
  const std::string& installed = environment().installed;  // ".../site/package/__init__.py"
  WorkerSetup setup;
  setup.python = context_.python;
  setup.script = base::join(context_.scripts(), "hone_worker.py");
  setup.device = context_.device;
  setup.description = provided.description;
  setup.source = installed.empty() ? context_.scripts() : base::parent(base::parent(installed));
  if (!installed.empty()) setup.module = provided.module;
  HONE_TRY(started, Worker::start(context_.processes, setup));
  worker_ = std::move(*started);
  worker_operator_ = provided.description->name;
  return worker_.get();
}

base::Result<model::Sample> Providers::sample(const Provided& provided) {
  HONE_TRY(worker, worker_for(provided));
  const std::string implementation = provided.formula ? kFormula : kOriginal;
  if (!loaded_.count(implementation)) {
    HONE_PROPAGATE((*worker)->load(implementation, ""));
    loaded_.insert(implementation);
  }
  HONE_TRY(reply, (*worker)->sample(implementation, provided.spec, provided.mode));
  return reply->sample;
}

base::Result<std::unique_ptr<measure::Subject>> Providers::subject(Provided provided) {
  if (environment().stopped)
    return base::Error{base::ErrorKind::interrupted, "python to say what it has", "stopped by the user",
                       context_.python, "give the command again"};
  // Triton compiles at the first call, and what can not run is known before anything is interleaved with it.
  HONE_PROPAGATE(sample(provided));
  return std::unique_ptr<measure::Subject>(std::make_unique<Timed>(*this, std::move(provided)));
}

}  // namespace hone::repository::python
