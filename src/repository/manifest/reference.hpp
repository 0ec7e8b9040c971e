// A manifest's reference in double precision: compiled and run on the CPU, in isolation, because its author is no surer of it than
// of the kernel.
#pragma once

#include <memory>

#include "base/result.hpp"
#include "device/device.hpp"
#include "repository/manifest/problem.hpp"
#include "repository/manifest/sources.hpp"

namespace hone::repository::manifest {

class Reference {
 public:
  // `host`: a CPU; none: running it is a pre-flight error.
  Reference(device::Device* host, Sources& sources, const Manifest& manifest)
      : host_(host), sources_(sources), manifest_(manifest) {}

  // Reads tensors of the pass from `values` and writes its outputs there. Error of kind usage: it does not compile, or fails.
  base::Result<void> run(const ProblemSizes& problem, const PassDecl& pass, kernels::Values& values);
  // What results are held against, in words.
  std::string words() const;

 private:
  base::Result<void> compile();

  device::Device* host_;
  Sources& sources_;
  const Manifest& manifest_;
  std::shared_ptr<device::Program> program_;
};

}  // namespace hone::repository::manifest
