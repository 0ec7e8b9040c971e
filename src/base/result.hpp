// Result<T>: a value, or the Error that took its place. Failures that can happen cross floors as values, never as exceptions.
#pragma once

#include <cassert>
#include <optional>
#include <utility>
#include <variant>

#include "base/error.hpp"

namespace hone::base {

// Use: `HONE_TRY(result, call());`, then `*result` or `result->member`.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return assert(ok()), std::get<0>(state_); }
  const T& value() const& { return assert(ok()), std::get<0>(state_); }
  T&& value() && { return assert(ok()), std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& { return assert(!ok()), std::get<1>(state_); }
  Error&& error() && { return assert(!ok()), std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const& { return assert(!ok()), *error_; }
  Error&& error() && { return assert(!ok()), std::move(*error_); }

 private:
  std::optional<Error> error_;
};

}  // namespace hone::base

// Declares `name` as the result of the expression; a failed one is returned from the function, as an Error.
#define HONE_TRY(name, ...)  \
  auto name = (__VA_ARGS__); \
  if (!name) return std::move(name).error()

// The same for an expression whose value is of no further use, above all a Result<void>.
#define HONE_PROPAGATE(...)                                                                    \
  do {                                                                                         \
    if (auto hone_result = (__VA_ARGS__); !hone_result) return std::move(hone_result).error(); \
  } while (false)
