// See matrix_product.hpp.
#include "device/cpu/matrix_product.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "device/cpu/launch_plan.hpp"
#include "device/product_bytes.hpp"

namespace hone::device::cpu {

namespace {

constexpr int row_major = 101, not_transposed = 111, transposed = 112;  // CBLAS enumerators

using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);

struct Blas {
  Sgemm sgemm = nullptr;
  base::Error missing;
};

// Opened once for the life of the process; its own threads are not used.
const Blas& blas() {
  static const Blas library = [] {
    constexpr const char* name = "libopenblas.so.0";
    Blas opened;
    void* handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    const char* why = handle == nullptr ? ::dlerror() : "it has no cblas_sgemm";
    if (handle != nullptr) opened.sgemm = reinterpret_cast<Sgemm>(::dlsym(handle, "cblas_sgemm"));
    if (opened.sgemm == nullptr) {
      opened.missing = {base::ErrorKind::preflight, fmt::format("{} for matrix products on the CPU", name),
                        why == nullptr ? "it can not be opened" : why, "cpu", "apt-get install libopenblas0"};
    } else if (auto* set_threads = reinterpret_cast<void (*)(int)>(::dlsym(handle, "openblas_set_num_threads"))) {
      set_threads(1);
    }
    return opened;
  }();
  return library;
}

float widened_half(std::uint16_t half) {
  const std::uint32_t sign = std::uint32_t{half & 0x8000u} << 16, magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  // The exponents differ by 112; the product normalizes subnormals.
  const float value = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
}

std::uint16_t narrowed_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  std::uint32_t half = 0;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00;
  } else if (magnitude >= 0x477ff000u) {
    half = 0x7c00;
  } else if (magnitude < 113u << 23) {
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;  // the sum rounds
  } else {
    half = (magnitude - (112u << 23) + ((magnitude >> 13 & 1u) + 0xfffu)) >> 13;
  }
  return static_cast<std::uint16_t>(half | sign);
}

float widened_brain(std::uint16_t brain) { return std::bit_cast<float>(std::uint32_t{brain} << 16); }

std::uint16_t narrowed_brain(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (value != value) return static_cast<std::uint16_t>((bits | 0x400000u) >> 16);
  return static_cast<std::uint16_t>((bits + ((bits >> 16 & 1u) + 0x7fffu)) >> 16);
}

// rows x columns of a matrix to a dense fp32 tile, and back.
void widen(float* to, const std::byte* from, std::int64_t stride, DType type, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::byte* row = from + static_cast<std::size_t>(r * stride) * size_of(type);
    float* out = to + r * columns;
    if (type == DType::fp32) {
      std::memcpy(out, row, static_cast<std::size_t>(columns) * 4);
      continue;
    }
    for (std::int64_t c = 0; c < columns; ++c) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, row + 2 * c, 2);
      out[c] = type == DType::bf16 ? widened_brain(bits) : widened_half(bits);
    }
  }
}
void narrow(std::byte* to, const float* from, std::int64_t stride, DType type, std::int64_t rows,
            std::int64_t columns) {
  for (std::int64_t r = 0; r < rows; ++r) {
    std::byte* row = to + static_cast<std::size_t>(r * stride) * size_of(type);
    const float* in = from + r * columns;
    if (type == DType::fp32) {
      std::memcpy(row, in, static_cast<std::size_t>(columns) * 4);
      continue;
    }
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::uint16_t bits = type == DType::bf16 ? narrowed_brain(in[c]) : narrowed_half(in[c]);
      std::memcpy(row + 2 * c, &bits, 2);
    }
  }
}

// Tiles of 16-bit products: a, b and c together 2.5 MiB of fp32, which stay in the second and last level caches. Widening a
// tile of b is a tenth of the arithmetic on it.
constexpr std::int64_t tile_m = 256, tile_n = 512, tile_k = 512;

// One operand's tile: rows [first, first + count) of the result's side, [k, k + depth) of the sum's.
struct Operand {
  const std::byte* data;
  std::int64_t stride;
  bool k_is_row;  // whether consecutive k lie a stride apart
  DType type;
  std::vector<float> tile;

  void load(std::int64_t first, std::int64_t count, std::int64_t k, std::int64_t depth) {
    const std::int64_t row = k_is_row ? k : first, column = k_is_row ? first : k;
    const std::int64_t rows = k_is_row ? depth : count, columns = k_is_row ? count : depth;
    tile.resize(static_cast<std::size_t>(rows * columns));
    widen(tile.data(), data + static_cast<std::size_t>(row * stride + column) * size_of(type), stride, type, rows,
          columns);
  }
};

