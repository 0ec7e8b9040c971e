// Errors against references. See numerics.hpp.
#include "measure/numerics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace hone::measure {

namespace {

enum class Kind { finite, nan, positive_infinity, negative_infinity };

Kind kind_of(double value) {
  if (std::isnan(value)) return Kind::nan;
  if (std::isinf(value)) return value > 0 ? Kind::positive_infinity : Kind::negative_infinity;
  return Kind::finite;
}

// A sum of squares that neither overflows nor loses small terms: scaled as it grows (as BLAS nrm2 does).
class Norm {
 public:
  void add(double value) {
    const double size = std::abs(value);
    if (size == 0) return;
    if (size > scale_) {
      sum_ = 1 + sum_ * (scale_ / size) * (scale_ / size);
      scale_ = size;
    } else {
      sum_ += (size / scale_) * (size / scale_);
    }
  }
  double value() const { return scale_ * std::sqrt(sum_); }

 private:
  double scale_ = 0, sum_ = 0;
};

// The reference is so large that rounding to the dtype, or an error within the bound, makes it infinite: half a step above
// the largest finite value (a step there is about unit roundoff times the value).
bool may_overflow(double reference, double bound, DType dtype) {
  const double largest = largest_finite(dtype);
  return dtype != DType::int64 && std::isfinite(bound) &&
         std::abs(reference) + bound >= largest * (1 + unit_roundoff(dtype) / 2);
}

}  // namespace

double Bound::at(double reference, std::size_t element) const {
  return factor * (std::abs(reference) + scale + (terms.empty() ? 0 : terms.at(element)));
}

double root_mean_square(const std::vector<double>& values) {
  Norm norm;
  std::size_t finite = 0;
  for (double value : values) {
    if (!std::isfinite(value)) continue;
    norm.add(value);
    ++finite;
  }
  return finite == 0 ? 0 : norm.value() / std::sqrt(static_cast<double>(finite));
}

Deviation deviation_from(const std::vector<double>& reference, const std::vector<double>& candidate, const Bound& bound,
                         DType dtype) {
  assert(reference.size() == candidate.size());
  Deviation result;
  result.elements = reference.size();
  Norm of_errors, of_reference;
  const auto bad_kind = [&](std::size_t& counter, std::size_t index) {
    if (result.non_finite + result.wrong_kind == 0) result.first_bad_kind = index;
    ++counter;
  };
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const Kind expected = kind_of(reference[i]), found = kind_of(candidate[i]);
    if (expected != Kind::finite) {
      if (found != expected) bad_kind(result.wrong_kind, i);
      continue;
    }
    // An infinite bound would pass anything, an infinity of the wrong sign too: it counts as no bound.
    const double at = bound.at(reference[i], i), allowed = std::isfinite(at) ? at : std::nan("");
    if (found != Kind::finite) {
      const bool same_sign = found != Kind::nan && (candidate[i] > 0) == (reference[i] > 0);
      if (!same_sign || !may_overflow(reference[i], allowed, dtype)) bad_kind(result.non_finite, i);
      continue;
    }
    const double error = std::abs(candidate[i] - reference[i]);
    of_errors.add(error);
    of_reference.add(reference[i]);
    result.largest_reference = std::max(result.largest_reference, std::abs(reference[i]));
    if (error > result.worst_error) {
      result.worst_error = error;
      result.worst_error_index = i;
    }
    if (!(error <= allowed)) ++result.over_bound;
    const double share = error == 0 ? 0 : error / allowed;  // infinite where the bound is 0, NaN where it is none
    if (!(share <= result.worst_over_bound)) {
      result.worst_over_bound = std::isnan(share) ? std::numeric_limits<double>::infinity() : share;
      result.worst_over_bound_index = i;
    }
  }
  const double reference_norm = of_reference.value();
  result.norm_error = reference_norm > 0 ? of_errors.value() / reference_norm : of_errors.value();
  return result;
}

std::string worse_than_baseline(const Deviation& candidate, const Deviation& baseline, double k, DType dtype) {
  if (candidate.non_finite > baseline.non_finite || candidate.wrong_kind > baseline.wrong_kind) {
    return fmt::format("{} elements of the wrong kind (NaN or infinite), the baseline has {}",
                       candidate.non_finite + candidate.wrong_kind, baseline.non_finite + baseline.wrong_kind);
  }
  const double rounding = unit_roundoff(dtype);
  const double norm_allowed = k * std::max(baseline.norm_error, rounding);
  if (!(candidate.norm_error <= norm_allowed)) {
    return fmt::format("error norm {:.3g}, more than {:g} times the baseline's: {:.3g} is allowed",
                       candidate.norm_error, k, norm_allowed);
  }
  const double worst_allowed = k * std::max(baseline.worst_error, rounding * baseline.largest_reference);
  if (!(candidate.worst_error <= worst_allowed)) {
    return fmt::format("element {} has error {:.3g}, more than {:g} times the baseline's worst: {:.3g} is allowed",
                       candidate.worst_error_index, candidate.worst_error, k, worst_allowed);
  }
  return {};
}

std::string describe(const Deviation& deviation, const std::vector<double>& reference,
                     const std::vector<double>& candidate, const Bound& bound) {
  if (deviation.non_finite + deviation.wrong_kind > 0) {
    const std::size_t i = deviation.first_bad_kind;
    return fmt::format("element {}: {} instead of {:.9g}; {} elements are of the wrong kind (NaN or infinite)", i,
                       candidate[i], reference[i], deviation.non_finite + deviation.wrong_kind);
  }
  if (deviation.over_bound > 0) {
    const std::size_t i = deviation.worst_over_bound_index;
    return fmt::format(
        "element {}: {:.9g} instead of {:.9g}, error {:.3g} above the bound {:.3g}; {} of {} elements are", i,
        candidate[i], reference[i], std::abs(candidate[i] - reference[i]), bound.at(reference[i], i),
        deviation.over_bound, deviation.elements);
  }
  return {};
}

std::optional<std::size_t> first_difference(const std::vector<unsigned char>& one,
                                            const std::vector<unsigned char>& other) {
  const std::size_t shared = std::min(one.size(), other.size());
  const auto mismatch = std::mismatch(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(shared), other.begin());
  const auto index = static_cast<std::size_t>(mismatch.first - one.begin());
  if (index == shared && one.size() == other.size()) return std::nullopt;
  return index;
}

}  // namespace hone::measure
