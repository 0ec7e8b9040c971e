#include "diagnose/source_advice/advice.hpp"

#include <algorithm>
#include <cctype>

#include "diagnose/advice.hpp"
#include "diagnose/source_advice/parts.hpp"

namespace hone::diagnose {

namespace {

void state_masked_lanes(model::AuditedOp& op, const std::vector<long long>& sizes) {
  const std::vector<long long> usual(std::begin(kUsualSizes), std::end(kUsualSizes));
  for (model::LaunchFact& launch : op.launches) {
    for (model::SettingSource& block : launch.block_sources) {
      if (!block.rounded_up) continue;
      block.rounded_up->masked.clear();
      for (const long long size : sizes.empty() ? usual : sizes)
        block.rounded_up->masked.push_back({size, masked_lane_waste_pct(size, block.rounded_up->largest)});
    }
  }
}

// Cheap and certain first: what must stay right, then the settings, then what the source shows.
constexpr const char* kOrder[] = {"correctness",  "parameter-sweep", "grid-sizing",  "access-width",
                                  "unrolling",    "redundant-work",  "algorithm",    "reuse",
                                  "prefetch",     "partial-sums",    "launch-count", "register-pressure",
                                  "less-traffic", "streaming-stores"};

std::vector<model::StrategyStep> order_strategies(const model::AuditedOp& op) {
  std::vector<model::StrategyStep> steps;
  if (op.tier == 0) return steps;
  const bool on_gpu = op.language != "c++";
  for (const std::string word : kOrder) {
    const bool asked = std::any_of(op.opportunities.begin(), op.opportunities.end(),
                                   [&](const auto& o) { return o.strategy == word; });
    const bool always = word == "parameter-sweep";
    const Strategy* strategy = find_strategy(word);
    if ((!asked && !always) || strategy == nullptr) continue;
    std::string reason = on_gpu ? strategy->on_gpu : strategy->on_cpu;
    reason[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(reason[0])));
    steps.push_back({word, strategy->title, reason + " (" + kUnmeasured + ")", "not known without a measurement",
                     always ? "none" : strategy->risk});
  }
  return steps;
}

}  // namespace

void OpportunityList::add(std::string title, const std::string& detail, std::vector<model::Location> locations,
                          const char* strategy, const char* risk) {
  for (model::Opportunity& known : found_) {
    if (known.title != title) continue;
    known.locations.insert(known.locations.end(), locations.begin(), locations.end());
    return;
  }
  model::Opportunity opportunity;
  opportunity.title = std::move(title);
  opportunity.detail = detail + " (" + kUnmeasured + ")";
  opportunity.locations = std::move(locations);
  opportunity.strategy = strategy;
  opportunity.risk = risk;
  found_.push_back(std::move(opportunity));
}

void Listing::add(const std::string& text) {
  if (!text.empty() && std::find(parts_.begin(), parts_.end(), text) == parts_.end()) parts_.push_back(text);
}

std::string Listing::text(const char* none) const {
  std::string joined;
  for (const std::string& part : parts_) joined += (joined.empty() ? "" : "; ") + part;
  return joined.empty() ? none : joined;
}

std::string lines_text(const std::vector<int>& lines) {
  std::string text;
  for (const int line : lines) text += (text.empty() ? "" : ", ") + std::to_string(line);
  return text;
}

void advise(model::AuditedOp& op, const std::vector<long long>& sizes) {
  if (op.language == "triton") {
    state_masked_lanes(op, sizes);
    op.configuration = triton_configuration(op);
    op.opportunities = triton_opportunities(op);
  } else {
    read_cpp_tier(op);
    op.configuration = cpp_configuration(op);
    op.opportunities = cpp_opportunities(op);
  }
  op.strategy_order = order_strategies(op);
}

void advise(model::Audit& audit, const std::vector<long long>& sizes) {
  for (model::AuditedOp& op : audit.kernels) advise(op, sizes);
}

double masked_lane_waste_pct(long long columns, std::optional<long long> largest_block) {
  if (columns <= 0 || largest_block.value_or(1) <= 0) return 0;
  long long block = 1;
  while (block < columns && block < largest_block.value_or(columns)) block *= 2;
  const long long tiles = columns / block + (columns % block != 0 ? 1 : 0);
  const double lanes = static_cast<double>(tiles) * static_cast<double>(block);
  return 100.0 * (lanes - static_cast<double>(columns)) / lanes;
}

}  // namespace hone::diagnose
