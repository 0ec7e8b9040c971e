// See fused_linear_cross_entropy_config.hpp.
#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy_config.hpp"

#include <algorithm>

#include "kernels/catalog/row_operation.hpp"

namespace kernels::fused_linear_cross_entropy {
namespace {

constexpr const char* chunk_knob = "CHUNK_ROWS";
// Chunks are divided in steps of a matrix product's tile, so that none of a product's tiles is cut.
constexpr std::int64_t chunk_step = 128;

// 0: the pass has no chunks.
std::vector<std::int64_t> chunk_sizes(const Target& target) {
  if (target.machine == Machine::cuda) return {256, 512, 1024, 2048, 4096, 8192};
  return {128, 512, 2048};
}

// A chunk of which more than half would be empty is the chunk of half its size.
bool is_too_large(std::int64_t chunk, std::int64_t least, const Problem& problem) {
  return chunk > least && chunk / 2 >= problem.rows;
}

bool reduces(const Problem& problem) { return problem.options.at("reduction") != "none"; }

Settings without_chunk(Settings settings) {
  settings.erase(chunk_knob);
  return settings;
}

}  // namespace

bool scales_gradients(Pass pass, const Problem& problem) { return pass == Pass::backward && reduces(problem); }
bool has_gradients(Pass pass, const Problem& problem) { return (pass == Pass::forward) == reduces(problem); }

std::int64_t logits_stride(const Problem& problem) {
  const std::int64_t lanes = 16 / size_of(problem.dtype);
  return (problem.columns + lanes - 1) / lanes * lanes;
}

std::vector<Chunk> chunks_of(const Problem& problem, std::int64_t most_rows) {
  const std::int64_t rows = problem.rows, most = std::max<std::int64_t>(most_rows, 1);
  if (rows <= most) return {{0, rows}};
  const std::int64_t count = (rows + most - 1) / most, even = (rows + count - 1) / count;
  const std::int64_t each = std::min(most, (even + chunk_step - 1) / chunk_step * chunk_step);
  std::vector<Chunk> chunks;
  for (std::int64_t first = 0; first < rows; first += each) chunks.push_back({first, std::min(each, rows - first)});
  return chunks;
}

Problem row_problem(Pass pass, const Problem& problem, std::int64_t chunk_rows) {
  Problem rows = problem;
  if (scales_gradients(pass, problem)) {
    rows.rows = problem.columns;
    rows.columns = problem.depth;
    return rows;
  }
  rows.rows = chunks_of(problem, chunk_rows).front().rows;
  rows.row_padding = logits_stride(problem) - problem.columns;
  return rows;
}

RowSpace space(Pass pass) {
  RowSpace space;
  space.block_rows = {1, 2};
  space.in_place = true;
  space.most_vectors = 4;  // the exponential takes a dozen registers beside each vector in flight
  // CUDA: no bulk copies, because rows that are left out are not read; one vector's logits beside its exponentials.
  space.registers = 32;
  space.registers_per_vector = 20;
  if (pass == Pass::forward) {
    space.block_rows = {1};
    space.unrolls = {1, 2};
    space.reads_rows_twice = true;
    space.longest_held_vectors = 2048;
    space.has_ring = true;
    space.evicts_results = false;    // the next product reads them
    space.registers_per_vector = 8;  // as in cross_entropy
  }
  return space;
}

RowSpace space(Pass pass, const Problem& problem) {
  RowSpace result = space(pass);
  result.output_bytes = double(problem.rows) * double(problem.columns) * size_of(problem.dtype);
  return result;
}

std::vector<Knob> knobs(Pass pass, const Target& target) {
  std::vector<Knob> knobs = knobs_on(target, space(pass));
  std::vector<std::int64_t> sizes = chunk_sizes(target);
  if (pass == Pass::backward) sizes.insert(sizes.begin(), 0);
  for (Knob& knob : knobs) {
    // The gradient that replaces the logits is read by the next product: it must not bypass the caches, nor leave them first.
    const bool bypasses = knob.name == "STREAMING_STORES" || (knob.name == "CACHE_POLICY" && pass == Pass::forward);
    if (bypasses) knob.values = {0};
  }
  knobs.push_back({chunk_knob, sizes, false,
                   "rows whose logits live at a time: more make larger matrix products, fewer take less memory",
                   "rows-per-program"});
  return knobs;
}

std::string valid(Pass pass, const Settings& settings, const Problem& problem, const Target& target) {
  for (const Knob& knob : knobs(pass, target)) {
    const auto found = settings.find(knob.name);
    if (found == settings.end()) return knob.name + " has no value";
    if (std::find(knob.values.begin(), knob.values.end(), found->second) == knob.values.end()) {
      return knob.name + " can not be " + std::to_string(found->second);
    }
  }
  const std::int64_t chunk = settings.at(chunk_knob);
  const bool scales = scales_gradients(pass, problem);
  if (scales != (chunk == 0)) return "CHUNK_ROWS must be 0 where gradients are only multiplied, and only there";
  const std::int64_t least = chunk_sizes(target).front();
  if (is_too_large(chunk, least, problem)) return "CHUNK_ROWS must be less than twice the number of rows";
  const Problem rows = row_problem(pass, problem, chunk);
  return fault_on(target, space(pass, rows), without_chunk(settings), rows);
}

// CUDA: 2048 rows. The three products alone, 8192 x 4096 x 128256 in bf16 on an H200, in chunks of 256, 512, 1024, 2048 and 8192
// rows: 499, 601, 647, 666 and 680 TFLOP/s, while the chunk's logits hold 0.07, 0.13, 0.26, 0.53 and 2.1 GB. At 2048 a fiftieth of
// the rate is left, and the logits hold half of what the weight's gradient does.
// CPU: 512 rows: each chunk reads and writes the weight's gradient once, which at 512 rows is a tenth of the time of its
// product at 50 operations a byte.
Settings heuristic(Pass pass, const Problem& problem, const Target& target) {
  std::int64_t chunk = 0;
  if (!scales_gradients(pass, problem)) {
    const std::int64_t wanted = target.machine == Machine::cuda ? 2048 : 512;
    for (const std::int64_t size : chunk_sizes(target)) {
      if (size > wanted || is_too_large(size, chunk_sizes(target).front(), problem)) break;
      chunk = size;
      if (size >= problem.rows) break;
    }
  }
  const Problem rows = row_problem(pass, problem, chunk);
  Settings settings = heuristic_on(target, space(pass, rows), rows);
  settings[chunk_knob] = chunk;
  return settings;
}

}  // namespace kernels::fused_linear_cross_entropy
