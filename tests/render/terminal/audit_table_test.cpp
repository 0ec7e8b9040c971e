// The audit's table for people.
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "render/terminal/audit_table.hpp"

namespace {

using namespace hone::model;

AuditedOp sample() {
  AuditedOp op;
  op.op = "rms_norm";
  op.language = "triton";
  op.tier = 2;
  op.tier_reason = "reduction across a row";
  op.files.push_back({"ops/rms_norm.py", "00", 10});
  KernelFact kernel;
  kernel.name = "_forward";
  kernel.line = 3;
  kernel.end_line = 9;
  kernel.load_lines = {4, 5};
  kernel.unused_params = {"W_row_stride"};
  op.jit_kernels.push_back(kernel);
  LaunchFact launch;
  launch.kernel = "_forward";
  launch.line = 12;
  launch.grid_resolved = "(n_rows,)";
  launch.block_sources.push_back({"BLOCK_SIZE", "BLOCK_SIZE", "calculate_settings", "", "keyword", false});
  launch.num_warps = {"num_warps", "num_warps", "calculate_settings", "", "keyword", false};
  launch.num_stages = {"num_stages", std::nullopt, "default", "", std::nullopt, false};
  launch.num_stages_live = Liveness::dead;
  op.launches.push_back(launch);
  return op;
}

TEST(AuditTable, shows_kernels_and_launches_with_the_source_of_each_setting) {
  Audit audit;
  audit.kernels.push_back(sample());
  const std::string text = hone::render::audit_table(audit, {});
  EXPECT_NE(text.find("tier 2: reduction across a row"), std::string::npos) << text;
  EXPECT_NE(text.find("never reads W_row_stride"), std::string::npos) << text;
  EXPECT_NE(text.find("num_warps (calculate_settings)"), std::string::npos) << text;
  EXPECT_NE(text.find("default, dead"), std::string::npos) << text;
  EXPECT_NE(text.find("no measurement stands behind"), std::string::npos) << text;
}

TEST(AuditTable, shows_masked_lanes_for_the_sizes_asked_for) {
  Audit audit;
  audit.kernels.push_back(sample());
  auto& launch = audit.kernels[0].launches[0];
  launch.block_sources[0].rounded_up = hone::model::RoundedUp{"n_cols", 65536, {{5120, 37.5}, {4096, 0}}};
  audit.kernels[0].launches.push_back(launch);  // the same tile again is not said again
  const std::string text = hone::render::audit_table(audit, {});
  EXPECT_NE(text.find("BLOCK_SIZE of n_cols, at most 65536: 5120: 38 %; 4096: 0 %\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("5120: 38"), text.rfind("5120: 38")) << text;
}

TEST(AuditTable, keeps_to_the_width_of_a_terminal) {
  Audit audit;
  audit.kernels.push_back(sample());
  audit.kernels[0].launches[0].grid_resolved = std::string(500, 'x');
  audit.kernels[0].jit_kernels[0].unused_params.assign(60, "a_parameter");
  for (const std::size_t width : {std::size_t{60}, std::size_t{80}, std::size_t{120}})
    for (const std::string& line : hone::base::split(hone::render::audit_table(audit, {true, width}), '\n'))
      EXPECT_LE(line.size(), width) << line;
}

}  // namespace
