#include "source/advice/advice.hpp"

namespace hone::source {

void advise(model::AuditedOp& op, const std::vector<model::KernelFact>& launched) {
  op.configuration = read_configuration(op, launched);
  op.opportunities = find_opportunities(op, launched);
  op.strategy_order = order_strategies(op);
}

double masked_lane_waste_pct(long long columns, long long largest_block) {
  if (columns <= 0 || largest_block <= 0) return 0;
  long long block = 1;
  while (block < columns && block < largest_block) block *= 2;
  const long long tiles = (columns + block - 1) / block;
  return 100.0 * static_cast<double>(tiles * block - columns) / static_cast<double>(tiles * block);
}

}  // namespace hone::source
