// y = softmax(scale * x) over each row: a program works on ROWS rows. ROWS, LANES and POLYNOMIAL are macros that the manifest sets.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace {

// exp for arguments up to 0: 2^n times a polynomial of degree 6 on half a binary order; relative error below 2e-7.
inline float exp_of(float x) {
#if POLYNOMIAL
  x = std::max(x, -87.0f);
  const float n = std::nearbyint(x * 1.44269504f);
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.0f / 720;
  for (const float term : {1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f}) p = p * r + term;
  return p * std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
#else
  return std::exp(x);
#endif
}

void softmax(const float* x, float* y, std::int64_t columns, float scale) {
  float largest[LANES], sum[LANES];
  std::fill(largest, largest + LANES, scale * x[0]);
  std::fill(sum, sum + LANES, 0.0f);
  const std::int64_t whole = columns / LANES * LANES;
  for (std::int64_t i = 0; i < whole; i += LANES)
    for (int lane = 0; lane < LANES; ++lane) largest[lane] = std::max(largest[lane], scale * x[i + lane]);
  for (std::int64_t i = whole; i < columns; ++i) largest[0] = std::max(largest[0], scale * x[i]);
  const float top = *std::max_element(largest, largest + LANES);
  for (std::int64_t i = 0; i < whole; i += LANES)
    for (int lane = 0; lane < LANES; ++lane) sum[lane] += y[i + lane] = exp_of(scale * x[i + lane] - top);
  for (std::int64_t i = whole; i < columns; ++i) sum[0] += y[i] = exp_of(scale * x[i] - top);
  float total = 0;
  for (const float part : sum) total += part;
  const float over = 1 / total;
  for (std::int64_t i = 0; i < columns; ++i) y[i] *= over;
}

}  // namespace

extern "C" void row_softmax(std::int64_t program, const float* x, float* y, std::int64_t rows, std::int64_t columns,
                            float scale) {
  const std::int64_t last = std::min(rows, (program + 1) * ROWS);
  for (std::int64_t row = program * ROWS; row < last; ++row) softmax(x + row * columns, y + row * columns, columns, scale);
}
