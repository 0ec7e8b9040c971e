// The launches of a pass under given settings.
#include <fmt/format.h>

#include "repository/manifest/problem.hpp"

namespace hone::repository::manifest {

namespace {

constexpr std::int64_t kMostPrograms = (std::int64_t{1} << 31) - 1, kMostProgramsYZ = 65535;
constexpr std::int64_t kMostThreads = 1024, kMostSharedBytes = std::int64_t{1} << 20, kMostWorkers = 1024;

base::Error excluded(const Expression& rule, const std::string& what, const model::Settings& settings) {
  std::string values;
  for (const auto& [name, value] : settings) values += fmt::format("{}{}={}", values.empty() ? "" : " ", name, value);
  base::Error error = rule.error(what, values.empty() ? "no settings" : values, "leave this configuration out");
  error.kind = base::ErrorKind::gate;
  return error;
}

class Planner {
 public:
  Planner(const Manifest& manifest, const ProblemSizes& problem, const PassDecl& pass, const model::Settings& settings)
      : manifest_(manifest), problem_(problem), pass_(pass), settings_(settings), scope_{problem.sizes, {}} {
    for (const auto& [name, value] : settings) scope_.whole[name] = value;
  }

  base::Result<kernels::Plan> run() {
    HONE_PROPAGATE(check_rules());
    kernels::Plan plan;
    plan.main_file = manifest_.source;
    plan.begins_early = false;
    plan.defines = manifest_.defines;
    plan.defines.insert(plan.defines.end(), problem_.dtype->defines.begin(), problem_.dtype->defines.end());
    for (const KnobDecl* knob : manifest_.knobs_of(pass_.name))
      if (const auto value = settings_.find(knob->name); value != settings_.end())
        plan.defines.emplace_back(knob->name, std::to_string(value->second));
    for (const auto& [name, role] : pass_.roles) {
      if (role != Role::scratch) continue;
      HONE_TRY(scratch, scratch_of(*manifest_.find_tensor(name)));
      plan.scratch.push_back(std::move(*scratch));
    }
    for (const LaunchDecl& launch : pass_.launches) {
      HONE_TRY(planned, launch_of(launch));
      planned->entry = entry_of(manifest_, launch.entry, plan.launches.size());
      plan.launches.push_back(std::move(*planned));
    }
    return plan;
  }

 private:
  base::Result<void> check_rules() {
    std::vector<const Expression*> rules;
    for (const KnobDecl* knob : manifest_.knobs_of(pass_.name)) {
      if (!settings_.count(knob->name))
        return base::Error{base::ErrorKind::gate, "a value of every knob of " + pass_.name, "none of " + knob->name,
                           manifest_.path, "leave this configuration out"};
      if (knob->valid) rules.push_back(&*knob->valid);
    }
    if (pass_.valid) rules.push_back(&*pass_.valid);
    for (const Expression* rule : rules) {
      HONE_TRY(holds, rule->whole(scope_));
      if (*holds == 0) return excluded(*rule, "settings for which " + rule->text(), settings_);
    }
    return {};
  }

  base::Result<kernels::TensorSpec> scratch_of(const TensorDecl& tensor) {
    std::int64_t elements = 1;
    for (const Expression& extent : tensor.shape) {
      HONE_TRY(value, within(extent, 0, std::int64_t{1} << 40, "an extent"));
      if (__builtin_mul_overflow(elements, *value, &elements) || elements > std::int64_t{1} << 44)
        return excluded(extent, "scratch that a memory can hold", settings_);
    }
    return tensor_spec(tensor, problem_, elements);
  }

  base::Result<std::int64_t> within(const Expression& expression, std::int64_t least, std::int64_t most,
                                    const char* what) {
    auto value = expression.whole(scope_);
    if (!value) return value;
    if (*value >= least && *value <= most) return value;
    base::Error error = excluded(expression, fmt::format("{} from {} to {}", what, least, most), settings_);
    error.found = fmt::format("{} ({})", *value, error.found);
    return error;
  }

