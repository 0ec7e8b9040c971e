// What a kernel is, before anything of it is built or run: identity, sizes, passes, knobs, source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "model/profile.hpp"
#include "model/variant.hpp"

namespace hone::repository {

struct Knob {
  std::string name, pass, help, strategy;
  std::vector<std::int64_t> values;
};

class Described {
 public:
  virtual ~Described() = default;

  virtual const model::Identity& identity() const = 0;
  virtual model::DeviceInfo device() const = 0;  // without ceilings
  // The request with everything that was left open filled in: dtype, sizes, options.
  virtual model::Request resolved(const model::Request& asked) const { return asked; }
  // Why nothing can be run and timed here, with what would change that; empty where it can. Then a profile is made from
  // source and recorded results alone, and nothing can be optimized.
  virtual std::string unmeasurable() const { return ""; }

  virtual std::string x_name() const = 0;
  virtual std::vector<std::string> sizes() const = 0;  // x values of the request
  virtual std::vector<std::string> held_out_sizes() const {
    return {};
  }                                                            // between them, to check a settings function on
  virtual std::vector<std::string> modes() const = 0;          // "forward", "backward", "full"
  virtual std::string own_provider() const { return "hone"; }  // the word for this kernel's rows in the tables
  virtual std::vector<std::string> baseline_providers() const { return {}; }  // "eager"

  virtual std::vector<Knob> knobs() const { return {}; }
  // Valid settings of one pass at one size, the shipped ones first.
  virtual std::vector<model::Settings> space(const std::string& pass, const std::string& x_value) const {
    (void)pass, (void)x_value;
    return {{}};
  }
  // The part of the distinct configurations that the sweep may time; nothing: the stage's own bound. Where few configurations
  // differ and one costs less to time than to compile, all of them are timed.
  virtual std::optional<double> search_share() const { return std::nullopt; }
  // Knobs whose forward value backward must use at the same size, because forward leaves its mark in what it saves.
  virtual std::vector<std::string> coupled_knobs() const { return {}; }
  virtual model::Variant original() const = 0;  // v0: the settings in force at every size
  // Knobs, live or dead by machine code, and what the source shows of memory access and arithmetic.
  virtual base::Result<model::Configuration> configuration() { return model::Configuration{}; }

  // File name -> content, original_{kernel}.*
  virtual std::vector<std::pair<std::string, std::string>> snapshot() const = 0;
  virtual std::string source_hash() const = 0;  // of what is in production now
  // What the source alone shows, with places in it; added to what the measurements say.
  virtual std::vector<model::Opportunity> source_opportunities() const { return {}; }
  virtual std::vector<model::StrategyStep> source_strategies() const { return {}; }
  // Results measured elsewhere that the repository keeps; shown as recorded, and never judged.
  virtual std::vector<model::BaselineRow> recorded() { return {}; }
  // Rows of the repository's own benchmark, run as it stands; its output goes below `folder`. None where it has none.
  virtual base::Result<std::vector<model::BaselineRow>> repository_benchmark(const std::string& folder) {
    (void)folder;
    return std::vector<model::BaselineRow>{};
  }
  // What a reader of the tables must know: where ways of measuring disagree, and why.
  virtual std::vector<std::string> remarks() { return {}; }
};

}  // namespace hone::repository
