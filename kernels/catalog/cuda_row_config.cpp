// See cuda_row_config.hpp.
#include "kernels/catalog/cuda_row_config.hpp"

#include <algorithm>

namespace kernels {
namespace {

constexpr int most_threads_of_a_multiprocessor = 2048, registers_of_a_multiprocessor = 65536;
constexpr int most_vectors_of_a_thread = 8;
// A program may have 227 KiB of shared memory (compute capabilities 9.0 and 10.0): 14 slots of 16 warps with two vectors each.
// cross_entropy forward at 8192 x 128256 of bf16 on one H200: 1.11 ms by 16 warps, 1.26 by 8 (2026-11-30, results/h200/losses.md).
constexpr std::int64_t ring_bytes = 224 << 10;
constexpr int ring_vectors = 2, ring_warps = 16;
// Chunks that the threads may hold in registers beside the ring: 8 registers each.
constexpr std::int64_t most_kept_chunks = 6;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t power_of_two_from(std::int64_t value) {
  std::int64_t power = 1;
  while (power < value) power *= 2;
  return power;
}

// A pass that sums over rows walks over them with few programs; so does one whose operands come in bulk copies.
bool walks(const RowSpace& space, const CudaRowConfig& config) {
  return space.has_programs_per_thread || config.num_stages > 0 || config.row_ring > 0;
}

// A program for each block of rows, of one matrix that it reduces.
bool is_straight(const RowSpace& space, const CudaRowConfig& config) {
  return !walks(space, config) && space.reads_rows_twice && space.streamed_operands == 1;
}

std::int64_t slot_vectors(const CudaRowConfig& config) { return std::int64_t(config.threads()) * config.vectors; }
std::int64_t ring_slots(const CudaRowConfig& config) {
  return ring_bytes / config.programs_per_sm / (slot_vectors(config) * 16);
}
std::int64_t ring_chunks(const CudaRowConfig& config, const Problem& problem) {
  return ceil_div(row_vectors(problem), slot_vectors(config));
}

bool has_bulk_copies(const Target& target) { return target.compute_capability >= 90; }

// Registers that a thread needs for its vectors.
int registers_for(const RowSpace& space, int vectors, DType dtype) {
  return space.registers + space.registers_per_vector * vectors * vector_lanes(dtype) / 8;
}

bool has_registers(const RowSpace& space, int vectors, DType dtype, int threads) {
  const int registers = registers_for(space, vectors, dtype);
  return registers <= 255 && registers * threads <= registers_of_a_multiprocessor;
}

// Rows so long that no block of threads holds one.
bool exceeds_every_block(const RowSpace& space, const Problem& problem) {
  for (int threads = 1024; threads >= 32; threads /= 2) {
    int held = most_vectors_of_a_thread;
    while (held > 0 && !has_registers(space, held, problem.dtype, threads)) --held;
    if (std::int64_t(threads) * held >= row_vectors(problem)) return false;
  }
  return true;
}

std::string valid_ring(const CudaRowConfig& config, const Problem& problem) {
  if (!has_whole_vectors(problem)) return "a ring (ROW_RING) needs rows of whole 16-byte vectors";
  if (fits(config, problem)) return "ROW_RING must be 0 where the threads' registers hold a row";
  if (config.block_row > 1) return "a ring holds one row";
  if (config.programs_per_sm > 2) return "a multiprocessor has room for two rings at most";
  if (config.vectors != ring_vectors) return "VECTORS must be 2 where a row lies in a ring";
  if (config.num_warps < 4 || config.num_warps > 16) return "a ring needs 4 to 16 warps, and one more that fills it";
  if (ring_chunks(config, problem) > ring_slots(config) + most_kept_chunks)
    return "the ring and the threads' registers must hold a row";
  return "";
}

std::string valid_shape(const RowSpace& space, const CudaRowConfig& config, const Problem& problem) {
  const std::int64_t vectors = row_vectors(problem), threads = config.row_threads();
  const std::int64_t rows = std::max<std::int64_t>(problem.rows, 1);
  if (threads < 1) return "BLOCK_ROW must leave a thread for each row";
  if (threads > 32 && config.block_row > 8) return "more than 8 rows must have a warp each or less";
  if (config.block_row > power_of_two_from(rows)) return "BLOCK_ROW must be at most the number of rows";
  if (config.row_ring > 0) return valid_ring(config, problem);
  if (!fits(config, problem)) {
    if (config.block_row > 1) return "a row that exceeds its threads' vectors is worked on alone";
    // A row longer than that may be read twice: by few programs at a time it comes from a cache.
    const bool may_go_in_stretches = vectors > space.longest_held_vectors;
    if (space.keeps_rows() && !may_go_in_stretches && !exceeds_every_block(space, problem))
      return "NUM_WARPS * 32 / BLOCK_ROW * VECTORS must hold a row";
    return config.vectors == 4 ? "" : "VECTORS must be 4 where a row goes in chunks";
  }
  if (config.vectors > 1 && threads * (config.vectors - 1) >= vectors) return "fewer VECTORS hold the row";
  if (threads / 2 >= vectors && config.num_warps > 1) return "half of a row's threads would have nothing of it";
  return "";
}

}  // namespace

CudaRowConfig CudaRowConfig::from(const Settings& settings) {
  const auto value = [&](const char* name, int otherwise) {
    const auto found = settings.find(name);
    return found == settings.end() ? otherwise : static_cast<int>(found->second);
  };
  CudaRowConfig config;
  config.num_warps = value("num_warps", config.num_warps);
  config.vectors = value("VECTORS", config.vectors);
  config.block_row = value("BLOCK_ROW", config.block_row);
  config.num_stages = value("num_stages", config.num_stages);
  config.programs_per_sm = value("PROGRAMS_PER_SM", config.programs_per_sm);
  config.cache_policy = value("CACHE_POLICY", config.cache_policy);
  config.row_ring = value("ROW_RING", config.row_ring);
  return config;
}

int vector_lanes(DType dtype) { return 16 / size_of(dtype); }

std::int64_t row_vectors(const Problem& problem) {
  return std::max<std::int64_t>(ceil_div(problem.columns, vector_lanes(problem.dtype)), 1);
}

bool has_whole_vectors(const Problem& problem) {
  const int lanes = vector_lanes(problem.dtype);
  return problem.columns % lanes == 0 && problem.row_padding % lanes == 0;
}

bool fits(const CudaRowConfig& config, const Problem& problem) {
  return std::int64_t(config.row_threads()) * config.vectors >= row_vectors(problem);
}

std::vector<Knob> cuda_row_knobs(const RowSpace& space, const Target& target) {
  std::vector<Knob> knobs = {
      {"num_warps", {1, 2, 4, 8, 16, 32}, true, "warps of a program", "work-per-program"},
      {"VECTORS",
       {1, 2, 3, 4, 5, 6, 7, 8},
       true,
       "16-byte vectors of its row that a thread holds in registers",
       "unrolling"},
      {"BLOCK_ROW",
       {1, 2, 4, 8, 16, 32},
       true,
       "rows at a time, among which a program's threads are divided",
       "rows-per-program"},
      {"PROGRAMS_PER_SM",
       {1, 2, 3, 4, 6, 8},
       true,
       "programs that a multiprocessor has room for at once; the grid, where programs walk over rows",
       "grid-sizing"},
      {"CACHE_POLICY",
       {0, 1, 2},
       true,
       "0: cached; 1: results are evicted first; 2: operands too",
       "streaming-stores"}};
  if (space.streamed_operands > 0 && has_bulk_copies(target)) {
    knobs.push_back({"num_stages",
                     {0, 2, 3, 4},
                     true,
                     "blocks of rows under way in bulk copies to shared memory; 0: plain loads",
                     "prefetch-distance"});
  }
  if (space.has_ring && has_bulk_copies(target)) {
    knobs.push_back({"ROW_RING",
                     {0, 1},
                     true,
                     "1: a row longer than the registers lies in a circular shared-memory buffer, filled by a producer warp",
                     "reuse"});
  }
  return knobs;
}

std::string cuda_row_valid(const RowSpace& space, const Settings& settings, const Problem& problem,
                           const Target& target) {
  const std::vector<Knob> knobs = cuda_row_knobs(space, target);
  for (const Knob& knob : knobs) {
    const auto found = settings.find(knob.name);
    if (found == settings.end()) return knob.name + " has no value";
    if (std::find(knob.values.begin(), knob.values.end(), found->second) == knob.values.end()) {
      return knob.name + " can not be " + std::to_string(found->second);
    }
  }
  if (settings.size() != knobs.size()) return "there is a setting that is no knob of this pass";
  const CudaRowConfig config = CudaRowConfig::from(settings);
  if (const std::string wrong = valid_shape(space, config, problem); !wrong.empty()) return wrong;
  if (config.threads() * config.programs_per_sm > most_threads_of_a_multiprocessor) {
    return "num_warps * PROGRAMS_PER_SM must be at most 64, the warps of a multiprocessor";
  }
  if (!has_registers(space, config.vectors, problem.dtype, config.threads() * config.programs_per_sm)) {
    return "num_warps * PROGRAMS_PER_SM * VECTORS must leave each thread the registers it needs";
  }
  if (config.programs_per_sm > 1 && !walks(space, config) && config.threads() * config.programs_per_sm < 512) {
    return "PROGRAMS_PER_SM must be 1 where registers do not limit it";
  }
  if (config.num_stages > 0 && (!has_whole_vectors(problem) || !fits(config, problem))) {
    return "bulk copies (num_stages) need rows of whole 16-byte vectors that fit the threads' registers";
  }
  if (cuda_shared_bytes(space, config, problem) * config.programs_per_sm > target.shared_bytes) {
    return "the programs of a multiprocessor must share its " + std::to_string(target.shared_bytes) +
           " bytes of shared memory";
  }
  return "";
}

// What the measurements of the ladders say (one H200, bf16, 16384 rows, shares of the copy, 2026-11-30; results/h200/).
//   Sums over rows: two vectors a thread, 256 threads, two programs a multiprocessor, or 512 and one where a row needs them;
//   bulk copies two blocks of rows ahead, three where a program is alone (rms_norm backward 8192: 98 %; 32 warps of one vector
//   85 to 89 %; plain loads 69 %).
//   Rows read twice: four vectors a thread, 256 threads, and registers for four programs a multiprocessor (rms_norm forward
//   8192: 100 %; registers as the compiler likes 82 %; bulk copies 97 %). With two shared rows, loading those once is worth more:
//   programs walk over rows (layer_norm forward 4096: 93 %, otherwise 71 %; dyt 94 and 74 %), small ones where a row is short, so
//   that few threads wait for each other (layer_norm forward 1024: two rows of a warp each 0.0210 ms, four of two warps 0.0218;
//   4096: two warps of 8 vectors 0.0707, eight of 2 0.0724; dyt 0.0211, 0.0214; 0.0720, 0.0725; 8192: one program 0.140, two 0.145).
//   Two matrices and a shared row: bulk copies where a row is short (fused_add_rms_norm forward 1024: two rows of a warp each 0.0350
//   ms, plain loads 0.0373; 4096: plain loads 0.1314, the best bulk copies above 0.1327).
//   Elements alone: four vectors a thread and two rows a program (swiglu 105 %, one row 92 %), two vectors where a row is short (1024:
//   0.0265 ms, four 0.0270).
namespace {

// A vocabulary's row (cross_entropy forward on one H200, bf16, 8192 rows, results/h200/losses.md): in a ring (32768 columns: 0.290 ms
// with results evicted first, 0.295 without; 128256: 1.089 and 1.077). Where there is none in stretches, by 8 warps where the rows of all
// programs stay in the caches together (0.31 to 0.33 ms), beyond that by 32 warps, so that fewer rows are under way (1.40 ms with results
// evicted first, 8 warps 1.55).
Settings settings_of_long_rows(const RowSpace& space, const Problem& problem, const Target& target) {
  const bool is_very_long = row_vectors(problem) > 8192;
  const bool has_ring = space.has_ring && has_bulk_copies(target);
  if (has_ring) {
    const Settings in_ring = {{"num_warps", ring_warps},
                              {"VECTORS", ring_vectors},
                              {"BLOCK_ROW", 1},
                              {"PROGRAMS_PER_SM", 1},
                              {"CACHE_POLICY", !is_very_long && space.evicts_results ? 1 : 0},
                              {"ROW_RING", 1}};
    if (cuda_row_valid(space, in_ring, problem, target).empty()) return in_ring;
  }
  Settings settings = {{"num_warps", is_very_long ? 32 : 8},
                       {"VECTORS", 4},
                       {"BLOCK_ROW", 1},
                       {"PROGRAMS_PER_SM", 1},
                       {"CACHE_POLICY", is_very_long && space.evicts_results ? 1 : 0}};
  if (space.streamed_operands > 0) settings["num_stages"] = 0;
  if (has_ring) settings["ROW_RING"] = 0;
  return settings;
}

struct Wish {
  int vectors = 4, threads = 256, least_block_row = 1, programs_per_sm = 1, stages = 0;
};

Wish wish_for(const RowSpace& space, bool has_stages, std::int64_t vectors) {
  Wish wish;
  if (space.has_programs_per_thread) {
    wish.vectors = 2;
    wish.programs_per_sm = 2;
    wish.stages = vectors > 512 ? 3 : 2;
  } else if (has_stages && space.shared_rows > 1) {
    if (vectors > 512)
      wish = {2, 256, 1, 1, 3};
    else
      wish = vectors > 128 ? Wish{8, 64, 1, 4, 4} : Wish{4, 64, 1, 6, 3};
  } else if (has_stages && space.shared_rows > 0 && space.streamed_operands > 1 && vectors <= 128) {
    wish = {4, 64, 1, 8, 3};
  } else if (space.reads_rows_twice) {
    wish.programs_per_sm = 4;
  } else {
    wish.vectors = vectors <= 128 ? 2 : 4;
    wish.threads = 128;
    wish.least_block_row = 2;
  }
  return wish;
}

}  // namespace

Settings cuda_row_heuristic(const RowSpace& space, const Problem& problem, const Target& target) {
  const std::int64_t vectors = row_vectors(problem), rows = std::max<std::int64_t>(problem.rows, 1);
  const bool has_stages = space.streamed_operands > 0 && has_bulk_copies(target);
  const bool has_ring = space.has_ring && has_bulk_copies(target);
  const Wish wish = wish_for(space, has_stages, vectors);
  if (vectors > space.longest_held_vectors) return settings_of_long_rows(space, problem, target);
  Settings settings;
  for (std::int64_t held = wish.vectors; held <= most_vectors_of_a_thread; held *= 2) {
    // Rows short enough that a warp holds one go to a warp, at least.
    const std::int64_t least = std::min<std::int64_t>(32, power_of_two_from(vectors));
    const std::int64_t of_a_row = std::max(power_of_two_from(ceil_div(vectors, held)), least);
    if (of_a_row > 1024) continue;
    std::int64_t block_row = std::max<std::int64_t>(wish.threads / of_a_row, of_a_row > 256 ? 1 : wish.least_block_row);
    block_row = std::min({block_row, power_of_two_from(rows), std::int64_t{of_a_row > 32 ? 8 : 32}});
    const std::int64_t num_warps = std::max<std::int64_t>(of_a_row * block_row / 32, 1);
    settings = {{"num_warps", num_warps},
                {"VECTORS", ceil_div(vectors, 32 * num_warps / block_row)},
                {"BLOCK_ROW", block_row},
                {"CACHE_POLICY", 0}};
    if (has_ring) settings["ROW_RING"] = 0;
    for (const std::int64_t stages : {wish.stages, 0}) {
      if (has_stages) settings["num_stages"] = stages;
      for (std::int64_t programs = wish.programs_per_sm; programs > 0; --programs) {
        settings["PROGRAMS_PER_SM"] = programs;
        if (cuda_row_valid(space, settings, problem, target).empty()) return settings;
      }
    }
  }
  // In chunks. With results beside what is read 16 warps (cross_entropy backward on one H200, 8192 x 128256 of bf16: 94 % of the
  // copy, by 8 warps 90; grpo_loss backward 93 and 91), without 8 (its forward: 106 %, by 16 warps 100; results/h200/losses.md).
  settings = {{"num_warps", 16}, {"VECTORS", 4}, {"BLOCK_ROW", 1}, {"PROGRAMS_PER_SM", 1}, {"CACHE_POLICY", 0}};
  if (has_stages) settings["num_stages"] = 0;
  if (has_ring) settings["ROW_RING"] = 0;
  if (space.output_bytes <= 0 || !cuda_row_valid(space, settings, problem, target).empty()) settings["num_warps"] = 8;
  return settings;
}

Defines cuda_row_defines(const RowSpace& space, const CudaRowConfig& config, const Problem& problem, Pass pass,
                         Ablation ablation) {
  const bool whole = has_whole_vectors(problem), held = fits(config, problem);
  const bool fills =
      whole && std::int64_t(config.row_threads()) * config.vectors == row_vectors(problem) && problem.columns > 0;
  return {{"NUM_WARPS", std::to_string(config.num_warps)},
          {"VECTORS", std::to_string(config.vectors)},
          {"BLOCK_ROW", std::to_string(config.block_row)},
          {"NUM_STAGES", std::to_string(config.num_stages)},
          {"STREAMED_OPERANDS", std::to_string(space.streamed_operands)},
          {"RING_SLOTS", std::to_string(config.row_ring > 0 ? ring_slots(config) : 0)},
          {"ROW_CHUNKS", std::to_string(config.row_ring > 0 ? ring_chunks(config, problem) : 1)},
          {"MIN_PROGRAMS", std::to_string(config.programs_per_sm)},
          {"CACHE_POLICY", std::to_string(config.cache_policy)},
          {"STRAIGHT", is_straight(space, config) ? "1" : "0"},
          {"ROW_FIT", !held   ? "FIT_CHUNKED"
                      : fills ? "FIT_EXACT"
                              : "FIT_ANY"},
          {"WHOLE_VECTORS", whole ? "1" : "0"},
          {"ELEMENT", name_of(problem.dtype)},
          {"TILE_PASS", pass == Pass::forward ? "TILE_FORWARD" : "TILE_BACKWARD"},
          {"TILE_ABLATION", std::to_string(static_cast<int>(ablation))}};
}

std::int64_t cuda_shared_bytes(const RowSpace& space, const CudaRowConfig& config, const Problem& problem) {
  const std::int64_t slot = slot_vectors(config) * 16;
  if (config.row_ring > 0) return ring_slots(config) * slot;
  const std::int64_t slots = slot * config.num_stages * space.streamed_operands;
  const bool joins = space.has_programs_per_thread && config.block_row > 1;
  return std::max(slots, joins ? slot / size_of(problem.dtype) * 4 : 0);
}

RowConfig on_cuda(const RowSpace& space, const CudaRowConfig& config, const Problem& problem, const Target& target) {
  RowConfig row;
  row.block_row = config.block_row;
  row.num_threads = config.threads();
  row.shared_bytes = cuda_shared_bytes(space, config, problem);
  row.walking_programs = std::int64_t(std::max(target.cores, 1)) * config.programs_per_sm;
  row.walks = walks(space, config);
  row.filling_threads = config.row_ring > 0 ? 32 : 0;
  return row;
}

SourceNotes source_notes_on(const Target& target, SourceNotes notes) {
  if (target.machine != Machine::cuda) return notes;
  notes.stride_pattern =
      "unit stride along a row, rows contiguous or padded; a row that fits the registers of its threads is read once, "
      "as "
      "16-byte vectors; a longer one is read in stretches, again for each use";
  notes.cache_modifiers =
      "CACHE_POLICY: 0 as the hardware caches, 1 results are evicted first, 2 operands too; with num_stages above 0 "
      "operands "
      "come by bulk copies into shared memory";
  // What the options fix stands first in every list, the CPU's settings from BLOCK_ROW on.
  notes.constexpr_parameters = notes.constexpr_parameters.substr(0, notes.constexpr_parameters.find("BLOCK_ROW")) +
                               "BLOCK_ROW, NUM_WARPS, VECTORS, NUM_STAGES, STREAMED_OPERANDS, RING_SLOTS, ROW_CHUNKS, "
                               "MIN_PROGRAMS, CACHE_POLICY, "
                               "STRAIGHT, ROW_FIT, WHOLE_VECTORS";
  return notes;
}

}  // namespace kernels
