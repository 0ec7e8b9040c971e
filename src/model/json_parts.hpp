// The pieces that several documents share, written and read in one place. Internal to src/model.
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

// The whole documents as trees, for documents that contain them.
Json json_tree(const Profile& profile);
Json json_tree(const ComparisonDocument& comparison);

// Reading notes every fault in the fields' own JsonFault: quantiles out of order, negative times, empty intervals.
Quantiles read_quantiles(const JsonFields& fields);
Comparison read_comparison(const JsonFields& fields);
std::map<std::string, SettingsFunction> read_settings_by_pass(const JsonFields& fields, const std::string& name);
ResultRow read_result_row(const JsonFields& fields);
GuardrailCheck read_guardrail(const JsonFields& fields);

// The counters block (counters_json.cpp).
Json json_of(const Counters& counters);
Counters read_counters(const JsonFields& fields);
// The device block (device_json.cpp).
Json json_of(const DeviceInfo& device);
DeviceInfo read_device(const JsonFields& fields);

}  // namespace hone::model
