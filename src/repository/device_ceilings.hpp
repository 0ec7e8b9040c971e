// The ceilings of a device: one set for all sessions, kept between runs in a file, and the ceilings' programs beside a kernel.
//
// Measuring them takes seconds, in which the user waits. So they are kept with what they are ceilings of, and a run begins with
// one short look, a copy: while it agrees with the kept one within kAgreement, the kept ones stand, and of both copies the
// higher rate. What the file holds is checked as text from outside: any fault is a reason to measure anew, and no error.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/result.hpp"
#include "device/device.hpp"
#include "model/kept_ceilings.hpp"
#include "repository/timed.hpp"

namespace hone::repository {

// Where the ceilings in use come from.
struct CeilingOrigin {
  std::string path;             // of the file; empty: none is kept
  bool kept = false;            // from the file, confirmed by a look; otherwise measured by this run
  std::int64_t age_s = 0;       // of kept ones
  double looked_over_kept = 0;  // rate of the look's copy over the kept copy's
  std::string refused;          // why what the file held did not stand; empty where it stood or there was none
  std::string not_written;      // why the file could not be written
};
// One sentence.
std::string describe(const CeilingOrigin& origin);

class DeviceCeilings {
 public:
  static constexpr double kAgreement = 0.15;
  static constexpr std::int64_t kOldestSeconds = 30 * 86400;

  // `directory`: the root of hone's cache (device/program_cache.hpp); empty: nothing is kept. All outlive this.
  DeviceCeilings(device::Device& device, base::FileSystem& files, base::Clock& clock, std::string directory = "")
      : device_(device), files_(files), clock_(clock), directory_(std::move(directory)) {}

  // Those in use; the first call looks or measures. Quick: fewer samples; such ones do not stand where others are asked for.
  base::Result<model::Ceilings> ceilings(bool quick);
  // Measured anew, with the fewer samples of --quick; of each rate the higher stands from then on, and is kept.
  base::Result<model::Ceilings> again();
  // Those of a document: they are in use from then on.
  void take(const model::Ceilings& ceilings);
  const std::optional<model::Ceilings>& known() const { return known_; }
  const CeilingOrigin& origin() const { return origin_; }

  // Tells the device the effective size of its cache: the kept one, without measuring anything.
  void recall_cache_size();
  // The same; measures it where none is kept or the kept one was measured beside more load than there are cores, and uses the
  // larger. What can not be measured leaves the reported size. Errors: a stop by the user.
  base::Result<void> learn_cache_size();

  // The ceiling's program that belongs to a pass, with its time at the ceilings in use. Without subject where these are not
  // known, where the device has no such program, and for matrix products. Errors: a stop by the user.
  base::Result<CeilingSubject> beside(const PassFloor& floor);

 private:
  std::optional<model::KeptCeilings> load();
  void save(const model::Ceilings& ceilings, bool quick);
  base::Result<model::Ceilings> measure(bool quick);
  // Whether the kept ones stand, by a look; then they are in use.
  base::Result<bool> confirm(model::KeptCeilings kept, std::int64_t age_s);
  base::Result<std::optional<model::Ceiling>> look(const model::Ceilings& ceilings);
  std::string identity() const;
  std::string measured_by() const;
  std::string path() const;

  device::Device& device_;
  base::FileSystem& files_;
  base::Clock& clock_;
  const std::string directory_;
  std::optional<model::Ceilings> known_;
  bool quick_ = false;  // how those in use were measured
  bool taken_ =
      false;  // those in use are a document's: they may be another machine's, and are not written into the file
  bool cache_recalled_ = false, cache_tried_ = false, cache_known_ = false;
  int cache_looks_ = 0;
  CeilingOrigin origin_;
  std::shared_ptr<device::CeilingPrograms> programs_;  // of the shapes of those in use
};

}  // namespace hone::repository
