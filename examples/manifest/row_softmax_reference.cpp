// softmax(scale * x) over each row in double precision, from the formula: exp(x - max) / sum(exp(x - max)).
#include <algorithm>
#include <cmath>
#include <cstdint>

extern "C" void row_softmax_reference(const double* x, double* y, std::int64_t rows, std::int64_t columns, double scale) {
  for (std::int64_t row = 0; row < rows; ++row, x += columns, y += columns) {
    double largest = scale * x[0], sum = 0;
    for (std::int64_t i = 1; i < columns; ++i) largest = std::max(largest, scale * x[i]);
    for (std::int64_t i = 0; i < columns; ++i) sum += y[i] = std::exp(scale * x[i] - largest);
    for (std::int64_t i = 0; i < columns; ++i) y[i] /= sum;
  }
}
