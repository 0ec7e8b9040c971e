#include "repository/native/verification.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "measure/dtypes.hpp"
#include "repository/native/bound_plan.hpp"
#include "repository/native/workload.hpp"

namespace hone::repository::native {

namespace {

constexpr std::size_t kGuardBytes = 256;
// All bits set is NaN in every float format: an element that was not written is not finite.
constexpr std::uint8_t kPoison = 0xFF;
constexpr std::int64_t kDeadlineMs = 60'000;  // of one run of a small shape; only a kernel that hangs gets there

using Bytes = std::vector<std::uint8_t>;

bool contains(const std::vector<std::string>& list, const std::string& name) { return std::find(list.begin(), list.end(), name) != list.end(); }

std::vector<double> dense(const kernels::TensorSpec& spec, const Bytes& raw) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(spec.rows * spec.columns));
  const std::size_t size = static_cast<std::size_t>(kernels::size_of(spec.dtype));
  for (std::int64_t row = 0; row < spec.rows; ++row) {
    std::vector<double> line = measure::decode(static_cast<measure::DType>(spec.dtype), raw.data() + static_cast<std::size_t>(row * spec.row_stride) * size,
                                               static_cast<std::size_t>(spec.columns));
    values.insert(values.end(), line.begin(), line.end());
  }
  return values;
}

double root_mean_square(const std::vector<double>& values) {
  double sum = 0;
  std::size_t finite = 0;
  for (double value : values)
    if (std::isfinite(value)) sum += value * value, ++finite;
  return finite ? std::sqrt(sum / static_cast<double>(finite)) : 0;
}

class CaseRun {
 public:
  CaseRun(device::Device& device, const kernels::Operation& operation, const VerificationCase& which, const Implementation& implementation)
      : device_(device), operation_(operation), which_(which), implementation_(implementation) {}

  base::Result<std::vector<CaseResult>> run(std::uint64_t seed) {
    auto workload = Workload::create(device_, operation_, which_.problem, {seed, kGuardBytes + which_.misaligned_bytes});
    if (!workload) return workload.error();
    workload_ = std::move(*workload);
    for (auto& [name, placed] : workload_->tensors())
      if (workload_->is_generated(name)) references_[name] = dense(placed.spec, workload_->generated(name));
    std::vector<CaseResult> results;
    for (kernels::Pass pass : {kernels::Pass::forward, kernels::Pass::backward}) {
      operation_.reference(pass, which_.problem, references_);
      auto result = one_pass(pass);
      if (!result) return result.error();
      results.push_back(std::move(*result));
    }
    return results;
  }

 private:
  base::Result<CaseResult> one_pass(kernels::Pass pass) {
    CaseResult result;
    result.kernel = operation_.name();
    result.mode = kernels::name_of(pass);
    result.dtype = kernels::name_of(which_.problem.dtype);
    result.shape = fmt::format("{} x {}", which_.problem.rows, which_.problem.columns);
    result.label = which_.label;
    result.bound = 1;
    auto failed = [&](std::string why) {
      result.failure = std::move(why);
      result.passed = false;
      result.error = std::max(result.error, 2.0);
      return result;
    };

    kernels::Plan plan = implementation_.plan(pass, which_.problem);
    auto program = implementation_.program(plan, pass);
    if (!program) {
      if (program.error().kind == base::ErrorKind::preflight) return program.error();
      return failed("does not compile: " + program.error().found);
    }
    auto bound = BoundPlan::bind(device_, plan, *program, *workload_);
    if (!bound) return bound.error();

    std::map<std::string, Bytes> first, second;
    for (std::map<std::string, Bytes>* out : {&first, &second}) {
      if (auto restored = workload_->restore(pass); !restored) return restored.error();
      if (auto poisoned = workload_->poison(pass, kPoison); !poisoned) return poisoned.error();
      if (auto ran = device_.try_run((*bound)->launches(), kDeadlineMs * 1'000'000); !ran) return failed("does not run: " + ran.error().found);
      if (auto read = read_back(*out); !read) return read.error();
    }
    if (std::string broken = check_surroundings(pass, first); !broken.empty()) return failed(broken);
    const kernels::PassSpec spec = operation_.pass(pass, which_.problem);
    for (const std::vector<std::string>* names : {&spec.outputs, &spec.saved})
      for (const std::string& name : *names) {
        const PlacedTensor& placed = workload_->tensors().at(name);
        if (std::string wrong = check_values(pass, name, placed, first.at(name), result); !wrong.empty()) return failed(wrong);
        const std::size_t guard = placed.guard_bytes, bytes = static_cast<std::size_t>(placed.spec.bytes());
        if (std::memcmp(first.at(name).data() + guard, second.at(name).data() + guard, bytes) != 0)
          return failed(fmt::format("{}: two runs on the same inputs differ", name));
      }
    result.passed = true;
    return result;
  }