// Whether the library can take the operands where they lie: fp32, and extents and strides that its 32-bit integers hold.
bool in_place(const PreparedProduct& p) {
  const std::int64_t most = std::numeric_limits<int>::max();
  return p.input == DType::fp32 && p.output == DType::fp32 && p.k > 0 && p.m <= most && p.n <= most && p.k <= most &&
         p.a_stride <= most && p.b_stride <= most && p.c_stride <= most;
}

void run_in_place(const PreparedProduct& p, std::int64_t m0, std::int64_t m1, std::int64_t n0, std::int64_t n1) {
  const auto* a = reinterpret_cast<const float*>(p.a) + (p.a_transposed ? m0 : m0 * p.a_stride);
  const auto* b = reinterpret_cast<const float*>(p.b) + (p.b_transposed ? n0 * p.b_stride : n0);
  auto* c = reinterpret_cast<float*>(p.c) + m0 * p.c_stride + n0;
  const auto small = [](std::int64_t value) { return static_cast<int>(value); };
  blas().sgemm(row_major, p.a_transposed ? transposed : not_transposed, p.b_transposed ? transposed : not_transposed,
               small(m1 - m0), small(n1 - n0), small(p.k), 1.0f, a, small(p.a_stride), b, small(p.b_stride), p.beta, c,
               small(p.c_stride));
}

// Rows [m0, m1) and columns [n0, n1) of the result.
void run_part(const PreparedProduct& p, std::int64_t m0, std::int64_t m1, std::int64_t n0, std::int64_t n1) {
  if (m0 >= m1 || n0 >= n1) return;
  if (in_place(p)) return run_in_place(p, m0, m1, n0, n1);
  Operand a{p.a, p.a_stride, p.a_transposed, p.input, {}}, b{p.b, p.b_stride, !p.b_transposed, p.input, {}};
  std::vector<float> c;
  for (std::int64_t m = m0; m < m1; m += tile_m) {
    const std::int64_t rows = std::min(tile_m, m1 - m);
    for (std::int64_t n = n0; n < n1; n += tile_n) {
      const std::int64_t columns = std::min(tile_n, n1 - n);
      std::byte* const place = p.c + static_cast<std::size_t>(m * p.c_stride + n) * size_of(p.output);
      c.assign(static_cast<std::size_t>(rows * columns), 0.0f);
      if (p.beta != 0) {
        widen(c.data(), place, p.c_stride, p.output, rows, columns);
        for (float& value : c) value *= p.beta;
      }
      for (std::int64_t k = 0; k < p.k; k += tile_k) {
        const std::int64_t depth = std::min(tile_k, p.k - k);
        a.load(m, rows, k, depth);
        b.load(n, columns, k, depth);
        blas().sgemm(row_major, a.k_is_row ? transposed : not_transposed, b.k_is_row ? not_transposed : transposed,
                     static_cast<int>(rows), static_cast<int>(columns), static_cast<int>(depth), 1.0f, a.tile.data(),
                     static_cast<int>(a.k_is_row ? rows : depth), b.tile.data(),
                     static_cast<int>(b.k_is_row ? columns : depth), 1.0f, c.data(), static_cast<int>(columns));
      }
      narrow(place, c.data(), p.c_stride, p.output, rows, columns);
    }
  }
}

}  // namespace

base::Result<PreparedProduct> prepare_product(const MatrixProduct& product) {
  if (blas().sgemm == nullptr) return blas().missing;
  const auto& p = product;
  HONE_TRY(bytes, product_bytes(p, "cpu"));
  HONE_TRY(a, resolve(p.a, bytes->a));
  HONE_TRY(b, resolve(p.b, bytes->b));
  HONE_TRY(c, resolve(p.c, bytes->c));
  return kernels::placed(p, *a, *b, *c);
}

// The longer side of the result is divided, so that each worker's part is as square as it can be.
void run_product_share(const PreparedProduct& product, int worker, int workers) {
  if (product.m >= product.n) {
    const Share share = share_of(product.m, worker, workers);
    run_part(product, share.first, share.last, 0, product.n);
  } else {
    const Share share = share_of(product.n, worker, workers);
    run_part(product, 0, product.m, share.first, share.last);
  }
}

}  // namespace hone::device::cpu
