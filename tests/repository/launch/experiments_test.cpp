// Which counter-free experiments are made on which machine.
#include "repository/launch/experiments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::repository::launch {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> names(const std::string& kind, int cores, bool can_ablate = true) {
  model::DeviceInfo device;
  device.kind = kind;
  device.sm_count = cores;
  std::vector<std::string> found;
  for (const Change& change : changes_on(device, can_ablate)) found.emplace_back(change.name);
  return found;
}

TEST(Experiments, OfSeveralCoresAllButOneAreTakenAway) {
  EXPECT_THAT(names("cpu", 4), ElementsAre("no-compute", "no-memory", "threads"));
}

TEST(Experiments, OneCoreHasNothingToTakeAway) { EXPECT_THAT(names("cpu", 1), ElementsAre("no-compute", "no-memory")); }

TEST(Experiments, AGpusBlocksKeepTheirThreads) {
  EXPECT_THAT(names("cuda", 132), ElementsAre("no-compute", "no-memory"));
}

TEST(Experiments, AUsersTextIsNotAblated) {
  EXPECT_THAT(names("cpu", 4, false), ElementsAre("threads"));
  EXPECT_THAT(names("cuda", 132, false), ElementsAre());
}

}  // namespace
}  // namespace hone::repository::launch
