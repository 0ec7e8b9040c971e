// Changes of an operator's text that the rewrites of source/triton/rewrite can make, as variants to be tried.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "model/profile.hpp"
#include "repository/changeable.hpp"
#include "repository/python/operator_source.hpp"
#include "source/triton/rewrite/rewrite.hpp"

namespace hone::repository::python {

struct ProposalContext {
  base::FileSystem& files;
  const OperatorSource& source;
  std::string scope;                               // "general", or the pass that may be changed
  std::function<bool(const std::string&)> spills;  // whether the original spills registers in a pass
};

std::vector<Proposal> proposals_for(const std::string& strategy, const model::Profile& profile,
                                    const model::Variant& best, const ProposalContext& context);

// The strategies of the audit, and behind them those that rewrites of this text serve.
std::vector<model::StrategyStep> strategies_of(const OperatorSource& source,
                                               const std::vector<source::rewrite::Finding>& rewrites);

}  // namespace hone::repository::python
