// Settings on CUDA: the heuristic's are valid for every problem, and what is enumerated describes launches that exist.
#include "kernels/catalog/cuda_row_config.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace kernels {
namespace {

Target cuda_target(int compute_capability) {
  Target target;
  target.machine = Machine::cuda;
  target.cores = 132;
  target.shared_bytes = compute_capability >= 90 ? 232448 : 166912;
  target.compute_capability = compute_capability;
  return target;
}

std::string text_of(const Settings& settings) {
  std::string text;
  for (const auto& [name, value] : settings) text += " " + name + "=" + std::to_string(value);
  return text;
}

std::string define(const Plan& plan, const std::string& name) {
  for (const auto& [each, value] : plan.defines) {
    if (each == name) return value;
  }
  return "none";
}

const std::pair<std::int64_t, std::int64_t> kRowShapes[] = {{1, 1},        {5, 1},     {1, 7},        {33, 127},
                                                            {0, 16},       {5, 0},     {16384, 1024}, {16384, 5120},
                                                            {16384, 8192}, {3, 32768}, {2, 262144},   {1, 1000000000}};

TEST(CudaSettings, TheHeuristicIsValidForEveryProblem) {
  for (const auto& operation : catalog()) {
    for (const int capability : {75, 80, 90, 100}) {
      for (const DType dtype : operation->dtypes()) {
        for (const auto& [rows, columns] : kRowShapes) {
          const Problem problem = {rows, columns, operation->depth_for(rows, columns), dtype,
                                   default_options(*operation)};
          const Target target = cuda_target(capability);
          for (const Pass pass : {Pass::forward, Pass::backward}) {
            const Settings settings = operation->heuristic(pass, problem, target);
            EXPECT_EQ(operation->valid(pass, settings, problem, target), "")
                << operation->name() << " " << rows << " x " << columns << " " << name_of(dtype) << text_of(settings);
          }
        }
      }
    }
  }
}

TEST(CudaSettings, EveryLaunchHasAGridThatADeviceTakes) {
  for (const auto& operation : catalog()) {
    const Target target = cuda_target(90);
    for (const auto& [rows, columns] : kRowShapes) {
      const Problem problem = {rows, columns, operation->depth_for(rows, columns), DType::bf16,
                               default_options(*operation)};
      for (const Pass pass : {Pass::forward, Pass::backward}) {
        const Settings settings = operation->heuristic(pass, problem, target);
        for (const Plan& plan : {operation->plan(pass, problem, settings, target, Ablation::none),
                                 operation->eager_plan(pass, problem, target)}) {
          for (const Launch& launch : plan.launches) {
            EXPECT_LE(launch.programs, 0x7fffffff) << launch.entry;
            // A program that has a ring has one more warp, which fills it.
            const bool has_ring = launch.dynamic_shared_bytes > 0 && define(plan, "RING_SLOTS") > "0";
            EXPECT_EQ(launch.threads, 32 * (std::stoi(define(plan, "NUM_WARPS")) + (has_ring ? 1 : 0))) << launch.entry;
            EXPECT_LE(launch.dynamic_shared_bytes, target.shared_bytes) << launch.entry;
          }
        }
      }
    }
  }
}

TEST(CudaSettings, EverySpaceIsWorthSearchingAndHoldsNoSettingTwice) {
  for (const auto& operation : catalog()) {
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      Problem problem = {16384, 4096, operation->depth_for(16384, 4096), DType::bf16, default_options(*operation)};
      if (operation->name() == "fused_linear_cross_entropy") problem.depth = 4096;  // a hidden size
      std::vector<Settings> all = operation->enumerate(pass, problem, cuda_target(90));
      EXPECT_GT(all.size(), 20u) << operation->name();
      std::sort(all.begin(), all.end());
      EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << operation->name();
    }
  }
}

