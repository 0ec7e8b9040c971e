// Generates inputs. See inputs.hpp.
#include "measure/inputs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "measure/random.hpp"
#include "measure/statistics.hpp"

namespace hone::measure {

namespace {

constexpr std::size_t kBlock = 8192;                  // elements of one stream
constexpr std::size_t kElementsForAThread = 1 << 18;  // fewer are not worth a thread
constexpr int kCellBits = 11;
constexpr std::size_t kCells = 1u << kCellBits;
constexpr double kSteps = 0x1p20;  // of the tables, for one standard deviation

// Quantiles of |N(0, 1)| at i / kCells, and the same again for its last cell.
struct NormalTable {
  std::array<std::int32_t, kCells + 1> body, tail;

  NormalTable() {
    for (std::size_t i = 0; i <= kCells; ++i) {
      const double share = static_cast<double>(i) / kCells;
      body[i] = steps_of(1 - share);
      tail[i] = steps_of((1 - share) / kCells);
    }
  }

  // The magnitude that |N(0, 1)| exceeds with probability `above`, in steps.
  static std::int32_t steps_of(double above) {
    const double magnitude = above > 0 ? -normal_quantile(above / 2) : 6;
    return static_cast<std::int32_t>(std::lround(magnitude * kSteps));
  }
};

// One value from 32 random bits: sign, cell, place in the cell. In the last cell the place is a cell of the tail's table.
inline std::int32_t normal_steps(const NormalTable& table, std::uint32_t bits) {
  constexpr int kPlaceBits = 31 - kCellBits, kTailPlaceBits = kPlaceBits - kCellBits;
  const std::uint32_t cell = (bits >> kPlaceBits) & (kCells - 1);
  const std::uint32_t place = bits & ((1u << kPlaceBits) - 1);
  std::int64_t magnitude;
  if (cell < kCells - 1) [[likely]] {
    const std::int64_t width = table.body[cell + 1] - table.body[cell];
    magnitude = table.body[cell] + ((width * place) >> kPlaceBits);
  } else {
    const std::uint32_t tail_cell = place >> kTailPlaceBits;
    const std::int64_t width = table.tail[tail_cell + 1] - table.tail[tail_cell];
    magnitude = table.tail[tail_cell] + ((width * (place & ((1u << kTailPlaceBits) - 1))) >> kTailPlaceBits);
  }
  return static_cast<std::int32_t>((bits >> 31) != 0 ? -magnitude : magnitude);
}

// Draws two 32-bit words from each 64-bit one.
class HalfWords {
 public:
  HalfWords(std::uint64_t seed, std::uint64_t stream) : random_(seed, stream) {}
  std::uint32_t next() {
    if (has_second_) {
      has_second_ = false;
      return second_;
    }
    const std::uint64_t word = random_.next();
    second_ = static_cast<std::uint32_t>(word);
    has_second_ = true;
    return static_cast<std::uint32_t>(word >> 32);
  }

 private:
  Random random_;
  std::uint32_t second_ = 0;
  bool has_second_ = false;
};

void draw_distribution(const InputSpec& spec, std::uint64_t block, double* values, std::size_t count) {
  if (spec.distribution == Distribution::labels) {
    Random random(spec.seed, block);
    const auto labels = static_cast<unsigned __int128>(spec.scale);
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = spec.offset + static_cast<double>(static_cast<std::uint64_t>((random.next() * labels) >> 64));
    }
    return;
  }
  HalfWords words(spec.seed, block);
  if (spec.distribution == Distribution::uniform) {
    for (std::size_t i = 0; i < count; ++i) values[i] = spec.offset + spec.scale * ((words.next() >> 8) * 0x1p-24);
    return;
  }
  static const NormalTable table;
  const double step = spec.scale / kSteps;
  for (std::size_t i = 0; i < count; ++i) values[i] = spec.offset + step * normal_steps(table, words.next());
}

void draw_block(const InputSpec& spec, std::uint64_t block, double* values, std::size_t count) {
  draw_distribution(spec, block, values, count);
  if (spec.rare_share <= 0) return;
  Random random(~spec.seed, block);  // a stream of its own: the other elements keep their values
  for (std::size_t i = 0; i < count; ++i) {
    if (static_cast<double>(random.next() >> 11) * 0x1p-53 < spec.rare_share) values[i] = spec.rare_value;
  }
}

void fill_blocks(const InputSpec& spec, unsigned char* to, std::size_t elements, std::size_t first,
                 std::size_t stride) {
  std::array<double, kBlock> values;
  for (std::size_t block = first; block * kBlock < elements; block += stride) {
    const std::size_t start = block * kBlock, count = std::min(kBlock, elements - start);
    draw_block(spec, block, values.data(), count);
    encode(spec.dtype, values.data(), count, to + start * size_of(spec.dtype));
  }
}

}  // namespace

void fill(const InputSpec& spec, void* to, std::size_t elements, int threads) {
  auto* bytes = static_cast<unsigned char*>(to);
  if (elements == 0) return;
  if (spec.distribution == Distribution::zeros) {
    std::memset(bytes, 0, elements * size_of(spec.dtype));
    return;
  }
  std::size_t workers =
      threads > 0 ? static_cast<std::size_t>(threads) : std::max(1u, std::thread::hardware_concurrency());
  if (threads <= 0) workers = std::clamp<std::size_t>(elements / kElementsForAThread, 1, workers);
  std::vector<std::thread> others;
  for (std::size_t worker = 1; worker < workers; ++worker) {
    others.emplace_back([&, worker] { fill_blocks(spec, bytes, elements, worker, workers); });
  }
  fill_blocks(spec, bytes, elements, 0, workers);
  for (std::thread& other : others) other.join();
}

}  // namespace hone::measure
