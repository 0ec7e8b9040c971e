// Every measurement of optimize and finalize goes through here: it asks the journal first, measures only what is not there,
// writes the answer down at once, and keeps the raw samples. What fails to run is an answer too.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "measure/protocol.hpp"
#include "model/profile.hpp"
#include "model/variant.hpp"
#include "repository/buildable.hpp"
#include "repository/described.hpp"
#include "repository/judged.hpp"
#include "repository/timed.hpp"
#include "stages/floors.hpp"
#include "stages/journal.hpp"
#include "stages/optimize/search.hpp"
#include "stages/ports.hpp"
#include "stages/trial/options.hpp"

namespace hone::stages {

// The answer to one paired comparison. `untrusted`: it could not be judged here, with the reason.
struct Trial {
  enum class Outcome { measured, over_floor, untrusted, failed };
  Outcome outcome = Outcome::failed;
  model::Comparison comparison;
  std::string reason;
};

// What the compiler made of one configuration; `error` holds its words when it failed.
struct BuiltSettings {
  std::string code_hash, launch_hash, error;
};

class Lab {
 public:
  Lab(const repository::Described& described, repository::Buildable& buildable, repository::Timed& timed,
      repository::Judged& judged, const model::Profile& profile, const OptimizeOptions& options, const Ports& ports,
      const Workspace& workspace, Journal journal);

  const repository::Described& described() const { return described_; }
  repository::Buildable& buildable() { return buildable_; }
  repository::Timed& timed() { return timed_; }
  const model::Profile& profile() const { return profile_; }  // as given, at the ceilings of the last look at them
  Floors& floors() { return floors_; }
  const OptimizeOptions& options() const { return options_; }
  const Ports& ports() const { return ports_; }
  const Workspace& workspace() const { return workspace_; }
  Journal& journal() { return journal_; }

  base::Result<void> check_interrupt() const { return stages::check_interrupt(ports_, options_.command); }

  // Screening: settings against the shipped ones, cheap and rough. `where` names the pass and size.
  base::Result<Estimate> screen(const repository::Cell& where, const model::Settings& shipped,
                                const model::Settings& settings);
  // A paired comparison of two settings of one pass, for the finals and the held-out sizes.
  base::Result<Trial> compare_settings(const repository::Cell& where, const model::Settings& baseline,
                                       const model::Settings& candidate);
  // A paired comparison of two variants at one cell.
  base::Result<Trial> compare(const model::Variant& baseline, const model::Variant& candidate,
                              const repository::Cell& cell);

  // Compiles many configurations of a pass on options().build_threads threads, in order. `sizes[i]` belongs to `settings[i]`.
  base::Result<std::vector<BuiltSettings>> build(const std::string& pass, const std::vector<std::string>& sizes,
                                                 const std::vector<model::Settings>& settings);
  base::Result<repository::GateResult> gate(const model::Variant& variant, repository::GateLevel level);
  base::Result<repository::MemoryUse> memory(const model::Variant& variant, const std::string& x_value);

  double search_share() const { return described_.search_share().value_or(options_.largest_search_share); }
  double noise_floor_pct(const repository::Cell& cell) const;  // 0 where the profile has none
  model::Quantiles known_time(
      const repository::Cell& cell) const;  // v0's time in the profile; no samples where it has none

 private:
  using MakeSubject = std::function<base::Result<std::unique_ptr<measure::Subject>>()>;
  base::Result<Trial> measured(const std::string& key, const std::string& samples_file, const repository::Cell& cell,
                               const measure::Budget& budget, const MakeSubject& baseline,
                               const MakeSubject& candidate);
  base::Result<void> keep_samples(const std::string& file, const std::string& key, const model::Comparison& comparison);

  const repository::Described& described_;
  repository::Buildable& buildable_;
  repository::Timed& timed_;
  repository::Judged& judged_;
  model::Profile profile_;
  const OptimizeOptions& options_;
  const Ports& ports_;
  const Workspace& workspace_;
  Journal journal_;
  Floors floors_;
};

// What a variant is, apart from its name: equal signatures are the same change.
std::string signature(const model::Variant& variant);

}  // namespace hone::stages
