// Results that a checkout keeps, its own benchmark script, and where ways of measuring disagree.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/source_facts.hpp"
#include "repository/liger/checkout.hpp"
#include "repository/python/context.hpp"
#include "repository/python/operator_source.hpp"

namespace hone::repository::liger {

class CheckoutRecords final : public python::Records {
 public:
  // `longest_s`: of the benchmark script; what it has written by then is kept.
  CheckoutRecords(const python::Context& context, std::string root, const model::AuditedOp& op,
                  python::PythonEnvironment environment, GitState git, std::int64_t longest_s)
      : context_(context),
        root_(std::move(root)),
        op_(op),
        environment_(std::move(environment)),
        git_(std::move(git)),
        longest_s_(longest_s) {}

  std::vector<model::BaselineRow> recorded() override;
  base::Result<std::vector<model::BaselineRow>> benchmark(const std::string& folder) override;
  std::vector<std::string> remarks() override;

 private:
  python::Context context_;
  std::string root_;
  model::AuditedOp op_;
  python::PythonEnvironment environment_;
  GitState git_;
  std::int64_t longest_s_;
  std::vector<std::string> remarks_;  // of what was read and run
};

}  // namespace hone::repository::liger
