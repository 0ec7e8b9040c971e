// Compares outputs with double-precision references, and watches the memory around and between them.
//
// A gate built from this can fail: non-finite values are counted before anything is subtracted, every test is written as
// !(error <= bound), outputs are poisoned before the run, and the bytes around them are guarded. No element is skipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/dtypes.hpp"

namespace hone::measure {

// Largest allowed |candidate - reference| of one element: factor * (|reference| + scale + the element's terms). The scale keeps
// elements near zero, whose error comes from larger terms that cancelled, from needing an impossible relative accuracy; where
// each element's own terms are known they say so more sharply.
struct Bound {
  double factor = 0, scale = 0;
  std::vector<double> terms = {};  // one for each element; empty: none
  double at(double reference, std::size_t element) const;
};

// Root mean square of the finite values; 0 when there are none. The scale of a tensor.
double root_mean_square(const std::vector<double>& values);

// How far a candidate's values are from the reference's. Errors and norms run over the elements whose reference is finite.
struct Deviation {
  std::size_t elements = 0;
  std::size_t non_finite = 0;      // NaN or infinite where the reference is finite
  std::size_t wrong_kind = 0;      // reference NaN, +inf or -inf, and the candidate is not the same
  std::size_t first_bad_kind = 0;  // index of the first of both; meaningful when there is one
  std::size_t over_bound = 0;      // elements for which !(error <= bound); non-finite ones are not among them
  double worst_error = 0;          // largest |candidate - reference|
  std::size_t worst_error_index = 0;
  double worst_over_bound = 0;  // largest error / bound; infinite for an error where the bound is 0
  std::size_t worst_over_bound_index = 0;
  double norm_error = 0;  // ||candidate - reference|| / ||reference||; the absolute norm where the reference is 0
  double largest_reference = 0;  // |reference|

  // Every element has the right kind and lies within its bound. True of no elements at all: whoever gates counts its cases.
  bool within_bound() const { return non_finite == 0 && wrong_kind == 0 && over_bound == 0; }
};

// `candidate` as decoded from `dtype`. Where the reference is beyond the largest finite value of `dtype`, or within its bound
// of it, an infinity of the same sign is right as well. Precondition: equal sizes.
Deviation deviation_from(const std::vector<double>& reference, const std::vector<double>& candidate, const Bound& bound,
                         DType dtype);

// The second rule: a candidate may not be worse than `k` times what it replaces, in norm and in its worst element. An exact
// baseline allows one rounding of `dtype`. Empty when it holds; otherwise what is too large. Both against one reference.
std::string worse_than_baseline(const Deviation& candidate, const Deviation& baseline, double k, DType dtype);

// "element 17: 1.25 instead of 1.5, error 0.25 above the bound 0.1": the worst fault in one line; empty when within bound.
std::string describe(const Deviation& deviation, const std::vector<double>& reference,
                     const std::vector<double>& candidate, const Bound& bound);

// A tensor in memory between two guard bands: what is uploaded before a run and looked at after it. Rows may be padded.
struct TensorShape {
  DType dtype = DType::fp32;
  std::int64_t rows = 0, columns = 0, row_stride = 0;  // in elements; row_stride >= columns
};

struct ImageFaults {
  std::optional<std::ptrdiff_t> guard_offset;  // first changed guard byte, relative to the tensor's first byte
  std::optional<std::size_t> padding_element;  // first changed element between rows, counted from the tensor's start
  std::size_t unwritten = 0;                   // elements that still hold the poison
  std::optional<std::size_t> first_unwritten;  // row-major index without padding
  bool ok() const { return !guard_offset && !padding_element && unwritten == 0; }
  std::string describe() const;  // empty when ok
};

class GuardedImage {
 public:
  static constexpr std::size_t kGuardBytes = 256;  // a multiple of every alignment that kernels rely on

  // Guards hold a pattern that depends on the position; the tensor, padding included, is poisoned with a NaN that no
  // arithmetic makes (integers: a value that is no label). `misalign_bytes` shifts the tensor to test unaligned bases, by whole elements at
  // least that far: an element is always aligned to its own size, which a GPU insists on.
  explicit GuardedImage(const TensorShape& shape, std::size_t misalign_bytes = 0);

  std::vector<unsigned char>& bytes() { return bytes_; }  // the whole image: upload it, download it
  const std::vector<unsigned char>& bytes() const { return bytes_; }
  std::size_t tensor_offset() const { return kGuardBytes + misalign_bytes_; }
  std::size_t tensor_bytes() const;  // padding included

  // Gives the tensor values, for inputs and for outputs that are updated in place. Row-major, without padding.
  void set(const std::vector<double>& values);
  std::vector<double> values() const;  // row-major, without padding

  // What a run must not have done. `must_be_written`: outputs; inputs are never poison in the first place.
  ImageFaults faults(bool must_be_written) const;

 private:
  void poison(std::size_t first_element, std::size_t count);
  bool is_poison(std::size_t element) const;

  TensorShape shape_;
  std::size_t misalign_bytes_;
  std::vector<unsigned char> bytes_;
};

// Run-to-run determinism: index of the first byte in which two runs' outputs differ; nothing when they are bitwise equal.
// Different lengths differ at the end of the shorter one.
std::optional<std::size_t> first_difference(const std::vector<unsigned char>& one,
                                            const std::vector<unsigned char>& other);

}  // namespace hone::measure
