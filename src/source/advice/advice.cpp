#include "source/advice/advice.hpp"

namespace hone::source {

void advise(model::AuditedOp& op, const std::vector<model::KernelFact>& launched) {
  op.configuration = read_configuration(op, launched);
  op.opportunities = find_opportunities(op, launched);
  op.strategy_order = order_strategies(op);
}

double masked_lane_waste_pct(long long columns, std::optional<long long> largest_block) {
  if (columns <= 0 || largest_block.value_or(1) <= 0) return 0;
  long long block = 1;
  while (block < columns && block < largest_block.value_or(columns)) block *= 2;
  const long long tiles = columns / block + (columns % block != 0 ? 1 : 0);
  const double lanes = static_cast<double>(tiles) * static_cast<double>(block);
  return 100.0 * (lanes - static_cast<double>(columns)) / lanes;
}

void state_masked_lanes(model::AuditedOp& op, const std::vector<long long>& sizes) {
  const std::vector<long long> usual(std::begin(kUsualSizes), std::end(kUsualSizes));
  for (model::LaunchFact& launch : op.launches) {
    for (model::SettingSource& block : launch.block_sources) {
      if (!block.rounded_up) continue;
      for (const long long size : sizes.empty() ? usual : sizes)
        block.rounded_up->masked.push_back({size, masked_lane_waste_pct(size, block.rounded_up->largest)});
    }
  }
}

}  // namespace hone::source
