#include "repository/python/implementations.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "repository/python/scripts.hpp"

namespace hone::repository::python {

void Implementations::forget_process() {
  worker_.reset();
  loaded_.clear();
}

base::Result<Worker*> Implementations::worker() {
  if (worker_ && worker_->alive()) return worker_.get();
  forget_process();
  if (!source_.description)
    return base::Error{base::ErrorKind::preflight, "inputs for " + source_.identity.kernel,
                       "hone does not know how to build them", "worker", "describe the operator (docs/operators.md)"};
  HONE_PROPAGATE(unpack(context_.files, scripts(), context_.scripts()));
  WorkerSetup setup;
  setup.python = context_.python;
  setup.script = base::join(context_.scripts(), "hone_worker.py");
  setup.device = device_;
  setup.source = source_.imports();
  setup.module = source_.module;
  setup.description = source_.description;
  setup.answer_ms = context_.answer_ms;
  HONE_TRY(started, Worker::start(context_.processes, setup));
  if (!base::starts_with((*started)->started().origin, source_.root + "/"))
    return base::Error{base::ErrorKind::preflight, source_.package + " of " + source_.place + " " + source_.root,
                       "python imports " + (*started)->started().origin, "worker",
                       "remove what puts another " + source_.package + " first on PYTHONPATH"};
  worker_ = std::move(*started);
  return worker_.get();
}

base::Result<std::string> Implementations::of(const std::string& text) {
  if (text == source_.text) return std::string(kOriginal);
  const std::string name = "h" + base::content_hash(text).substr(0, 16);
  if (!overlay_.count(name)) {
    const std::string path = base::join(context_.scratch, "variants/" + name + "/" + base::file_name(source_.path));
    HONE_PROPAGATE(context_.files.write_atomically(path, text));
    overlay_[name] = path;
  }
  return name;
}

base::Result<Worker*> Implementations::with(const std::string& implementation) {
  if (const base::Error* error = ended(implementation)) return *error;
  auto running = worker();
  if (!running || loaded_.count(implementation)) return running;
  const auto file = overlay_.find(implementation);
  if (auto loaded = (*running)->load(implementation, file == overlay_.end() ? "" : file->second); !loaded)
    return failed(implementation, loaded.error());
  loaded_.insert(implementation);
  return running;
}

const base::Error* Implementations::ended(const std::string& implementation) const {
  const auto known = ended_.find(implementation);
  return known == ended_.end() ? nullptr : &known->second;
}

base::Error Implementations::failed(const std::string& implementation, base::Error error) {
  if (error.kind == base::ErrorKind::interrupted) return error;
  // What takes the process with it is not tried again; the original is: it may have been ended by another's fault.
  if (worker_ && !worker_->alive()) {
    forget_process();
    if (implementation != kOriginal && implementation != kFormula) ended_.emplace(implementation, error);
  }
  return error;
}

void Implementations::abandon(const std::string& implementation, const std::string& why) {
  forget_process();
  ended_.emplace(implementation, base::Error{base::ErrorKind::gate, "a variant that keeps to its own memory", why,
                                             "worker", "this variant is left out"});
}

void Implementations::compile_ahead(const std::vector<AheadItem>& items, const std::string& blamed) {
  if (items.size() < 2 || interpreted()) return;
  std::vector<AheadItem> ready;
  for (const AheadItem& item : items)
    if (with(item.name)) ready.push_back(item);
  if (ready.size() < 2 || !worker_) return;
  if (auto compiled = worker_->compile_ahead(ready); !compiled) (void)failed(blamed, compiled.error());
}

void Implementations::compile_ahead(const std::vector<std::string>& implementations, const std::vector<CaseSpec>& cases,
                                    const std::vector<std::string>& passes) {
  std::vector<AheadItem> items;  // a case's together, so that the worker makes its inputs once
  for (const CaseSpec& spec : cases)
    for (const std::string& implementation : implementations)
      for (const std::string& pass : passes) items.push_back({implementation, spec, pass});
  compile_ahead(items, implementations.back());
}

}  // namespace hone::repository::python
