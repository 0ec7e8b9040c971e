// The programs that measure what this CPU can do, compiled and with their buffers: for the ceilings, and beside kernels.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"

namespace hone::device::cpu {

inline constexpr std::int64_t kCeilingBlockBytes = 64 << 10;  // that a program of a bandwidth's launch moves

class CeilingBench final : public CeilingPrograms {
 public:
  enum class Buffers { both, read_alone };
  // Two buffers of `half_bytes`, rounded down to whole blocks, of which there must be one; or the one that is read. `shapes`:
  // ceilings of this device, whose fastest programs run_of() runs; the default shape where they name none.
  static base::Result<std::unique_ptr<CeilingBench>> make(Device& device, int cores, std::int64_t half_bytes,
                                                          const model::Ceilings& shapes,
                                                          Buffers buffers = Buffers::both);

  CeilingRun run_of(const std::string& ceiling) const override;

  std::int64_t half_bytes() const { return half_bytes_; }
  // `name`: "ceiling_copy", "ceiling_copy_streaming", "ceiling_read", ...; of each buffer the first `bytes`. Streams: 1, 2, 4.
  Launch bandwidth(const std::string& name, int streams, std::int64_t bytes) const;
  Launch fma() const;  // about 2 ms on all cores
  double flops_of_fma() const;
  Launch launch(std::string entry, std::int64_t programs, std::vector<Argument> arguments, int threads = 0) const;
  BufferView sink() const { return {sink_.get(), 0}; }
  BufferView from() const { return {second_.get(), 0}; }

 private:
  CeilingBench(int cores, std::int64_t half_bytes) : cores_(cores), half_bytes_(half_bytes) {}

  int cores_;
  std::int64_t half_bytes_;
  std::int64_t flops_of_round_ = 0;
  std::map<std::string, int> streams_;  // of the fastest shape, by the ceiling's name
  std::shared_ptr<Program> program_;
  std::unique_ptr<Buffer> first_, second_, sink_;
};

}  // namespace hone::device::cpu