TEST(CudaSettings, BulkCopiesNeedAHopperAndRowsOfWholeVectors) {
  const Operation& rms_norm = *find("rms_norm");
  Problem problem = {16384, 4096, 0, DType::bf16, default_options(rms_norm)};
  Settings settings = rms_norm.heuristic(Pass::backward, problem, cuda_target(90));
  EXPECT_GT(settings.at("num_stages"), 0);
  EXPECT_EQ(rms_norm.heuristic(Pass::backward, problem, cuda_target(80)).count("num_stages"), 0u);
  problem.columns = 4099;
  EXPECT_NE(rms_norm.valid(Pass::backward, settings, problem, cuda_target(90)), "");
  EXPECT_EQ(rms_norm.heuristic(Pass::backward, problem, cuda_target(90)).at("num_stages"), 0);
}

// A row that fills the registers exactly has no bounds to check; one that does not says so, and one that is longer goes in chunks.
TEST(CudaSettings, DefinesSayHowARowFits) {
  const RowSpace space;
  CudaRowConfig config;
  config.num_warps = 4;
  config.vectors = 2;
  const auto fit = [&](std::int64_t columns, std::int64_t padding = 0) {
    Plan plan;
    plan.defines =
        cuda_row_defines(space, config, {8, columns, 0, DType::bf16, {}, padding}, Pass::forward, Ablation::none);
    return define(plan, "ROW_FIT") + " " + define(plan, "WHOLE_VECTORS");
  };
  EXPECT_EQ(fit(2048), "FIT_EXACT 1");
  EXPECT_EQ(fit(2048, 8), "FIT_EXACT 1");
  EXPECT_EQ(fit(2048, 3), "FIT_ANY 0");
  EXPECT_EQ(fit(2040), "FIT_ANY 1");
  EXPECT_EQ(fit(2041), "FIT_ANY 0");
  EXPECT_EQ(fit(2056), "FIT_CHUNKED 1");
  EXPECT_EQ(fit(0), "FIT_ANY 1");
}

// A vocabulary's row lies in a ring of shared memory, where there are bulk copies and it fits. Elsewhere it goes in stretches, read
// twice, even where a block could hold it: while a block works on a row that it holds, nothing is under way.
TEST(CudaSettings, AVocabularysRowGoesInStretchesOrLiesInARing) {
  const Operation& operation = *find("cross_entropy");
  const auto form_of = [&](std::int64_t columns, int capability) {
    const Problem problem = {8192, columns, 0, DType::bf16, default_options(operation)};
    const Target target = cuda_target(capability);
    const Settings settings = operation.heuristic(Pass::forward, problem, target);
    const Plan plan = operation.plan(Pass::forward, problem, settings, target, Ablation::none);
    EXPECT_EQ(operation.valid(Pass::forward, settings, problem, target), "");
    const auto launch = std::find_if(plan.launches.begin(), plan.launches.end(),
                                     [](const Launch& each) { return each.entry == "cross_entropy_forward"; });
    return define(plan, "ROW_FIT") + " " + std::to_string(settings.at("num_warps")) + " warps, " +
           define(plan, "ROW_CHUNKS") + " of " + define(plan, "RING_SLOTS") + ", " + std::to_string(launch->programs) +
           " programs of " + std::to_string(launch->threads) + ", " + std::to_string(launch->dynamic_shared_bytes);
  };
  EXPECT_EQ(form_of(8192, 90), "FIT_EXACT 8 warps, 1 of 0, 8192 programs of 256, 0");
  EXPECT_EQ(form_of(32768, 90), "FIT_CHUNKED 16 warps, 4 of 14, 132 programs of 544, 229376");
  EXPECT_EQ(form_of(32768, 80), "FIT_CHUNKED 8 warps, 1 of 0, 8192 programs of 256, 0");
  EXPECT_EQ(form_of(98304, 90), "FIT_CHUNKED 16 warps, 12 of 14, 132 programs of 544, 229376");
  EXPECT_EQ(form_of(128256, 90), "FIT_CHUNKED 16 warps, 16 of 14, 132 programs of 544, 229376");
  EXPECT_EQ(form_of(128257, 90), "FIT_CHUNKED 32 warps, 1 of 0, 8192 programs of 1024, 0");
  EXPECT_EQ(form_of(262144, 90), "FIT_CHUNKED 32 warps, 1 of 0, 8192 programs of 1024, 0");
  EXPECT_EQ(form_of(128256, 80), "FIT_CHUNKED 32 warps, 1 of 0, 8192 programs of 1024, 0");
}