  base::Result<void> read_back(std::map<std::string, Bytes>& out) {
    for (auto& [name, placed] : workload_->tensors()) {
      Bytes bytes(static_cast<std::size_t>(placed.spec.bytes()) + 2 * placed.guard_bytes);
      if (auto read = device_.download(bytes.data(), {placed.buffer.get(), 0}, bytes.size()); !read) return read.error();
      out[name] = std::move(bytes);
    }
    return {};
  }

  // Guard bands, the gaps between padded rows of outputs, and inputs that the pass must leave alone.
  std::string check_surroundings(kernels::Pass pass, const std::map<std::string, Bytes>& read) {
    const kernels::PassSpec spec = operation_.pass(pass, which_.problem);
    for (const auto& [name, placed] : workload_->tensors()) {
      const Bytes& bytes = read.at(name);
      const std::size_t guard = placed.guard_bytes, inner = static_cast<std::size_t>(placed.spec.bytes());
      for (std::size_t i = 0; i < guard; ++i) {
        if (bytes[i] != kGuardByte) return fmt::format("{}: guard byte {} before the tensor was overwritten", name, guard - i);
        if (bytes[guard + inner + i] != kGuardByte) return fmt::format("{}: guard byte {} after the tensor was overwritten", name, i + 1);
      }
      const bool output = contains(spec.outputs, name) || contains(spec.saved, name);
      if (workload_->is_generated(name) && !output && !contains(spec.overwritten, name) &&
          std::memcmp(bytes.data() + guard, workload_->generated(name).data(), inner) != 0)
        return fmt::format("{}: an input that the pass must leave alone was changed", name);
      if (!output || placed.spec.row_stride == placed.spec.columns) continue;
      const std::size_t size = static_cast<std::size_t>(kernels::size_of(placed.spec.dtype));
      for (std::int64_t row = 0; row < placed.spec.rows; ++row)
        for (std::size_t i = static_cast<std::size_t>(placed.spec.columns) * size; i < static_cast<std::size_t>(placed.spec.row_stride) * size; ++i) {
          const std::size_t at = static_cast<std::size_t>(row * placed.spec.row_stride) * size + i;
          const std::uint8_t expected = workload_->is_generated(name) ? workload_->generated(name)[at] : kPoison;
          if (bytes[guard + at] != expected) return fmt::format("{}: the gap after row {} was overwritten", name, row);
        }
    }
    return "";
  }

  // Non-finite values first, then every element against its bound: tolerance * (|reference| + root mean square of the tensor).
  std::string check_values(kernels::Pass pass, const std::string& name, const PlacedTensor& placed, const Bytes& raw, CaseResult& result) {
    auto reference = references_.find(name);
    if (reference == references_.end()) return fmt::format("{}: the reference computes no such tensor", name);
    const Bytes inner(raw.begin() + static_cast<std::ptrdiff_t>(placed.guard_bytes), raw.end() - static_cast<std::ptrdiff_t>(placed.guard_bytes));
    const std::vector<double> values = dense(placed.spec, inner);
    if (values.size() != reference->second.size()) return fmt::format("{}: {} elements, the reference has {}", name, values.size(), reference->second.size());
    const double tolerance = operation_.tolerance(pass, name, which_.problem), scale = root_mean_square(reference->second);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double expected = reference->second[i], found = values[i];
      const std::string where = placed.spec.columns > 0 ? fmt::format("{}[{}, {}]", name, static_cast<std::int64_t>(i) / placed.spec.columns, static_cast<std::int64_t>(i) % placed.spec.columns) : name;
      if (std::isfinite(expected) != std::isfinite(found)) return fmt::format("{}: {} where {} is expected (not written, or overflowed)", where, found, expected);
      if (!std::isfinite(expected)) continue;
      const double error = std::fabs(found - expected), bound = tolerance * (std::fabs(expected) + scale);
      if (error > 0) result.error = std::max(result.error, bound > 0 ? error / bound : 2.0);
      if (!(error <= bound)) return fmt::format("{}: {:.9g} where {:.9g} is expected; error {:.3g}, bound {:.3g}", where, found, expected, error, bound);
    }
    return "";
  }

  device::Device& device_;
  const kernels::Operation& operation_;
  const VerificationCase& which_;
  const Implementation& implementation_;
  std::unique_ptr<Workload> workload_;
  kernels::Values references_;
};

}  // namespace

base::Result<std::vector<CaseResult>> verify(device::Device& device, const kernels::Operation& operation, const VerificationCase& which,
                                             const Implementation& implementation, std::uint64_t seed) {
  return CaseRun(device, operation, which, implementation).run(seed);
}

}  // namespace hone::repository::native
