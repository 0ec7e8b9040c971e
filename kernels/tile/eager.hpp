// The primitive operations of an unfused framework as tile programs, one launch each with its result in memory: the
// baseline that fused kernels are compared with. Vectorized and threaded like everything else here; stores are plain,
// because a framework's next operation reads what the last one wrote.
#pragma once

#include "kernels/tile/column_sum.hpp"
#include "kernels/tile/tile.hpp"

namespace tile::eager {

// out = f(a), element by element; a and out may have different types.
template <class Out, class A, class F>
TILE_FN void unary(Machine& m, Out* out, std::int64_t out_stride, const A* a, std::int64_t a_stride, std::int64_t rows,
                   std::int64_t rows_per_program, std::int64_t columns, F f) {
  m.for_rows(rows, rows_per_program, columns, [&](auto block) {
    const auto x = block.load(a, a_stride);
    block.map([&](auto e) { return f(x[e]); }, block.rows_of(out, out_stride));
  });
}

template <class Out, class A>
TILE_FN void convert(Machine& m, Out* out, std::int64_t out_stride, const A* a, std::int64_t a_stride,
                     std::int64_t rows, std::int64_t rows_per_program, std::int64_t columns) {
  unary(m, out, out_stride, a, a_stride, rows, rows_per_program, columns, [](auto x) { return x; });
}

template <class T>
TILE_FN void square(Machine& m, T* out, std::int64_t out_stride, const T* a, std::int64_t a_stride, std::int64_t rows,
                    std::int64_t rows_per_program, std::int64_t columns) {
  unary(m, out, out_stride, a, a_stride, rows, rows_per_program, columns, [](auto x) { return x * x; });
}

// out = a * factor + addend
template <class Out, class A>
TILE_FN void affine(Machine& m, Out* out, std::int64_t out_stride, const A* a, std::int64_t a_stride, std::int64_t rows,
                    std::int64_t rows_per_program, std::int64_t columns, float factor, float addend) {
  unary(m, out, out_stride, a, a_stride, rows, rows_per_program, columns, [&](auto x) { return x * factor + addend; });
}

template <class T>
TILE_FN void reciprocal_root(Machine& m, T* out, std::int64_t out_stride, const T* a, std::int64_t a_stride,
                             std::int64_t rows, std::int64_t rows_per_program, std::int64_t columns) {
  unary(m, out, out_stride, a, a_stride, rows, rows_per_program, columns, [](auto x) { return rsqrt(x); });
}

template <class T>
TILE_FN void relu_of(Machine& m, T* out, std::int64_t out_stride, const T* a, std::int64_t a_stride, std::int64_t rows,
                     std::int64_t rows_per_program, std::int64_t columns) {
  unary(m, out, out_stride, a, a_stride, rows, rows_per_program, columns, [](auto x) { return relu(x); });
}

template <class T>
TILE_FN void exponential(Machine& m, T* out, std::int64_t out_stride, const T* a, std::int64_t a_stride,
                         std::int64_t rows, std::int64_t rows_per_program, std::int64_t columns) {
  unary(m, out, out_stride, a, a_stride, rows, rows_per_program, columns, [](auto x) { return tile::exp(x); });
}

template <class T>
TILE_FN void hyperbolic_tangent(Machine& m, T* out, std::int64_t out_stride, const T* a, std::int64_t a_stride,
                                std::int64_t rows, std::int64_t rows_per_program, std::int64_t columns) {
  unary(m, out, out_stride, a, a_stride, rows, rows_per_program, columns, [](auto x) { return tile::tanh(x); });
}

// out = f(a, b)
template <class Out, class A, class B, class F>
TILE_FN void binary(Machine& m, Out* out, std::int64_t out_stride, const A* a, std::int64_t a_stride, const B* b,
                    std::int64_t b_stride, std::int64_t rows, std::int64_t rows_per_program, std::int64_t columns,
                    F f) {
  m.for_rows(rows, rows_per_program, columns, [&](auto block) {
    const auto x = block.load(a, a_stride);
    const auto y = block.load(b, b_stride);
    block.map([&](auto e) { return f(x[e], y[e]); }, block.rows_of(out, out_stride));
  });
}

template <class Out, class A, class B>
TILE_FN void multiply(Machine& m, Out* out, std::int64_t out_stride, const A* a, std::int64_t a_stride, const B* b,
                      std::int64_t b_stride, std::int64_t rows, std::int64_t rows_per_program, std::int64_t columns) {
  binary(m, out, out_stride, a, a_stride, b, b_stride, rows, rows_per_program, columns,
         [](auto x, auto y) { return x * y; });
}

template <class Out, class A, class B>
TILE_FN void add(Machine& m, Out* out, std::int64_t out_stride, const A* a, std::int64_t a_stride, const B* b,
                 std::int64_t b_stride, std::int64_t rows, std::int64_t rows_per_program, std::int64_t columns) {
  binary(m, out, out_stride, a, a_stride, b, b_stride, rows, rows_per_program, columns,
         [](auto x, auto y) { return x + y; });
}

template <class Out, class A, class B>
TILE_FN void subtract(Machine& m, Out* out, std::int64_t out_stride, const A* a, std::int64_t a_stride, const B* b,
                      std::int64_t b_stride, std::int64_t rows, std::int64_t rows_per_program, std::int64_t columns) {
  binary(m, out, out_stride, a, a_stride, b, b_stride, rows, rows_per_program, columns,
         [](auto x, auto y) { return x - y; });
}

// out = gradient * (1 - t^2)
template <class Out, class A, class B>
TILE_FN void tanh_backward(Machine& m, Out* out, std::int64_t out_stride, const A* gradient,
                           std::int64_t gradient_stride, const B* t, std::int64_t t_stride, std::int64_t rows,
                           std::int64_t rows_per_program, std::int64_t columns) {
  binary(m, out, out_stride, gradient, gradient_stride, t, t_stride, rows, rows_per_program, columns,
         [](auto g, auto v) { return g * (1.0f - v * v); });
}

// out = factor * a, the factor a tensor of one element.
template <class Out, class A, class S>
TILE_FN void scale_all(Machine& m, Out* out, std::int64_t out_stride, const A* a, std::int64_t a_stride,
                       const S* factor, std::int64_t rows, std::int64_t rows_per_program, std::int64_t columns) {
  const float number = m.scalar(factor);
  unary(m, out, out_stride, a, a_stride, rows, rows_per_program, columns, [&](auto x) { return x * number; });
}

// out = a - level[row]
template <class Out, class A, class S>
TILE_FN void subtract_rows(Machine& m, Out* out, std::int64_t out_stride, const A* a, std::int64_t a_stride,
                           const S* level, std::int64_t rows, std::int64_t rows_per_program, std::int64_t columns) {
  m.for_rows(rows, rows_per_program, columns, [&](auto block) {
    const auto x = block.load(a, a_stride);
    const auto s = block.load_column(level);
    block.map([&](auto e) { return x[e] - s[e]; }, block.rows_of(out, out_stride));
  });
}

// out = a / divisor[row]
template <class Out, class A, class S>
TILE_FN void divide_rows(Machine& m, Out* out, std::int64_t out_stride, const A* a, std::int64_t a_stride,
                         const S* divisor, std::int64_t rows, std::int64_t rows_per_program, std::int64_t columns) {
  m.for_rows(rows, rows_per_program, columns, [&](auto block) {
    const auto x = block.load(a, a_stride);
    const auto s = block.load_column(divisor);
    block.map([&](auto e) { return x[e] / s[e]; }, block.rows_of(out, out_stride));
  });
}

// out = a + shift[column]
template <class Out, class A, class S>
TILE_FN void add_columns(Machine& m, Out* out, std::int64_t out_stride, const A* a, std::int64_t a_stride,
                         const S* shift, std::int64_t rows, std::int64_t rows_per_program, std::int64_t columns) {
  const auto s = m.row(shift);
  m.for_rows(rows, rows_per_program, columns, [&](auto block) {
    const auto x = block.load(a, a_stride);
    block.map([&](auto e) { return x[e] + s[e]; }, block.rows_of(out, out_stride));
  });
}

// out = a * scale[row]
template <class Out, class A, class S>
TILE_FN void scale_rows(Machine& m, Out* out, std::int64_t out_stride, const A* a, std::int64_t a_stride,
                        const S* scale, std::int64_t rows, std::int64_t rows_per_program, std::int64_t columns) {
  m.for_rows(rows, rows_per_program, columns, [&](auto block) {
    const auto x = block.load(a, a_stride);
    const auto s = block.load_column(scale);
    block.map([&](auto e) { return x[e] * s[e]; }, block.rows_of(out, out_stride));
  });
}

// out = a * scale[column]
template <class Out, class A, class S>
TILE_FN void scale_columns(Machine& m, Out* out, std::int64_t out_stride, const A* a, std::int64_t a_stride,
                           const S* scale, std::int64_t rows, std::int64_t rows_per_program, std::int64_t columns) {
  const auto s = m.row(scale);
  m.for_rows(rows, rows_per_program, columns, [&](auto block) {
    const auto x = block.load(a, a_stride);
    block.map([&](auto e) { return x[e] * s[e]; }, block.rows_of(out, out_stride));
  });
}

// out[row] = factor * sum over the columns of a
template <class Out, class A>
TILE_FN void sum_of_row(Machine& m, Out* out, const A* a, std::int64_t a_stride, std::int64_t rows,
                        std::int64_t rows_per_program, std::int64_t columns, float factor) {
  m.for_rows(rows, rows_per_program, columns, [&](auto block) {
    const auto x = block.load(a, a_stride);
    const auto sum = block.sum([&](auto e) { return x[e]; });
    block.store_column(out, block.each_row([&](int row) { return sum[row] * factor; }));
  });
}

// out[row] = factor * the largest value of a's row
template <class Out, class A>
TILE_FN void maximum_of_row(Machine& m, Out* out, const A* a, std::int64_t a_stride, std::int64_t rows,
                            std::int64_t rows_per_program, std::int64_t columns, float factor) {
  m.for_rows(rows, rows_per_program, columns, [&](auto block) {
    const auto x = block.load(a, a_stride);
    const auto largest = block.max([&](auto e) { return x[e]; });
    block.store_column(out, block.each_row([&](int row) { return largest[row] * factor; }));
  });
}

// RMSNorm's backward pass: dy * x * rstd[row], the terms of the weight's gradient (a framework has x * rstd from the forward pass
// and multiplies it with dy: as many bytes, one launch); and factor * rstd^3 * sum[row], the gradient of the mean square.
template <class T, class R>
TILE_FN void weight_terms(Machine& m, T* out, std::int64_t out_stride, const T* dy, std::int64_t dy_stride, const T* x,
                          std::int64_t x_stride, const R* rstd, std::int64_t rows, std::int64_t rows_per_program,
                          std::int64_t columns) {
  m.for_rows(rows, rows_per_program, columns, [&](auto block) {
    const auto g = block.load(dy, dy_stride);
    const auto v = block.load(x, x_stride);
    const auto r = block.load_column(rstd);
    block.map([&](auto e) { return g[e] * rounded<T>(v[e] * r[e]); }, block.rows_of(out, out_stride));
  });
}
template <class R>
TILE_FN void mean_square_gradient(Machine& m, float* out, const float* sum, const R* rstd, std::int64_t rows,
                                  float factor) {
  binary(m, out, rows, sum, rows, rstd, rows, 1, 1, rows, [&](auto s, auto r) { return s * (r * r * r * factor); });
}

// This program's row of `partial` (programs x columns) = sum over its rows of a.
template <class A>
TILE_FN void partial_column_sum(Machine& m, float* partial, const A* a, std::int64_t a_stride, std::int64_t rows,
                                std::int64_t rows_per_program, std::int64_t columns) {
  const auto sum = m.accumulator(partial + m.program() * columns, columns);
  m.for_rows(rows, rows_per_program, columns, [&](auto block) {
    const auto x = block.load(a, a_stride);
    block.map([&](auto e) { return x[e]; }, block.sum_into(sum));
  });
}

}  // namespace tile::eager