// What a ring can not hold is refused with the reason.
TEST(CudaSettings, ARingIsForOneRowOfWholeVectorsThatItHolds) {
  const Operation& operation = *find("cross_entropy");
  const Target target = cuda_target(90);
  const Problem problem = {8192, 32768, 0, DType::bf16, default_options(operation)};
  const Settings good = {{"num_warps", 16},      {"VECTORS", 2},      {"BLOCK_ROW", 1},
                         {"PROGRAMS_PER_SM", 1}, {"CACHE_POLICY", 0}, {"ROW_RING", 1}};
  const auto refused = [&](const std::string& name, std::int64_t value, Problem p) {
    Settings settings = good;
    settings[name] = value;
    return operation.valid(Pass::forward, settings, p, target);
  };
  Problem odd = problem, short_rows = problem, too_long = problem;
  odd.columns = 32769, short_rows.columns = 8192, too_long.columns = 262144;
  EXPECT_EQ(refused("ROW_RING", 1, problem), "");
  EXPECT_EQ(refused("ROW_RING", 1, odd), "a ring (ROW_RING) needs rows of whole 16-byte vectors");
  EXPECT_EQ(refused("ROW_RING", 1, short_rows), "ROW_RING must be 0 where the threads' registers hold a row");
  EXPECT_EQ(refused("ROW_RING", 1, too_long), "the ring and the threads' registers must hold a row");
  EXPECT_EQ(refused("BLOCK_ROW", 2, problem), "a ring holds one row");
  EXPECT_EQ(refused("PROGRAMS_PER_SM", 2, problem), "");
  EXPECT_EQ(refused("PROGRAMS_PER_SM", 3, problem), "a multiprocessor has room for two rings at most");
  EXPECT_EQ(refused("VECTORS", 4, problem), "VECTORS must be 2 where a row lies in a ring");
  EXPECT_EQ(refused("num_warps", 32, problem), "a ring needs 4 to 16 warps, and one more that fills it");
}

TEST(CudaSettings, SharedMemoryHoldsTheStagesOrTheSumsWhereTheyMeet) {
  RowSpace space;
  space.streamed_operands = 2;
  CudaRowConfig config;
  config.num_warps = 8;
  config.vectors = 2;
  config.num_stages = 3;
  const Problem problem = {100, 4096, 0, DType::bf16, {}};
  EXPECT_EQ(cuda_shared_bytes(space, config, problem), 3 * 2 * 256 * 2 * 16);
  config.num_stages = 0;
  EXPECT_EQ(cuda_shared_bytes(space, config, problem), 0);
  space.has_programs_per_thread = true;
  config.block_row = 2;
  EXPECT_EQ(cuda_shared_bytes(space, config, problem), 256 * 2 * 8 * 4);
}

TEST(CudaSettings, NotesOnAGpuNameNothingThatOnlyACpuHas) {
  const Target gpu = {Machine::cuda, 132}, cpu = {Machine::cpu, 4};
  for (const auto& operation : catalog()) {
    const Problem problem = operation->problem_at(operation->default_sizes(gpu, DType::bf16).front(), gpu, DType::bf16,
                                                  default_options(*operation));
    const SourceNotes written = operation->source_notes(problem), seen = source_notes_on(gpu, written);
    for (const std::string& text : {seen.stride_pattern, seen.cache_modifiers, seen.constexpr_parameters}) {
      for (const char* word : {"STREAMING_STORES", "UNROLL", "VECTOR_BYTES", "PREFETCH", "core"}) {
        EXPECT_EQ(text.find(word), std::string::npos) << operation->name() << ": " << text;
      }
    }
    EXPECT_EQ(seen.constexpr_parameters.rfind("ELEMENT", 0), 0u) << seen.constexpr_parameters;
    EXPECT_EQ(seen.algorithm, written.algorithm);
    EXPECT_EQ(source_notes_on(cpu, written).cache_modifiers, written.cache_modifiers);
  }
}

}  // namespace
}  // namespace kernels
