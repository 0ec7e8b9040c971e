#include "model/variant.hpp"

#include <cassert>

namespace hone::model {

const Settings& SettingsFunction::at(std::int64_t x) const {
  assert(!rules.empty());
  const SettingsRule* chosen = &rules.front();
  for (const SettingsRule& rule : rules)
    if (rule.from_x <= x) chosen = &rule;
  return chosen->settings;
}

}  // namespace hone::model
