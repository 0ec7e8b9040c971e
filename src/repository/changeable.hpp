// Changes of a kernel: what a repository proposes, what an outside program wrote, and what finalize puts into production.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/profile.hpp"
#include "model/report.hpp"
#include "model/variant.hpp"

namespace hone::repository {

// A file to be written at finalization: production before and after.
struct FileChange {
  std::string path, before, after;
  bool existed = false;
};

// A change a repository knows how to make for a strategy word, ready to be tried against `parent`.
struct Proposal {
  model::Variant variant;  // id is given by the stage
  std::string hypothesis, changes, diff;
  std::vector<model::Prediction> predictions;
};

class Changeable {
 public:
  virtual ~Changeable() = default;

  // Changes this repository can make for a strategy, best idea first, against the best variant so far.
  virtual std::vector<Proposal> propose(const std::string& strategy, const model::Profile& profile,
                                        const model::Variant& best) {
    (void)strategy, (void)profile, (void)best;
    return {};
  }
  // A variant from an outside program's text of the main source file.
  virtual base::Result<model::Variant> variant_from_source(const std::string& text, const model::Variant& best) = 0;
  virtual std::string variant_file_extension() const = 0;  // of {kernel}_vN.*: "hpp", "py", "cu"

  virtual base::Result<std::vector<FileChange>> installation(const model::Variant& variant) = 0;
  // Style of the files of the last installation() by the repository's own checks; nothing where it has none.
  virtual std::optional<model::GateCount> style() const { return std::nullopt; }
};

}  // namespace hone::repository
