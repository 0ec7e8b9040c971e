// The plan of each rewrite: what it would replace for given requests. rewrite.cpp lists them and applies them.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "source/edit.hpp"
#include "source/triton/rewrite/subject.hpp"

namespace hone::source::rewrite {

struct Plan {
  std::vector<Replacement> replacements;
  std::vector<Site> sites;
  std::vector<std::string> notes;  // for the header: what changed, one line each
};

// All requests name the same rewrite. An error says why it does not apply, or which value is wrong.
using Planner = base::Result<Plan> (*)(const Subject&, const Rewrite&, const std::vector<Request>&);

base::Result<Plan> plan_settings_function(const Subject&, const Rewrite&, const std::vector<Request>&);
base::Result<Plan> plan_programs_per_sm(const Subject&, const Rewrite&, const std::vector<Request>&);
base::Result<Plan> plan_block_row(const Subject&, const Rewrite&, const std::vector<Request>&);
base::Result<Plan> plan_cache_policy(const Subject&, const Rewrite&, const std::vector<Request>&);
base::Result<Plan> plan_hoisted_loads(const Subject&, const Rewrite&, const std::vector<Request>&);
base::Result<Plan> plan_loop_stages(const Subject&, const Rewrite&, const std::vector<Request>&);
base::Result<Plan> plan_loop_unrolling(const Subject&, const Rewrite&, const std::vector<Request>&);
base::Result<Plan> plan_shared_math(const Subject&, const Rewrite&, const std::vector<Request>&);
base::Result<Plan> plan_partial_sum(const Subject&, const Rewrite&, const std::vector<Request>&);
base::Result<Plan> plan_wide_offsets(const Subject&, const Rewrite&, const std::vector<Request>&);

}  // namespace hone::source::rewrite
