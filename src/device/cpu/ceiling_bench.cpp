#include "device/cpu/ceiling_bench.hpp"

#include <fmt/format.h>

#include <utility>

#include "device/cpu/ceiling_programs.hpp"

namespace hone::device::cpu {

namespace {

constexpr int sink_bytes = 64 * 4096;
constexpr std::int64_t fma_rounds = 400'000;
// The bandwidths, with how many buffers a run of each moves.
constexpr std::pair<const char*, int> bandwidths[] = {{"copy_bytes_per_s", 2},
                                                      {"copy_streaming_bytes_per_s", 2},
                                                      {"read_bytes_per_s", 1},
                                                      {"write_bytes_per_s", 1},
                                                      {"write_streaming_bytes_per_s", 1}};

// "copy_streaming_bytes_per_s" -> "ceiling_copy_streaming"
std::string program_of(const std::string& ceiling) {
  return "ceiling_" + ceiling.substr(0, ceiling.find("_bytes_per_s"));
}

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
  HONE_TRY(program, device.compile(ceiling_source()));
  bench->program_ = *program;
  for (auto* buffer : {&bench->first_, &bench->second_, &bench->sink_}) {
    if (buffer == &bench->first_ && buffers == Buffers::read_alone) continue;
    auto allocated =
        device.allocate(buffer == &bench->sink_ ? sink_bytes : static_cast<std::size_t>(bench->half_bytes_));
    if (!allocated) return allocated.error();
    *buffer = std::move(*allocated);
  }
  HONE_PROPAGATE(device.run({bench->launch("ceiling_fma_flops", 1, {bench->sink()}, 1)}));
  HONE_PROPAGATE(device.download(&bench->flops_of_round_, bench->sink(), sizeof bench->flops_of_round_));
  for (const auto& [name, buffers_moved] : bandwidths) {
    int& streams = bench->streams_[name] = 2;
    const auto found = shapes.by_name.find(name);
    // The words may come from a file: what is none of the programs does not count.
    for (const int shape : {1, 2, 4})
      if (found != shapes.by_name.end() && found->second.program == fmt::format("{}_{}", program_of(name), shape))
        streams = shape;
  }
  return bench;
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

CeilingRun CeilingBench::run_of(const std::string& ceiling) const {
  if (ceiling == "fma_flops_per_s") return {{fma()}, flops_of_fma()};
  for (const auto& [name, buffers_moved] : bandwidths)
    if (ceiling == name)
      return {{bandwidth(program_of(name), streams_.at(name), half_bytes_)},
              buffers_moved * static_cast<double>(half_bytes_)};
  return {};
}

}  // namespace hone::device::cpu
