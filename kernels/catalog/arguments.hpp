// What the host gives to kernels as arguments: tensors and numbers, alone or in the structs that kernels take
// (kernels/tile/arguments.hpp), whose members it names.
#pragma once

#include <string>
#include <vector>

#include "kernels/catalog/plan.hpp"
#include "kernels/tile/arguments.hpp"

namespace kernels {

// A tensor as an argument; a null pointer where the name is empty or it is not present.
inline Argument tensor(const std::string& name, bool present = true) {
  if (present && !name.empty()) return TensorArgument{name};
  return std::int64_t{0};
}

// What fills the slot of a member: a number, or a tensor for a pointer. Without a default, so that no member is forgotten.
template <class T>
struct Given {
  Given(T number) : argument(number) {}
  Argument argument;
};
template <class T>
struct Given<T*> {
  Given(Argument tensor) : argument(std::move(tensor)) {}
  Given(TensorArgument tensor) : argument(std::move(tensor)) {}
  Argument argument;
};

namespace detail {

inline void append(std::vector<Argument>& to, const Argument& argument) { to.push_back(argument); }
// The members of a struct lie one after another, here as in the kernel.
template <template <template <class> class, class...> class Struct, class... T>
void append(std::vector<Argument>& to, const Struct<Given, T...>& members) {
  constexpr std::size_t count = sizeof(members) / sizeof(Argument);
  static_assert(sizeof(Struct<tile::Value, T...>) == 8 * count, "a member narrower than a slot needs alignas(8)");
  const auto* first = reinterpret_cast<const Argument*>(&members);
  to.insert(to.end(), first, first + count);
}

}  // namespace detail

// The arguments of a launch in the order of the kernel's parameters.
template <class... A>
std::vector<Argument> arguments(const A&... of_parameters) {
  std::vector<Argument> all;
  (detail::append(all, of_parameters), ...);
  return all;
}

}  // namespace kernels
