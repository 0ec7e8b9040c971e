// Which counter-free experiments are made on which machine.
#include "repository/native/experiments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::repository::native {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> names(const kernels::Target& target) {
  std::vector<std::string> found;
  for (const Change& change : changes_on(target)) found.emplace_back(change.name);
  return found;
}

TEST(Experiments, OfSeveralCoresAllButOneAreTakenAway) {
  EXPECT_THAT(names({kernels::Machine::cpu, 4}), ElementsAre("no-compute", "no-memory", "threads"));
}

TEST(Experiments, OneCoreHasNothingToTakeAway) {
  EXPECT_THAT(names({kernels::Machine::cpu, 1}), ElementsAre("no-compute", "no-memory"));
}

TEST(Experiments, AGpusBlocksKeepTheirThreads) {
  EXPECT_THAT(names({kernels::Machine::cuda, 132}), ElementsAre("no-compute", "no-memory"));
}

}  // namespace
}  // namespace hone::repository::native
