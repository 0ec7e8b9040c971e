// Matrix products of the CPU device against sums in double precision.
#include "device/cpu/matrix_product.hpp"

#include <bit>
#include <cmath>
#include <random>

#include "tests/device/cpu/cpu_fixture.hpp"

namespace hone::device::cpu {
namespace {

struct Shape {
  std::int64_t m, n, k;
};

// Values of few bits, exact in every type, so that only the results are rounded.
double value_of(DType type, const std::vector<unsigned char>& bytes, std::size_t at) {
  if (type == DType::fp32) return std::bit_cast<float>(reinterpret_cast<const std::uint32_t*>(bytes.data())[at]);
  const std::uint16_t bits = reinterpret_cast<const std::uint16_t*>(bytes.data())[at];
  if (type == DType::bf16) return std::bit_cast<float>(std::uint32_t{bits} << 16);
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

void put(DType type, std::vector<unsigned char>& bytes, std::size_t at, int eighths) {
  const float value = float(eighths) / 8;
  const auto wide = std::bit_cast<std::uint32_t>(value);
  if (type == DType::fp32) {
    reinterpret_cast<std::uint32_t*>(bytes.data())[at] = wide;
  } else if (type == DType::bf16) {
    reinterpret_cast<std::uint16_t*>(bytes.data())[at] = std::uint16_t(wide >> 16);
  } else {
    const std::uint32_t magnitude = wide & 0x7fffffff;
    const std::uint32_t half = magnitude == 0 ? 0 : (magnitude >> 13) - (112 << 10);
    reinterpret_cast<std::uint16_t*>(bytes.data())[at] = std::uint16_t(half | (wide >> 16 & 0x8000));
  }
}

std::size_t bytes_of(DType type) { return type == DType::fp32 ? 4 : 2; }

class MatrixProducts : public CpuFixture {
 protected:
  struct Matrix {
    std::vector<unsigned char> bytes;
    std::unique_ptr<Buffer> buffer;
    std::int64_t stride;
    DType type;
    double at(std::int64_t r, std::int64_t c) const { return value_of(type, bytes, std::size_t(r * stride + c)); }
  };
  Matrix matrix(std::int64_t rows, std::int64_t columns, DType type) {
    Matrix made{std::vector<unsigned char>(std::size_t(rows * (columns + 3)) * bytes_of(type) + 8), nullptr,
                columns + 3, type};
    for (std::int64_t i = 0; i < rows * (columns + 3); ++i)
      put(type, made.bytes, std::size_t(i), int(generator_() % 33) - 16);
    made.buffer = std::move(*device_->allocate(made.bytes.size()));
    EXPECT_TRUE(device_->upload({made.buffer.get(), 0}, made.bytes.data(), made.bytes.size()));
    return made;
  }
  void expect_product(Shape shape, bool a_transposed, bool b_transposed, DType input, DType output, float beta) {
    const auto [m, n, k] = shape;
    const Matrix a = a_transposed ? matrix(k, m, input) : matrix(m, k, input);
    const Matrix b = b_transposed ? matrix(n, k, input) : matrix(k, n, input);
    Matrix c = matrix(m, n, output);
    const Matrix before{c.bytes, nullptr, c.stride, output};
    Launch launch;
    launch.entry = "product";
    launch.product =
        MatrixProduct{m,        n,        k,        {a.buffer.get(), 0}, {b.buffer.get(), 0}, {c.buffer.get(), 0},
                      a.stride, b.stride, c.stride, a_transposed,        b_transposed,        input,
                      output,   beta};
    const auto ran = device_->try_run({launch}, 60'000'000'000);
    ASSERT_TRUE(ran) << base::describe(ran.error());
    ASSERT_TRUE(device_->download(c.bytes.data(), {c.buffer.get(), 0}, c.bytes.size()));
    const double unit = output == DType::fp32 ? 0x1p-24 : output == DType::fp16 ? 0x1p-11 : 0x1p-8;
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        double expected = beta * before.at(i, j);
        for (std::int64_t l = 0; l < k; ++l)
          expected += (a_transposed ? a.at(l, i) : a.at(i, l)) * (b_transposed ? b.at(j, l) : b.at(l, j));
        ASSERT_NEAR(c.at(i, j), expected, unit * std::fabs(expected))
            << m << "x" << n << "x" << k << " at " << i << ", " << j;
      }
      for (std::int64_t j = n; j < c.stride && i + 1 < m; ++j) ASSERT_EQ(c.at(i, j), before.at(i, j)) << "padding";
    }
  }
  std::mt19937 generator_{3};
};

TEST_F(MatrixProducts, AreRightForEveryTypeAndLayout) {
  for (const Shape shape : {Shape{1, 1, 1}, {3, 5, 7}, {7, 2, 0}, {64, 33, 40}, {300, 17, 20}, {5, 600, 530}}) {
    for (const auto& [input, output] : {std::pair{DType::fp32, DType::fp32},
                                        {DType::bf16, DType::bf16},
                                        {DType::fp16, DType::fp16},
                                        {DType::bf16, DType::fp32}}) {
      for (const int layout : {0, 1, 2, 3}) {
        for (const float beta : {0.0f, 1.0f}) expect_product(shape, layout & 1, layout & 2, input, output, beta);
      }
    }
  }
}

TEST_F(MatrixProducts, ComeInOrderWithTheLaunchesAroundThem) {
  auto program =
      compile(source(R"(extern "C" void add_one(void* const* arguments, long first, long last, int, int, void*) {
    float* values = *static_cast<float**>(arguments[0]);
    for (long i = first; i < last; ++i) values[i] += 1;
  })"));
  ASSERT_NE(program, nullptr);
  const std::vector<float> a = {1, 2, 3, 4}, b = {1, 0, 0, 1};
  auto place_a = std::move(*device_->allocate(16)), place_b = std::move(*device_->allocate(16)),
       place_c = std::move(*device_->allocate(16));
  ASSERT_TRUE(device_->upload({place_a.get(), 0}, a.data(), 16));
  ASSERT_TRUE(device_->upload({place_b.get(), 0}, b.data(), 16));
  Launch product;
  product.product = MatrixProduct{2, 2, 2, {place_a.get(), 0}, {place_b.get(), 0}, {place_c.get(), 0}, 2, 2, 2};
  ASSERT_TRUE(device_->run({launch(*program, "add_one", 4, {BufferView{place_a.get(), 0}}), product,
                            launch(*program, "add_one", 4, {BufferView{place_c.get(), 0}})}));
  std::vector<float> c(4);
  ASSERT_TRUE(device_->download(c.data(), {place_c.get(), 0}, 16));
  EXPECT_EQ(c, (std::vector<float>{3, 4, 5, 6}));
}

TEST_F(MatrixProducts, OperandsOutsideTheirBuffersAreAnError) {
  auto small = std::move(*device_->allocate(16));
  Launch launch;
  launch.product = MatrixProduct{2, 2, 3, {small.get(), 0}, {small.get(), 0}, {small.get(), 0}, 3, 2, 2};
  const auto ran = device_->run({launch});
  ASSERT_FALSE(ran);
  EXPECT_NE(base::describe(ran.error()).find("buffer of 16 bytes"), std::string::npos) << base::describe(ran.error());
}

}  // namespace
}  // namespace hone::device::cpu
