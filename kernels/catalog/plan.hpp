// The words in which kernels, devices and repositories speak of what is launched: element types, tensors, launches, matrix
// products, plans. Values and the standard library alone, so that src/device, src/measure and src/repository may include it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kernels {

enum class DType { fp32, fp16, bf16, int64, int32 };

constexpr int size_of(DType dtype) {
  switch (dtype) {
    case DType::fp32:
    case DType::int32: return 4;
    case DType::fp16:
    case DType::bf16: return 2;
    case DType::int64: return 8;
  }
  return 0;
}

constexpr const char* name_of(DType dtype) {
  switch (dtype) {
    case DType::fp32: return "fp32";
    case DType::fp16: return "fp16";
    case DType::bf16: return "bf16";
    case DType::int64: return "int64";
    case DType::int32: return "int32";
  }
  return "";
}

inline std::optional<DType> parse_dtype(const std::string& name) {
  for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16, DType::int64, DType::int32})
    if (name == name_of(dtype)) return dtype;
  return std::nullopt;
}

using Settings = std::map<std::string, std::int64_t>;
using Defines = std::vector<std::pair<std::string, std::string>>;

enum class Distribution {
  normal,   // offset + scale * N(0, 1)
  uniform,  // offset + scale * U, U uniform in [0, 1)
  labels,   // integers uniform in 0 .. scale-1, plus offset
  zeros,
};

// A matrix in memory: rows x columns elements, consecutive rows row_stride elements apart.
struct TensorSpec {
  std::string name;
  DType dtype = DType::fp32;
  std::int64_t rows = 0, columns = 0, row_stride = 0;
  Distribution distribution = Distribution::normal;  // of an input's values
  double scale = 1, offset = 0;
  double rare_value = 0, rare_share = 0;  // this share of an input's elements has this value instead
  std::int64_t bytes() const { return rows * row_stride * size_of(dtype); }
};

// Who touches what in a pass, by tensor name. `overwritten` are inputs the pass destroys (in-place results are also outputs
// under the input's name). A forward pass's `saved` outputs are what backward reads besides the inputs.
struct PassSpec {
  std::vector<std::string> inputs, outputs, overwritten, saved;
};

// A tensor by its name, or `offset_bytes` into it. One that the options leave out ("no weight") is passed as std::int64_t 0, a
// null pointer.
struct TensorArgument {
  std::string name;
  std::int64_t offset_bytes = 0;
};

// `Place` says where a tensor lies: by name (TensorArgument) in a plan, by address in a launch of a device.
template <class Place>
using BasicArgument = std::variant<Place, std::int32_t, std::int64_t, float>;

// c = a b + beta c with c of m x n elements, a of m x k and b of k x n, row-major, consecutive rows `stride` elements apart.
// A transposed operand lies in memory as its transpose (k x m, n x k). Products are summed in fp32. With beta 0 c is not read.
template <class Place>
struct BasicMatrixProduct {
  std::int64_t m = 0, n = 0, k = 0;
  Place a, b, c;
  std::int64_t a_stride = 0, b_stride = 0, c_stride = 0;
  bool a_transposed = false, b_transposed = false;
  DType input = DType::fp32, output = DType::fp32;  // of a and b; of c. Floating point
  float beta = 0;
};

// `programs` instances of an entry of the compiled text, numbered from 0; or, where `product` is set, a matrix product by the
// device's own library, for which `entry` is a name for messages and all else but `product` means nothing.
template <class Place>
struct BasicLaunch {
  std::string entry;
  std::int64_t programs = 0;  // 0 launches nothing and is no error
  int threads = 0;            // CUDA: threads of a block. CPU: worker threads, 0 = all cores
  std::int64_t dynamic_shared_bytes = 0;
  int cluster_size = 1;
  std::vector<BasicArgument<Place>> arguments;
  std::optional<BasicMatrixProduct<Place>> product = {};
  // CUDA alone: the further extents of grid and block, whose first are `programs` and `threads`.
  int programs_y = 1, programs_z = 1, threads_y = 1, threads_z = 1;
};

// The same product with its operands at other places.
template <class To, class From>
BasicMatrixProduct<To> placed(const BasicMatrixProduct<From>& p, const To& a, const To& b, const To& c) {
  return {p.m,     p.n,      p.k,   a, b, c, p.a_stride, p.b_stride, p.c_stride, p.a_transposed, p.b_transposed,
          p.input, p.output, p.beta};
}

using Argument = BasicArgument<TensorArgument>;
using MatrixProduct = BasicMatrixProduct<TensorArgument>;
using Launch = BasicLaunch<TensorArgument>;

// A pass as a compiled text and launches. `scratch` are tensors that exist only for it (partial sums, temporaries).
struct Plan {
  std::string main_file;  // of the text that is compiled
  Defines defines;        // settings, dtype, options
  std::vector<TensorSpec> scratch;
  std::vector<Launch> launches;
  // A launch may begin before the one ahead of it has ended: its program waits for that one itself.
  bool begins_early = true;
};

struct Traffic {
  double bytes_read = 0, bytes_written = 0;  // the least any implementation moves: each input once, each output once
  double flops = 0;
  double matrix_flops = 0;  // those of `flops` that are in matrix products of the problem's type
  double bytes() const { return bytes_read + bytes_written; }
};

// Ablations of a tile program, as the define TILE_ABLATION: 0 none; 1 no arithmetic, same bytes; 2 no memory traffic, same
// arithmetic (every row is row 0, which stays in the first-level cache).
enum class Ablation { none = 0, no_compute = 1, no_memory = 2 };

// Values of tensors in double precision, dense (rows * columns, no padding), by tensor name.
using Values = std::map<std::string, std::vector<double>>;

}  // namespace kernels
