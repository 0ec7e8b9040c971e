// See row_config.hpp.
#include "kernels/catalog/row_config.hpp"

#include <algorithm>

namespace kernels {
namespace {

std::vector<std::int64_t> vector_widths(const Target& target) {
  std::vector<std::int64_t> widths;
  for (const int bytes : {64, 32, 16}) {
    if (bytes <= target.vector_bytes && widths.size() < 2) widths.push_back(bytes);
  }
  return widths.empty() ? std::vector<std::int64_t>{16} : widths;
}

std::vector<std::int64_t> thread_counts(const Target& target) {
  if (target.cores <= 1) return {1};
  return {target.cores, target.cores / 2};
}

bool contains(const std::vector<std::int64_t>& values, std::int64_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace

RowConfig RowConfig::from(const Settings& settings) {
  const auto value = [&](const char* name, std::int64_t otherwise) {
    const auto found = settings.find(name);
    return static_cast<int>(found == settings.end() ? otherwise : found->second);
  };
  RowConfig config;
  config.block_row = value("BLOCK_ROW", config.block_row);
  config.unroll = value("UNROLL", config.unroll);
  config.vector_bytes = value("VECTOR_BYTES", config.vector_bytes);
  config.prefetch = value("PREFETCH", config.prefetch);
  config.prefetch_rows = value("PREFETCH_ROWS", config.prefetch_rows);
  config.streaming_stores = value("STREAMING_STORES", config.streaming_stores) != 0;
  config.num_threads = value("num_threads", config.num_threads);
  config.programs_per_thread = value("PROGRAMS_PER_THREAD", config.programs_per_thread);
  return config;
}

std::vector<Knob> row_knobs(const RowSpace& space, const Target& target) {
  std::vector<Knob> knobs = {
      {"BLOCK_ROW", space.block_rows, true, "rows worked on together, so that what rows share is read once for all",
       "rows-per-program"},
      {"UNROLL", space.unrolls, true, "vectors in flight of each row: independent sums, unrolled stores", "unrolling"},
      {"VECTOR_BYTES", vector_widths(target), true, "width of a vector of fp32 values", "access-width"},
      {"STREAMING_STORES", {0, 1}, true, "results bypass the caches, without a read for ownership", "streaming-stores"},
      {"num_threads", thread_counts(target), false, "worker threads", "thread-count"}};
  if (space.reads_rows_twice) {
    knobs.push_back({"PREFETCH_ROWS",
                     space.sums_then_maps ? std::vector<std::int64_t>{0, 1, 2} : std::vector<std::int64_t>{0, 1}, true,
                     "1: the next rows are prefetched while the present ones are worked on, half in each of the two "
                     "readings; 2: they are summed while the present ones are mapped, and those after them prefetched",
                     "prefetch-distance"});
  } else {
    knobs.push_back({"PREFETCH", space.prefetches, true,
                     "bytes prefetched ahead of the first read; 0 leaves it to the hardware", "prefetch-distance"});
  }
  if (space.has_programs_per_thread) {
    knobs.push_back({"PROGRAMS_PER_THREAD",
                     {1, 4},
                     false,
                     "programs that a thread's rows are divided among; each has its own partial sums",
                     "grid-sizing"});
  }
  return knobs;
}

std::string row_valid(const RowSpace& space, const Settings& settings, const Problem& problem, const Target& target) {
  const std::vector<Knob> knobs = row_knobs(space, target);
  for (const Knob& knob : knobs) {
    const auto found = settings.find(knob.name);
    if (found == settings.end()) return knob.name + " has no value";
    if (!contains(knob.values, found->second)) return knob.name + " can not be " + std::to_string(found->second);
  }
  if (settings.size() != knobs.size()) return "there is a setting that is no knob of this pass";
  const RowConfig config = RowConfig::from(settings);
  if (config.block_row * config.unroll > space.most_vectors) {
    return "BLOCK_ROW * UNROLL must be at most " + std::to_string(space.most_vectors) + ": more vectors than registers";
  }
  if (config.block_row > std::max<std::int64_t>(problem.rows, 1)) return "BLOCK_ROW must be at most the number of rows";
  if (config.unroll > 1 && config.unroll * (config.vector_bytes / 4) > problem.columns) {
    return "UNROLL vectors must fit in a row";
  }
  if (config.sums_beside() && !config.streaming_stores) {
    return "PREFETCH_ROWS 2 keeps reads and writes of memory side by side: STREAMING_STORES must be 1";
  }
  if (config.programs_per_thread > 1 && config.num_threads == 1) {
    return "PROGRAMS_PER_THREAD balances threads: with one thread it must be 1";
  }
  return "";
}

// Results of more than half the last-level cache are pushed out of it by the operands that pass through it too, so they
// bypass it; results in place are in the cache already. Rows that come from memory and are read twice are prefetched, because
// the second reading leaves the hardware's prefetcher without a miss to follow: rms_norm forward in fp32 was 15 to 25 %
// faster with it at every size. Otherwise unit strides are left to the hardware.
// Two vectors in flight hide the latency of an addition where data comes from the caches; with the rows prefetched one was
// up to 10 % faster. Two rows together pay in 16 bits, where what they share is widened once for both (5 to 10 %), and with the
// rows prefetched in fp32 too (shares of the copy at 4096 columns: rms_norm backward 61 to 74 %, fused_add_rms_norm forward 77 to
// 85 %, layer_norm backward 47 to 53 %, with a copy of 76 to 78 GB/s).
// Sums beside the map, two vectors of each of four rows in fp32 and of two in 16 bits: rms_norm forward at 4096 columns from 91 to
// 99 % of the copy in fp32 and from 96 to 100 % in bf16 with a copy of 47 GB/s, from 77 to 84 % and from 64 to 77 % with one of 74
// to 77. One row alone is slower so than with its halves prefetched where memory is fast (71 %): its weight comes from the
// second-level cache for each row.
Settings row_heuristic(const RowSpace& space, const Problem& problem, const Target& target) {
  const std::int64_t widest = vector_widths(target).front();
  const bool exceeds_cache = 2 * space.output_bytes > double(target.last_level_bytes);
  const bool prefetches_rows = space.reads_rows_twice && exceeds_cache;
  const bool beside = prefetches_rows && space.sums_then_maps && space.sums_beside_pay && problem.rows >= 4 &&
                      2 * (widest / 4) <= problem.columns;
  const bool two_rows = space.rows_share && problem.rows >= 2 && (size_of(problem.dtype) < 4 || prefetches_rows);
  const std::int64_t block_row = beside ? (size_of(problem.dtype) < 4 ? 2 : 4) : two_rows ? 2 : 1;
  const std::int64_t unroll = !beside && (prefetches_rows || 2 * (widest / 4) > problem.columns) ? 1 : 2;
  Settings settings = {{"BLOCK_ROW", block_row},
                       {"UNROLL", unroll},
                       {"VECTOR_BYTES", widest},
                       {"STREAMING_STORES", exceeds_cache && !space.in_place ? 1 : 0},
                       {"num_threads", std::max(target.cores, 1)}};
  if (space.reads_rows_twice) {
    settings["PREFETCH_ROWS"] = beside ? 2 : prefetches_rows ? 1 : 0;
  } else {
    settings["PREFETCH"] = 0;
  }
  if (space.has_programs_per_thread) settings["PROGRAMS_PER_THREAD"] = 1;
  return settings;
}

Defines row_defines(const RowConfig& config, const Problem& problem, Pass pass, Ablation ablation) {
  return {{"BLOCK_ROW", std::to_string(config.block_row)},
          {"UNROLL", std::to_string(config.unroll)},
          {"VECTOR_BYTES", std::to_string(config.vector_bytes)},
          {"PREFETCH", std::to_string(config.prefetch)},
          {"PREFETCH_ROWS", std::to_string(config.prefetch_rows)},
          {"STREAMING_STORES", config.streaming_stores ? "1" : "0"},
          {"ELEMENT", name_of(problem.dtype)},
          {"TILE_PASS", pass == Pass::forward ? "TILE_FORWARD" : "TILE_BACKWARD"},
          {"TILE_ABLATION", std::to_string(static_cast<int>(ablation))}};
}

namespace {

// Programs of BLOCK_ROW rows at a time, at most `most`; which rows each has is the machine's business.
RowGrid cuda_grid(const RowConfig& config, const Problem& problem, bool walks) {
  const std::int64_t blocks = (problem.rows + config.block_row - 1) / config.block_row;
  const std::int64_t programs = walks ? std::min(blocks, config.walking_programs) : blocks;
  return {programs, (problem.rows + programs - 1) / programs};
}

}  // namespace

RowGrid independent_rows(const RowConfig& config, const Problem& problem) {
  if (problem.rows <= 0) return {0, 1};
  if (config.is_cuda()) return cuda_grid(config, problem, config.walks);
  const std::int64_t row_bytes = std::max<std::int64_t>(problem.columns * size_of(problem.dtype), 1);
  const std::int64_t block_row = config.block_row;
  std::int64_t wanted = std::max<std::int64_t>((64 << 10) / row_bytes, 1);
  if (config.sums_beside()) {
    const std::int64_t threads = std::max(config.num_threads, 1);
    wanted = std::max((problem.rows + threads - 1) / threads, wanted);
  }
  const std::int64_t rows_per_program = (wanted + block_row - 1) / block_row * block_row;
  return {(problem.rows + rows_per_program - 1) / rows_per_program, rows_per_program};
}

RowGrid accumulated_rows(const RowConfig& config, const Problem& problem) {
  if (problem.rows <= 0) return {0, 1};
  if (config.is_cuda()) return cuda_grid(config, problem, true);
  const std::int64_t wanted = std::int64_t(std::max(config.num_threads, 1)) * config.programs_per_thread;
  const std::int64_t block_row = config.block_row;
  std::int64_t rows_per_program = (problem.rows + wanted - 1) / wanted;
  rows_per_program = (rows_per_program + block_row - 1) / block_row * block_row;
  return {(problem.rows + rows_per_program - 1) / rows_per_program, rows_per_program};
}

}  // namespace kernels
