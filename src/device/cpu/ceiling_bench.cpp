#include "device/cpu/ceiling_bench.hpp"

#include <fmt/format.h>

#include "device/ceiling_mix.hpp"
#include "device/cpu/ceiling_programs.hpp"

namespace hone::device::cpu {

namespace {

constexpr int sink_bytes = 64 * 4096;
constexpr std::int64_t fma_rounds = 400'000;
constexpr std::int64_t fewest_bytes =
    32 << 20;  // of a run beside a kernel: 1 to 2 ms, in which the start does not show

ProgramSource ceiling_source() {
  ProgramSource source;
  source.name = "ceiling programs";
  source.files = {{"ceilings.cpp", ceiling_program_text}};
  source.main_file = "ceilings.cpp";
  source.defines = {{"BLOCK_BYTES", std::to_string(kCeilingBlockBytes)}};
  return source;
}

}  // namespace

base::Result<std::unique_ptr<CeilingBench>> CeilingBench::make(Device& device, int cores, std::int64_t half_bytes,
                                                               const model::Ceilings& shapes, Buffers buffers) {
  std::unique_ptr<CeilingBench> bench(new CeilingBench(cores, half_bytes / kCeilingBlockBytes * kCeilingBlockBytes));
  auto program = device.compile(ceiling_source());
  if (!program) return program.error();
  bench->program_ = *program;
  for (auto* buffer : {&bench->first_, &bench->second_, &bench->sink_}) {
    if (buffer == &bench->first_ && buffers == Buffers::read_alone) continue;
    auto allocated =
        device.allocate(buffer == &bench->sink_ ? sink_bytes : static_cast<std::size_t>(bench->half_bytes_));
    if (!allocated) return allocated.error();
    *buffer = std::move(*allocated);
  }
  if (auto asked = device.run({bench->launch("ceiling_fma_flops", 1, {bench->sink()}, 1)}); !asked)
    return asked.error();
  if (auto read = device.download(&bench->flops_of_round_, bench->sink(), sizeof bench->flops_of_round_); !read)
    return read.error();
  bench->copy_ = fastest(shapes, "copy"), bench->read_ = fastest(shapes, "read");
  bench->write_ = fastest(shapes, "write");
  return bench;
}

CeilingBench::Shape CeilingBench::fastest(const model::Ceilings& ceilings, const std::string& kind) {
  Shape shape = {"ceiling_" + kind, 2};
  double rate = 0;
  for (const char* stores : {"", "_streaming"}) {
    const auto found = ceilings.by_name.find(kind + stores + "_bytes_per_s");
    if (found == ceilings.by_name.end() || !(found->second.p50 > rate)) continue;
    // The words come from a file: what is none of the programs does not count.
    for (const int streams : {1, 2, 4}) {
      const std::string name = "ceiling_" + kind + stores;
      if (found->second.program != fmt::format("{}_{}", name, streams)) continue;
      shape = {name, streams};
      rate = found->second.p50;
    }
  }
  return shape;
}

Launch CeilingBench::launch(std::string entry, std::int64_t programs, std::vector<Argument> arguments,
                            int threads) const {
  Launch one;
  one.program = program_.get();
  one.entry = std::move(entry);
  one.programs = programs;
  one.threads = threads;
  one.arguments = std::move(arguments);
  return one;
}

Launch CeilingBench::bandwidth(const std::string& name, int streams, std::int64_t bytes) const {
  const bool reads = name == "ceiling_read", copies = name.starts_with("ceiling_copy");
  std::vector<Argument> arguments = {reads ? sink() : BufferView{first_.get(), 0}};
  if (reads || copies) arguments.push_back(from());
  return launch(fmt::format("{}_{}", name, streams), bytes / kCeilingBlockBytes, std::move(arguments));
}

Launch CeilingBench::fma() const { return launch("ceiling_fma", cores_, {sink(), fma_rounds}); }

double CeilingBench::flops_of_fma() const { return static_cast<double>(flops_of_round_ * fma_rounds * cores_); }

CeilingRun CeilingBench::traffic(double bytes_read, double bytes_written) const {
  const CeilingMix mix = ceiling_mix(bytes_read, bytes_written, fewest_bytes, half_bytes_, kCeilingBlockBytes);
  CeilingRun run = {{}, mix.bytes_read(), mix.bytes_written(), 0};
  const Shape& alone = mix.alone_is_read ? read_ : write_;
  if (mix.copied > 0) run.launches.push_back(bandwidth(copy_.name, copy_.streams, mix.copied));
  if (mix.alone > 0) run.launches.push_back(bandwidth(alone.name, alone.streams, mix.alone));
  return run;
}

}  // namespace hone::device::cpu
