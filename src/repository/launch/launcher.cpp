#include "repository/launch/launcher.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/hash.hpp"
#include "repository/launch_subject.hpp"

namespace hone::repository::launch {

namespace {

// Those that a variant has for a pass at x, or nothing.
const model::Settings* settings_at(const model::Variant& variant, const std::string& pass, std::int64_t x) {
  const auto found = variant.settings.find(pass);
  return found == variant.settings.end() || found->second.rules.empty() ? nullptr : &found->second.at(x);
}

std::string content_of(const device::ProgramSource& source) {
  std::string text = source.main_file;
  for (const auto& [name, value] : source.defines) text += "|" + name + "=" + value;
  for (const auto& [path, file] : source.files) text += "|" + path + ":" + base::content_hash(file);
  return text;
}

}  // namespace

base::Result<Planned> Launcher::plan(const model::Variant& variant, const std::string& pass,
                                     const Problem& problem) const {
  const InstalledEntry* installed = operation_.installed(problem.dtype());
  for (const model::Variant* candidate : {&variant, installed != nullptr ? &installed->variant : nullptr}) {
    const model::Settings* settings = candidate ? settings_at(*candidate, pass, problem.x()) : nullptr;
    if (settings == nullptr) continue;
    if (auto plan = problem.plan(pass, *settings, Ablation::none); plan)
      return Planned{pass, std::move(*plan), *settings};
  }
  HONE_TRY(shipped, problem.shipped(pass));
  HONE_TRY(plan, problem.plan(pass, *shipped, Ablation::none));
  return Planned{pass, std::move(*plan), std::move(*shipped)};
}

std::string Launcher::why_not_in_force(const std::string& pass, const Problem& problem) const {
  const InstalledEntry* installed = operation_.installed(problem.dtype());
  const model::Settings* settings = installed ? settings_at(installed->variant, pass, problem.x()) : nullptr;
  if (settings == nullptr) return "";
  const auto plan = problem.plan(pass, *settings, Ablation::none);
  return plan ? "" : plan.error().found;
}

std::vector<model::SourceEdit> Launcher::edits(const model::Variant& variant, kernels::DType dtype) const {
  const InstalledEntry* installed = operation_.installed(dtype);
  return !variant.edits.empty() || installed == nullptr ? variant.edits : installed->variant.edits;
}

base::Result<std::shared_ptr<device::Program>> Launcher::program(const Plan& plan, const std::string& pass,
                                                                 const std::vector<model::SourceEdit>& edits) {
  HONE_TRY(source, operation_.source(plan, pass, edits));
  const std::string content = content_of(*source);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto found = programs_.find(content); found != programs_.end()) return found->second;
  }
  auto compiled = device_.compile(*source);
  // What was stopped, or failed for want of a compiler, is no word on the text.
  if (!compiled && compiled.error().kind != base::ErrorKind::gate) return compiled;
  if (!compiled) compiled = operation_.told(compiled.error());
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto& kept = programs_.emplace(content, std::move(compiled)).first->second;
  if (kept && operation_.is_trusted(edits)) device_.trust(**kept);
  return kept;
}

void Launcher::compile_ahead(const std::vector<Wanted>& wanted, const model::Variant& variant) {
  std::map<std::string, const Wanted*> distinct;  // plans often share a program
  for (const Wanted& one : wanted) {
    std::string key = one.planned.pass + one.planned.plan.main_file;
    for (const auto& [name, value] : one.planned.plan.defines) key += "|" + name + "=" + value;
    distinct.emplace(std::move(key), &one);
  }
  std::vector<const Wanted*> list;
  for (const auto& [key, one] : distinct) list.push_back(one);
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < list.size(); i = next++)
      (void)program(list[i]->planned.plan, list[i]->planned.pass, edits(variant, list[i]->dtype));
  };
  constexpr unsigned kMostThreads = 32;
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < std::min<std::size_t>({std::thread::hardware_concurrency(), kMostThreads, list.size()});
       ++i)
    threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