  base::Result<kernels::Launch> launch_of(const LaunchDecl& launch) {
    kernels::Launch planned;
    std::int64_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
    for (std::size_t i = 0; i < launch.grid.size(); ++i) {
      HONE_TRY(extent, within(launch.grid[i], 1, i == 0 ? kMostPrograms : kMostProgramsYZ, "programs of the grid"));
      grid[i] = *extent;
    }
    if (manifest_.language == Language::cuda) {
      for (std::size_t i = 0; i < launch.block.size(); ++i) {
        HONE_TRY(extent, within(launch.block[i], 1, kMostThreads, "threads of a block"));
        block[i] = *extent;
      }
      if (block[0] * block[1] * block[2] > kMostThreads)
        return excluded(launch.block.front(), fmt::format("at most {} threads of a block", kMostThreads), settings_);
      HONE_TRY(shared, within(launch.shared_bytes, 0, kMostSharedBytes, "bytes of shared memory"));
      planned.dynamic_shared_bytes = *shared;
    } else {
      HONE_TRY(workers, within(launch.workers, 0, kMostWorkers, "threads to work on"));
      block[0] = *workers;
    }
    planned.programs = grid[0];
    planned.programs_y = static_cast<int>(grid[1]), planned.programs_z = static_cast<int>(grid[2]);
    planned.threads = static_cast<int>(block[0]);
    planned.threads_y = static_cast<int>(block[1]), planned.threads_z = static_cast<int>(block[2]);
    HONE_TRY(arguments, arguments_of(manifest_, problem_, launch.arguments, settings_));
    planned.arguments = std::move(*arguments);
    return planned;
  }

  const Manifest& manifest_;
  const ProblemSizes& problem_;
  const PassDecl& pass_;
  const model::Settings& settings_;
  Scope scope_;
};

}  // namespace

std::string entry_of(const Manifest& manifest, const std::string& entry, std::size_t launch) {
  return manifest.language == Language::cuda ? entry : fmt::format("hone_{}_{}", launch, entry);
}

base::Result<kernels::Plan> plan_of(const Manifest& manifest, const ProblemSizes& problem, const PassDecl& pass,
                                    const model::Settings& settings) {
  return Planner(manifest, problem, pass, settings).run();
}

base::Result<std::vector<kernels::Argument>> arguments_of(const Manifest& manifest, const ProblemSizes& problem,
                                                          const std::vector<ArgumentDecl>& arguments,
                                                          const model::Settings& settings) {
  Scope scope{problem.sizes, {}};
  for (const auto& [name, value] : settings) scope.whole[name] = value;
  for (const ScalarDecl& scalar : manifest.scalars) {
    if (scalar.type == ScalarType::fp32) {
      HONE_TRY(value, scalar.value.real({problem.sizes, {}}));
      scope.real[scalar.name] = *value;
    } else {
      HONE_TRY(value, scalar.value.whole({problem.sizes, {}}));
      scope.whole[scalar.name] = *value;
    }
  }
  std::vector<kernels::Argument> planned;
  for (const ArgumentDecl& argument : arguments) {
    if (!argument.tensor.empty()) {
      planned.emplace_back(kernels::TensorArgument{argument.tensor});
    } else if (argument.type == ScalarType::fp32) {
      HONE_TRY(value, argument.value.real(scope));
      planned.emplace_back(static_cast<float>(*value));
    } else {
      HONE_TRY(value, argument.value.whole(scope));
      const auto narrow = static_cast<std::int32_t>(*value);
      if (argument.type == ScalarType::int64)
        planned.emplace_back(*value);
      else if (narrow == *value)
        planned.emplace_back(narrow);
      else
        return argument.value.error("an argument that fits in 32 bits", std::to_string(*value),
                                    "pass it as int64, or choose smaller sizes");
    }
  }
  return planned;
}

}  // namespace hone::repository::manifest
