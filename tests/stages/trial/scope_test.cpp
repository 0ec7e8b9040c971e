// Which passes may change and which cells decide, from a description alone.
#include "stages/trial/scope.hpp"

#include <gmock/gmock.h>

#include "tests/support/fake_described.hpp"

namespace hone::stages {
namespace {

using ::testing::ElementsAre;

TEST(Scope, IsBothPassesOrTheOneThatIsAskedFor) {
  const test::FakeDescribed kernel;
  EXPECT_THAT(passes_in_scope(kernel.modes(), "general"), ElementsAre("forward", "backward"));
  EXPECT_THAT(passes_in_scope(kernel.modes(), "backward"), ElementsAre("backward"));
  EXPECT_EQ(target_mode(kernel.modes(), "general"), "full");
  EXPECT_EQ(target_mode(kernel.modes(), "backward"), "backward");
}

TEST(Scope, HasACellForEachSizeAndMode) {
  test::FakeDescribed kernel;
  kernel.kernel.sizes = {"64", "128"}, kernel.kernel.modes = {"forward"};
  EXPECT_THAT(all_cells(kernel), ElementsAre(repository::Cell{"64", "forward"}, repository::Cell{"128", "forward"}));
}

}  // namespace
}  // namespace hone::stages