Bind Launcher::bind(const model::Variant& variant) {
  return [this, variant](const Problem& problem, const std::string& pass,
                         const TensorViews& tensors) -> base::Result<BoundLaunches> {
    auto planned = plan(variant, pass, problem);
    if (!planned) {
      base::Error error = planned.error();
      if (error.kind == base::ErrorKind::gate)
        error.found = "can not be launched: " + error.found + ", where hone expects " + error.expected;
      return error;
    }
    auto compiled = program(planned->plan, pass, edits(variant, problem.dtype()));
    if (!compiled) {
      base::Error error = compiled.error();
      if (error.kind == base::ErrorKind::gate) error.found = "does not compile: " + error.found;
      return error;
    }
    return launch::bind(device_, planned->plan, std::move(*compiled), tensors);
  };
}

base::Result<std::shared_ptr<ResidentTensors>> Launcher::resident(const ProblemPtr& problem) {
  for (auto it = residents_.begin(); it != residents_.end(); ++it)
    if ((*it)->problem().x() == problem->x()) {
      std::rotate(it, it + 1, residents_.end());
      return residents_.back();
    }
  const std::vector<std::string> passes = operation_.passes();
  HONE_TRY(needed, ResidentTensors::bytes_of(*problem, passes));
  // Subjects keep the tensors they were made with; dropping one here frees it when its last subject goes.
  const double limit = 0.4 * static_cast<double>(device_.info().total_memory_bytes);
  while (!residents_.empty() && static_cast<double>(device_.allocated_bytes()) + *needed > limit)
    residents_.erase(residents_.begin());
  HONE_TRY(created, ResidentTensors::create(device_, problem, passes, seed_));
  std::shared_ptr<ResidentTensors> tensors = std::move(*created);
  if (passes.size() > 1) {
    HONE_TRY(bound, bind({})(*problem, passes.front(), tensors->views()));
    HONE_PROPAGATE(device_.run(bound->launches));
    HONE_PROPAGATE(tensors->keep_forward());
    HONE_PROPAGATE(tensors->restore(passes.front()));
  }
  residents_.push_back(tensors);
  return tensors;
}

base::Result<void> Launcher::admit(const std::vector<device::Launch>& launches, ResidentTensors& tensors,
                                   const std::string& pass) {
  if (device_.admits(launches)) return {};
  if (auto restored = tensors.restore(pass); !restored) return restored;
  return device_.run(launches);
}

base::Result<std::unique_ptr<measure::Subject>> Launcher::subject(const std::string& name, const ProblemPtr& problem,
                                                                  const std::vector<Planned>& passes,
                                                                  const std::vector<model::SourceEdit>& edits) {
  HONE_TRY(tensors, resident(problem));
  auto subject = std::make_unique<LaunchSubject>(name, device_);
  for (const Planned& planned : passes) {
    HONE_TRY(compiled, program(planned.plan, planned.pass, edits));
    HONE_TRY(bound, launch::bind(device_, planned.plan, std::move(*compiled), (*tensors)->views(), &scratch_));
    HONE_PROPAGATE(admit(bound->launches, **tensors, planned.pass));
    subject->add(
        bound->launches, [tensors = *tensors, pass = planned.pass] { return tensors->restore(pass); }, bound->owned);
  }
  return std::unique_ptr<measure::Subject>(std::move(subject));
}

base::Result<Launcher::InForce> Launcher::in_force(const std::string& pass, const ProblemPtr& problem) {
  HONE_TRY(tensors, resident(problem));
  HONE_TRY(planned, plan({}, pass, *problem));
  HONE_TRY(compiled, program(planned->plan, pass, edits({}, problem->dtype())));
  HONE_TRY(bound, launch::bind(device_, planned->plan, *compiled, (*tensors)->views(), &scratch_));
  HONE_PROPAGATE(admit(bound->launches, **tensors, pass));
  return InForce{std::move(*tensors), std::move(*compiled), std::move(*bound)};
}

}  // namespace hone::repository::launch
