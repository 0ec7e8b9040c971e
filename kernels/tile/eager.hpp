// The primitive operations of an unfused framework as tile programs, one launch each with its result in memory: the
// baseline that fused kernels are compared with. Vectorized and threaded like everything else here; stores are plain,
// because a framework's next operation reads what the last one wrote.
#pragma once

#include "kernels/tile/column_sum.hpp"
#include "kernels/tile/tile.hpp"

namespace tile::eager {

// out = f(a), element by element; a and out may have different types.
template <class Out, class A, class F>
TILE_FN void unary(RowMachine& m, Matrix<Out> out, Matrix<const A> a, F f) {
  m.for_rows([&](auto block) {
    const auto x = block.load(a);
    block.map([&](auto e) { return f(x[e]); }, block.rows_of(out));
  });
}

template <class Out, class A>
TILE_FN void convert(RowMachine& m, Matrix<Out> out, Matrix<const A> a) {
  unary(m, out, a, [](auto x) { return x; });
}

template <class T>
TILE_FN void square(RowMachine& m, Matrix<T> out, Matrix<const T> a) {
  unary(m, out, a, [](auto x) { return x * x; });
}

// out = a * factor + addend
template <class Out, class A>
TILE_FN void affine(RowMachine& m, Matrix<Out> out, Matrix<const A> a, float factor, float addend) {
  unary(m, out, a, [&](auto x) { return x * factor + addend; });
}

template <class T>
TILE_FN void reciprocal_root(RowMachine& m, Matrix<T> out, Matrix<const T> a) {
  unary(m, out, a, [](auto x) { return rsqrt(x); });
}

template <class T>
TILE_FN void relu_of(RowMachine& m, Matrix<T> out, Matrix<const T> a) {
  unary(m, out, a, [](auto x) { return relu(x); });
}

template <class T>
TILE_FN void exponential(RowMachine& m, Matrix<T> out, Matrix<const T> a) {
  unary(m, out, a, [](auto x) { return tile::exp(x); });
}

template <class T>
TILE_FN void hyperbolic_tangent(RowMachine& m, Matrix<T> out, Matrix<const T> a) {
  unary(m, out, a, [](auto x) { return tile::tanh(x); });
}

// out = f(a, b)
template <class Out, class A, class B, class F>
TILE_FN void binary(RowMachine& m, Matrix<Out> out, Matrix<const A> a, Matrix<const B> b, F f) {
  m.for_rows([&](auto block) {
    const auto x = block.load(a);
    const auto y = block.load(b);
    block.map([&](auto e) { return f(x[e], y[e]); }, block.rows_of(out));
  });
}

template <class Out, class A, class B>
TILE_FN void multiply(RowMachine& m, Matrix<Out> out, Matrix<const A> a, Matrix<const B> b) {
  binary(m, out, a, b, [](auto x, auto y) { return x * y; });
}

template <class Out, class A, class B>
TILE_FN void add(RowMachine& m, Matrix<Out> out, Matrix<const A> a, Matrix<const B> b) {
  binary(m, out, a, b, [](auto x, auto y) { return x + y; });
}

template <class Out, class A, class B>
TILE_FN void subtract(RowMachine& m, Matrix<Out> out, Matrix<const A> a, Matrix<const B> b) {
  binary(m, out, a, b, [](auto x, auto y) { return x - y; });
}

// out = gradient * (1 - t^2)
template <class Out, class A, class B>
TILE_FN void tanh_backward(RowMachine& m, Matrix<Out> out, Matrix<const A> gradient, Matrix<const B> t) {
  binary(m, out, gradient, t, [](auto g, auto v) { return g * (1.0f - v * v); });
}

// out = factor * a, the factor a tensor of one element.
template <class Out, class A, class S>
TILE_FN void scale_all(RowMachine& m, Matrix<Out> out, Matrix<const A> a, const S* factor) {
  const float number = m.scalar(factor);
  unary(m, out, a, [&](auto x) { return x * number; });
}

// out = a - level[row]
template <class Out, class A, class S>
TILE_FN void subtract_rows(RowMachine& m, Matrix<Out> out, Matrix<const A> a, const S* level) {
  m.for_rows([&](auto block) {
    const auto x = block.load(a);
    const auto s = block.load_column(level);
    block.map([&](auto e) { return x[e] - s[e]; }, block.rows_of(out));
  });
}

// out = a / divisor[row]
template <class Out, class A, class S>
TILE_FN void divide_rows(RowMachine& m, Matrix<Out> out, Matrix<const A> a, const S* divisor) {
  m.for_rows([&](auto block) {
    const auto x = block.load(a);
    const auto s = block.load_column(divisor);
    block.map([&](auto e) { return x[e] / s[e]; }, block.rows_of(out));
  });
}

// out = a + shift[column]
template <class Out, class A, class S>
TILE_FN void add_columns(RowMachine& m, Matrix<Out> out, Matrix<const A> a, const S* shift) {
  const auto s = m.row(shift);
  m.for_rows([&](auto block) {
    const auto x = block.load(a);
    block.map([&](auto e) { return x[e] + s[e]; }, block.rows_of(out));
  });
}

// out = a * scale[row]
template <class Out, class A, class S>
TILE_FN void scale_rows(RowMachine& m, Matrix<Out> out, Matrix<const A> a, const S* scale) {
  m.for_rows([&](auto block) {
    const auto x = block.load(a);
    const auto s = block.load_column(scale);
    block.map([&](auto e) { return x[e] * s[e]; }, block.rows_of(out));
  });
}

// out = a * scale[column]
template <class Out, class A, class S>
TILE_FN void scale_columns(RowMachine& m, Matrix<Out> out, Matrix<const A> a, const S* scale) {
  const auto s = m.row(scale);
  m.for_rows([&](auto block) {
    const auto x = block.load(a);
    block.map([&](auto e) { return x[e] * s[e]; }, block.rows_of(out));
  });
}

// out[row] = factor * sum over the columns of a
template <class Out, class A>
TILE_FN void sum_of_row(RowMachine& m, Out* out, Matrix<const A> a, float factor) {
  m.for_rows([&](auto block) {
    const auto x = block.load(a);
    const auto sum = block.sum([&](auto e) { return x[e]; });
    block.store_column(out, block.each_row([&](int row) { return sum[row] * factor; }));
  });
}

// out[row] = factor * the largest value of a's row
template <class Out, class A>
TILE_FN void maximum_of_row(RowMachine& m, Out* out, Matrix<const A> a, float factor) {
  m.for_rows([&](auto block) {
    const auto x = block.load(a);
    const auto largest = block.max([&](auto e) { return x[e]; });
    block.store_column(out, block.each_row([&](int row) { return largest[row] * factor; }));
  });
}

// RMSNorm's backward pass: dy * x * rstd[row], the terms of the weight's gradient (a framework has x * rstd from the forward pass
// and multiplies it with dy: as many bytes, one launch); and factor * rstd^3 * sum[row], the gradient of the mean square.
template <class T, class R>
TILE_FN void weight_terms(RowMachine& m, Matrix<T> out, Matrix<const T> dy, Matrix<const T> x, const R* rstd) {
  m.for_rows([&](auto block) {
    const auto g = block.load(dy);
    const auto v = block.load(x);
    const auto r = block.load_column(rstd);
    block.map([&](auto e) { return g[e] * rounded<T>(v[e] * r[e]); }, block.rows_of(out));
  });
}
template <class R>
TILE_FN void mean_square_gradient(RowMachine& m, Matrix<float> out, Matrix<const float> sum, Matrix<const R> rstd,
                                  float factor) {
  binary(m, out, sum, rstd, [&](auto s, auto r) { return s * (r * r * r * factor); });
}

// This program's row of `partial` (programs x columns) = sum over its rows of a.
template <class A>
TILE_FN void partial_column_sum(RowMachine& m, float* partial, Matrix<const A> a) {
  const auto sum = m.own_sums(partial);
  m.for_rows([&](auto block) {
    const auto x = block.load(a);
    block.map([&](auto e) { return x[e]; }, block.sum_into(sum));
  });
}

}  // namespace tile::eager
