// The default settings of row operations on a CPU, by the size of the cache.
#include "kernels/catalog/row_config.hpp"

#include <gtest/gtest.h>

namespace kernels {
namespace {

TEST(RowHeuristic, ResultsBeyondHalfTheCacheGoPastIt) {
  Target target;
  target.cores = 2;
  Problem problem;
  problem.rows = 4096, problem.columns = 2048;
  RowSpace space;
  space.output_bytes = 32 << 20;
  target.last_level_bytes = 480 << 20;  // as a virtual machine reports
  EXPECT_EQ(row_heuristic(space, problem, target).at("STREAMING_STORES"), 0);
  target.last_level_bytes = 16 << 20;  // as it is measured to have
  EXPECT_EQ(row_heuristic(space, problem, target).at("STREAMING_STORES"), 1);
  space.in_place = true;
  EXPECT_EQ(row_heuristic(space, problem, target).at("STREAMING_STORES"), 0);
}

}  // namespace
}  // namespace kernels
