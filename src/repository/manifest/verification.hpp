// A manifest's kernel against its reference in double precision, or against the kernel as it was found where there is none.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"
#include "repository/guarded_run.hpp"
#include "repository/manifest/problem.hpp"

namespace hone::repository::manifest {

enum class Extent { smoke, full };

// The problems that correctness is tried on: odd, prime, one, powers of two and their neighbours along x, free sizes small, and
// the measured sizes; those that the kernel can not run are left out.
std::vector<Problem> verification_problems(const Manifest& manifest, Extent extent,
                                           const std::vector<const DTypeDecl*>& dtypes,
                                           const std::vector<std::int64_t>& sizes);

// How a pass of a problem is bound to memory. Empty settings of a problem that has none valid are its author's to leave out.
using Bind = std::function<base::Result<BoundLaunches>(const Problem&, const PassDecl&, const TensorViews&)>;

struct Verification {
  device::Device& device;
  const Manifest& manifest;
  Bind candidate;
  Bind original;  // none: the candidate is the original
  // Runs the reference of a pass: reads and writes tensors by name, in double precision.
  std::function<base::Result<void>(const Problem&, const PassDecl&, std::map<std::string, std::vector<double>>&)>
      reference;
};

struct VerifiedCase {
  CaseResult result;
  std::string worse;  // than the original on the same case; empty where it is not, or not known
};

// Each pass of one problem. A crash, a hang and a wrong result are results; an error means that it could not be tried.
base::Result<std::vector<VerifiedCase>> verify_problem(const Verification& verification, const Problem& problem,
                                                       std::uint64_t seed);

// "4096 rows=33 fp32"
std::string label_of(const Manifest& manifest, const Problem& problem);

}  // namespace hone::repository::manifest
