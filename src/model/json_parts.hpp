// The pieces that several documents share, written and read in one place: for the documents here, and for the shorter ones
// that commands print with --json (counters, audit, bench, compare). Reading is for src/model alone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/json_fields.hpp"
#include "model/json_value.hpp"
#include "model/profile.hpp"
#include "model/timing.hpp"
#include "model/variant.hpp"

namespace hone::model {

Json json_of(const Quantiles& quantiles);
Json json_of(const Settings& settings);
Json json_of(const Comparison& comparison);
Json json_of(const SettingsFunction& function);
Json json_of(const std::map<std::string, SettingsFunction>& by_pass);
Json json_of(const ResultRow& row);
Json json_of(const GuardrailCheck& check);
Json json_of(const std::vector<std::string>& texts);

Json json_of(const PairedShare& share);  // null where there is none
Json json_of(const Headroom& row);
Json json_of(const Bottleneck& bottleneck);
Json json_of(const Parameter& parameter);
Json json_of(const Configuration& configuration);
Json json_of(const Opportunity& opportunity);
Json json_of(const StrategyStep& step);
Json json_of(const CounterSummary& kernel);
Json json_of(const Counters& counters);
Json json_of(const Ceilings& ceilings);
Json json_of(const DeviceInfo& device);

// The whole documents as trees, for documents that contain them.
Json json_tree(const Profile& profile);
Json json_tree(const ComparisonDocument& comparison);

// Reading notes every fault in the fields' own JsonFault: quantiles out of order, negative times, empty intervals.
Quantiles read_quantiles(const JsonFields& fields);
Comparison read_comparison(const JsonFields& fields);
std::map<std::string, SettingsFunction> read_settings_by_pass(const JsonFields& fields, const std::string& name);
ResultRow read_result_row(const JsonFields& fields);
GuardrailCheck read_guardrail(const JsonFields& fields);
Counters read_counters(const JsonFields& fields);
Ceilings read_ceilings(const JsonFields& fields);
DeviceInfo read_device(const JsonFields& fields);

}  // namespace hone::model
