// The programs that measure what this GPU can do, compiled and with their buffers: for the ceilings, and beside kernels.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/cuda/compiler.hpp"
#include "device/cuda/cuda_program.hpp"
#include "device/cuda/session.hpp"
#include "device/device.hpp"

namespace hone::device::cuda {

// Threads of a block, and vectors of 16 bytes that each of them moves.
struct CeilingShape {
  int threads = 512, vectors = 4;
  // "copy by 512 threads, 4 vectors each", as it stands in a ceiling's `program`; the default where a text is none of these.
  std::string text() const;
  static CeilingShape parse(const std::string& text);
};

class CeilingBench final : public CeilingPrograms {
 public:
  // Two buffers of `half_bytes` with random values in them, as those of kernels are: a bus full of zeros switches less. `shapes`:
  // ceilings of this GPU, whose fastest shapes run_of() runs.
  static base::Result<std::unique_ptr<CeilingBench>> make(const std::shared_ptr<GpuSession>& session,
                                                          const CudaCompiler& compiler, const Capability& capability,
                                                          int multiprocessors, std::int64_t half_bytes,
                                                          const model::Ceilings& shapes);

  CeilingRun run_of(const std::string& ceiling) const override;

  std::int64_t half_bytes() const { return half_bytes_; }
  CudaBuffer& read_buffer() const { return *second_; }
  // `kind`: "copy", "read" or "write"; of each buffer the first `bytes`, a multiple of 16.
  Launch bandwidth(const std::string& kind, const CeilingShape& shape, std::int64_t bytes) const;
  // All blocks read at least `bytes` again and again past the first level, in whole turns of all threads; `read` is how many
  // bytes that is in each round.
  Launch l2(int threads, std::int64_t bytes, int rounds, std::int64_t& read) const;
  Launch fma() const;
  double flops_of_fma() const;
  Launch chase(int steps) const;
  Launch launch(std::string entry, std::int64_t programs, int threads, std::vector<Argument> arguments) const;

 private:
  CeilingBench(int multiprocessors, std::int64_t half_bytes)
      : multiprocessors_(multiprocessors), half_bytes_(half_bytes) {}

  int multiprocessors_;
  std::int64_t half_bytes_;
  std::map<std::string, CeilingShape> shapes_;  // by kind
  std::shared_ptr<CudaProgram> program_;
  std::unique_ptr<CudaBuffer> first_, second_, sink_;
};

}  // namespace hone::device::cuda
