// The readers that advise is made of, one for each language.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/source_facts.hpp"

namespace hone::diagnose {

inline constexpr const char* kUnmeasured = "read from source; nothing was measured";

// Opportunities as they are found: those of one title are one, with all its places.
class OpportunityList {
 public:
  void add(std::string title, const std::string& detail, std::vector<model::Location> locations, const char* strategy,
           const char* risk);
  std::vector<model::Opportunity> take() { return std::move(found_); }

 private:
  std::vector<model::Opportunity> found_;
};

// "a; b; c" of distinct texts, in order.
class Listing {
 public:
  void add(const std::string& text);
  std::string text(const char* none) const;

 private:
  std::vector<std::string> parts_;
};

std::string lines_text(const std::vector<int>& lines);  // "3, 7"

model::Configuration triton_configuration(const model::AuditedOp& op);
std::vector<model::Opportunity> triton_opportunities(const model::AuditedOp& op);
model::Configuration cpp_configuration(const model::AuditedOp& op);
std::vector<model::Opportunity> cpp_opportunities(const model::AuditedOp& op);
void read_cpp_tier(model::AuditedOp& op);

}  // namespace hone::diagnose
