#include "device/cuda/ceiling_bench.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device/cuda/ceiling_programs.hpp"

namespace hone::device::cuda {

namespace {

constexpr int vector_bytes = 16, fma_chains = 16, fma_steps = 4, fma_rounds = 4096, fma_threads = 1024;
constexpr std::size_t sink_bytes = 4096;

CeilingShape shape_of(const model::Ceilings& ceilings, const std::string& kind) {
  const auto found = ceilings.by_name.find(kind + "_bytes_per_s");
  return found == ceilings.by_name.end() ? CeilingShape{} : CeilingShape::parse(found->second.program);
}

}  // namespace

std::string CeilingShape::text() const { return fmt::format("{} threads, {} vectors each", threads, vectors); }

CeilingShape CeilingShape::parse(const std::string& text) {
  for (const int threads : {256, 512, 1024})
    for (const int vectors : {1, 2, 4, 8})
      if (CeilingShape{threads, vectors}.text() == text) return {threads, vectors};
  return {};
}

base::Result<std::unique_ptr<CeilingBench>> CeilingBench::make(const std::shared_ptr<GpuSession>& session,
                                                               const CudaCompiler& compiler,
                                                               const Capability& capability, int multiprocessors,
                                                               std::int64_t half_bytes, const model::Ceilings& shapes) {
  std::unique_ptr<CeilingBench> bench(new CeilingBench(multiprocessors, half_bytes / vector_bytes * vector_bytes));
  auto compiled =
      compiler.compile({"ceiling programs", {{"ceilings.cu", ceiling_program_text}}, "ceilings.cu", {}}, capability);
  if (!compiled) return compiled.error();
  bench->program_ = std::make_shared<CudaProgram>(session, "ceiling programs", std::move(*compiled));
  for (auto* buffer : {&bench->first_, &bench->second_, &bench->sink_}) {
    auto made =
        CudaBuffer::make(session, buffer == &bench->sink_ ? sink_bytes : static_cast<std::size_t>(bench->half_bytes_));
    if (!made) return made.error();
    *buffer = std::move(*made);
  }
  for (CudaBuffer* buffer : {bench->first_.get(), bench->second_.get()}) {
    HONE_TRY(filling,
             prepare(*session, {bench->launch("ceiling_random", 4096, 256,
                                              {BufferView{buffer, 0}, bench->half_bytes_ / 4, std::int32_t{2}})}));
    HONE_PROPAGATE(enqueue(*session, *filling));
  }
  HONE_PROPAGATE(session->synchronize("random values"));
  for (const char* kind : {"copy", "read", "write"}) bench->shapes_[kind] = shape_of(shapes, kind);
  return bench;
}

Launch CeilingBench::launch(std::string entry, std::int64_t programs, int threads,
                            std::vector<Argument> arguments) const {
  Launch one;
  one.program = program_.get();
  one.entry = std::move(entry);
  one.programs = programs;
  one.threads = threads;
  one.arguments = std::move(arguments);
  return one;
}

Launch CeilingBench::bandwidth(const std::string& kind, const CeilingShape& shape, std::int64_t bytes) const {
  const std::int64_t vectors = bytes / vector_bytes, of_block = std::int64_t{shape.threads} * shape.vectors;
  std::vector<Argument> arguments = {BufferView{kind == "read" ? sink_.get() : first_.get(), 0}};
  if (kind != "write") arguments.push_back(BufferView{second_.get(), 0});
  arguments.push_back(vectors);
  return launch(fmt::format("ceiling_{}_{}", kind, shape.vectors), (vectors + of_block - 1) / of_block, shape.threads,
                std::move(arguments));
}

Launch CeilingBench::l2(int threads, std::int64_t bytes, int rounds, std::int64_t& read) const {
  constexpr int in_flight = 4;
  const std::int64_t blocks = 2 * std::int64_t{multiprocessors_}, turn = in_flight * blocks * threads;
  const std::int64_t vectors =
      std::min(std::max<std::int64_t>(1, bytes / vector_bytes / turn) * turn, half_bytes_ / vector_bytes);
  read = vectors * vector_bytes;
  return launch("ceiling_l2", blocks, threads,
                {BufferView{sink_.get(), 0}, BufferView{second_.get(), 0}, vectors, std::int32_t{rounds}});
}

Launch CeilingBench::fma() const {
  return launch("ceiling_fma", 2 * std::int64_t{multiprocessors_}, fma_threads,
                {BufferView{sink_.get(), 0}, std::int32_t{fma_rounds}});
}

double CeilingBench::flops_of_fma() const {
  return 2.0 * fma_chains * fma_steps * fma_rounds * fma_threads * 2 * multiprocessors_;
}

Launch CeilingBench::chase(int steps) const {
  return launch("ceiling_chase", 1, 1, {BufferView{sink_.get(), 0}, BufferView{second_.get(), 0}, std::int32_t{steps}});
}

CeilingRun CeilingBench::run_of(const std::string& ceiling) const {
  if (ceiling == "fma_flops_per_s") return {{fma()}, flops_of_fma()};
  for (const auto& [kind, shape] : shapes_)
    if (ceiling == kind + "_bytes_per_s")
      return {{bandwidth(kind, shape, half_bytes_)}, (kind == "copy" ? 2.0 : 1.0) * static_cast<double>(half_bytes_)};
  return {};
}

}  // namespace hone::device::cuda
