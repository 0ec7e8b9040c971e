// What the benches of built-in kernels time: plans bound to tensors on a device, all of a table in turns.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "measure/inputs.hpp"
#include "repository/launch/bound_plan.hpp"
#include "repository/native/native_operation.hpp"

namespace hone::bench {

[[noreturn]] inline void fail(const base::Error& error) {
  fmt::print(stderr, "{}\n", base::describe(error));
  std::exit(1);
}
template <class T>
T value_or_fail(base::Result<T> result) {
  if (!result) fail(result.error());
  return *std::move(result);
}
inline void check(const base::Result<void>& result) {
  if (!result) fail(result.error());
}

// The tensors of a problem on the device.
class Tensors {
 public:
  Tensors(device::Device& device, const kernels::Operation& operation, const kernels::Problem& problem)
      : device_(device), operation_(operation), problem_(problem) {
    for (const kernels::TensorSpec& spec : operation.tensors(problem)) {
      const auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(spec.bytes(), 1));
      buffers_[spec.name] = value_or_fail(device.allocate(bytes));
      fill(spec, bytes);
    }
    for (const kernels::Pass pass : {kernels::Pass::forward, kernels::Pass::backward}) {
      for (const std::string& name : operation.pass(pass, problem).overwritten) {
        auto& backup = backups_[name];
        if (backup == nullptr) backup = value_or_fail(device.allocate(buffers_.at(name)->bytes()));
        check(device.copy({backup.get(), 0}, {buffers_.at(name).get(), 0}, backup->bytes()));
      }
    }
  }
  void restore(kernels::Pass pass) {
    for (const std::string& name : operation_.pass(pass, problem_).overwritten) {
      check(device_.copy({buffers_.at(name).get(), 0}, {backups_.at(name).get(), 0}, backups_.at(name)->bytes()));
    }
  }
  repository::launch::TensorViews views() const {
    repository::launch::TensorViews views;
    for (const auto& [name, buffer] : buffers_) views[name] = {buffer.get(), 0};
    return views;
  }

 private:
  void fill(const kernels::TensorSpec& spec, std::size_t bytes) {
    const std::size_t elements = static_cast<std::size_t>(spec.rows * spec.row_stride);
    const std::size_t some = std::min<std::size_t>(elements, (std::size_t{4} << 20) - 5);
    const std::size_t element_bytes = static_cast<std::size_t>(kernels::size_of(spec.dtype));
    std::vector<std::uint8_t> values(some * element_bytes + 1);
    measure::InputSpec input = repository::launch::input_of(spec, 3);
    input.rare_share = 0;  // no row is left out
    measure::fill(input, values.data(), some);
    device::Buffer* buffer = buffers_.at(spec.name).get();
    std::size_t filled = std::min(bytes, some * element_bytes);
    check(device_.upload({buffer, 0}, values.data(), filled));
    while (filled > 0 && filled < bytes) {
      const std::size_t more = std::min(filled, bytes - filled);
      check(device_.copy({buffer, filled}, {buffer, 0}, more));
      filled += more;
    }
  }

  device::Device& device_;
  const kernels::Operation& operation_;
  const kernels::Problem problem_;
  std::map<std::string, std::unique_ptr<device::Buffer>> buffers_, backups_;
};

// Something that is timed.
struct Subject {
  std::string name;
  kernels::Pass pass = kernels::Pass::forward;
  repository::launch::BoundLaunches bound;
  double extra_bytes = 0;  // memory beside the inputs
  std::vector<double> ms = {};
};

inline Subject bound_subject(device::Device& device, const std::string& name, kernels::Pass pass,
                             const kernels::Plan& plan, const Tensors& tensors) {
  const auto source = value_or_fail(repository::native::program_source(plan, name, {}));
  auto program = value_or_fail(device.compile(source));
  return {name, pass, value_or_fail(repository::launch::bind(device, plan, program, tensors.views()))};
}

inline void take_turns(device::Device& device, Tensors& tensors, std::vector<Subject>& subjects, std::int64_t rounds) {
  for (std::int64_t round = -1; round < rounds; ++round) {
    for (Subject& subject : subjects) {
      tensors.restore(subject.pass);
      const model::Sample sample = value_or_fail(device.time(subject.bound.launches, {.cold_cache = true}));
      if (round >= 0) subject.ms.push_back(sample.device_ns / 1e6);
    }
  }
}

inline kernels::Problem problem_of(const kernels::Operation& operation, std::int64_t rows, std::int64_t columns,
                                   std::int64_t depth, kernels::DType dtype) {
  kernels::Problem problem = {rows, columns, depth, dtype, kernels::default_options(operation)};
  if (const std::string wrong = operation.check(problem); !wrong.empty())
    fail({base::ErrorKind::usage, "sizes that " + operation.name() + " takes", wrong, "the problem", "choose others"});
  return problem;
}

}  // namespace hone::bench
