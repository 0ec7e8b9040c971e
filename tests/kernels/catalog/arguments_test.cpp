// Structs of arguments: what the host gives by name stands where the kernel looks for it.
#include "kernels/catalog/arguments.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace kernels {
namespace {

template <template <class> class Slot, class T>
struct Scaling {
  tile::MatrixOf<Slot, T> matrix;
  Slot<const T*> factors;
  Slot<std::int64_t> count;
  alignas(8) Slot<float> factor, addend;
};
using Taken = Scaling<tile::Value, std::uint16_t>;

TEST(StructOfArguments, HasASlotForEachMember) {
  EXPECT_EQ(sizeof(Taken), 48u);
  EXPECT_EQ(offsetof(Taken, factors), 16u);
  EXPECT_EQ(offsetof(Taken, count), 24u);
  EXPECT_EQ(offsetof(Taken, factor), 32u);
  EXPECT_EQ(offsetof(Taken, addend), 40u);
}

TEST(StructOfArguments, IsFlattenedInTheOrderOfItsMembers) {
  const Scaling<Given, void> given = {.matrix = {TensorArgument{"x", 64}, 7},
                                      .factors = tensor("f", false),
                                      .count = 3,
                                      .factor = 2,
                                      .addend = 0.5f};
  const std::vector<Argument> all = arguments(Argument(std::int64_t{9}), given, tensor("y"));
  ASSERT_EQ(all.size(), 8u);
  EXPECT_EQ(std::get<std::int64_t>(all[0]), 9);
  EXPECT_EQ(std::get<TensorArgument>(all[1]).name, "x");
  EXPECT_EQ(std::get<TensorArgument>(all[1]).offset_bytes, 64);
  EXPECT_EQ(std::get<std::int64_t>(all[2]), 7);
  EXPECT_EQ(std::get<std::int64_t>(all[3]), 0) << "a null pointer";
  EXPECT_EQ(std::get<std::int64_t>(all[4]), 3);
  EXPECT_EQ(std::get<float>(all[5]), 2);
  EXPECT_EQ(std::get<float>(all[6]), 0.5f);
  EXPECT_EQ(std::get<TensorArgument>(all[7]).name, "y");
}

}  // namespace
}  // namespace kernels
