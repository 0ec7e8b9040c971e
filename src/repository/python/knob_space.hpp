// The knobs of an operator's text, the settings that the original runs with, and the settings that a sweep may try.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/source_facts.hpp"
#include "model/variant.hpp"
#include "repository/described.hpp"
#include "repository/python/worker.hpp"
#include "source/triton/rewrite/rewrite.hpp"

namespace hone::repository::python {

// The rewrites whose knobs the parameter sweep turns; others are variants of their own.
inline constexpr const char *kSettingsRewrite = "settings-function", *kProgramsRewrite = "programs-per-sm";
inline constexpr const char* kProgramsKnob = "programs_per_sm";
bool is_swept(const source::rewrite::Finding& finding);

source::rewrite::Pass rewrite_pass(const std::string& word);

class KnobSpace {
 public:
  // `scope`: "general", or the pass that may be changed.
  KnobSpace(const std::vector<source::rewrite::Finding>& rewrites, const model::AuditedOp& audited,
            const std::vector<std::string>& passes, const std::string& scope);

  const std::vector<Knob>& knobs() const { return knobs_; }
  std::vector<model::Settings> space(const std::string& pass, const std::string& x_value) const;

  // What the launches of the original show of the settings in force at this pass and size.
  void learn(const std::string& pass, const std::string& x_value, const std::vector<LaunchedKernel>& launches,
             int sm_count);
  bool is_known(const std::string& pass, const std::string& x_value) const {
    return shipped_.count({pass, x_value}) > 0;
  }
  // In force at this pass and size; empty where that is not known.
  model::Settings shipped(const std::string& pass, const std::string& x_value) const;
  bool is_shipped(const std::string& pass, const std::string& x_value, const model::Settings& settings) const;
  // Whether the original chooses these settings by itself wherever that is known from one x to another.
  bool is_shipped_between(const std::string& pass, std::int64_t from, std::int64_t to,
                          const model::Settings& settings) const;

  // Programs on each SM that need more memory than a variant may, with their memory over the original's.
  void leave_out(const std::string& pass, std::int64_t programs, double memory_ratio) {
    left_out_[pass][programs] = memory_ratio;
  }
  std::map<std::int64_t, double> left_out(const std::string& pass) const;

 private:
  std::vector<Knob> knobs_;
  std::map<std::pair<std::string, std::string>, model::Settings> shipped_;  // by pass and size
  std::map<std::string, std::map<std::int64_t, double>> left_out_;
};

}  // namespace hone::repository::python
