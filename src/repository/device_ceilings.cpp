#include "repository/device_ceilings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/hash.hpp"
#include "base/regular_file.hpp"
#include "base/utc.hpp"
#include "measure/physics.hpp"
#include "measure/statistics.hpp"
#include "repository/launch_subject.hpp"

namespace hone::repository {

namespace {

constexpr int kMeasuring = 1;  // counts up when the way of measuring changes, so that older files do not stand
constexpr std::uint64_t kLargestFile = 1 << 20;
constexpr int kLooks = 5;
constexpr const char* kOriginNote = "origin: ";  // of the run that tells it, so it is not kept

std::string gigabytes(double bytes_per_s) { return fmt::format("{:.1f} GB/s", bytes_per_s / 1e9); }

// The copy that the shapes run: the quicker of both kinds of stores.
std::string quickest_copy(const model::Ceilings& ceilings) {
  return ceilings.p50("copy_streaming_bytes_per_s") > ceilings.p50("copy_bytes_per_s") ? "copy_streaming_bytes_per_s"
                                                                                       : "copy_bytes_per_s";
}

}  // namespace

std::string describe(const CeilingOrigin& origin) {
  if (origin.kept)
    return fmt::format(
        "kept in {}, measured {}; a copy now runs at {:.0f} % of the kept one (they stand within {:.0f} %)",
        origin.path, base::age_text(origin.age_s), 100 * origin.looked_over_kept, 100 * DeviceCeilings::kAgreement);
  std::string text = "measured now";
  if (!origin.refused.empty()) text += "; kept ones did not stand: " + origin.refused;
  if (!origin.not_written.empty())
    text += "; not kept: " + origin.not_written;
  else if (!origin.path.empty())
    text += "; kept in " + origin.path;
  return text;
}

std::string DeviceCeilings::identity() const {
  const model::DeviceInfo& info = device_.info();
  std::string text =
      fmt::format("{} {}, {}, {} cores, {} bytes of memory, driver {}, compiler {}, caches", info.kind, info.name,
                  info.architecture, info.sm_count, info.total_memory_bytes, info.driver, info.compiler);
  for (const model::Cache& cache : info.caches)
    text += fmt::format(" L{} {} of {}", cache.level, cache.bytes, cache.shared_by_cores);
  return text;
}

std::string DeviceCeilings::measured_by() const {
  return fmt::format("{} {}", kMeasuring, device_.ceiling_program_version());
}

// What tells two devices of a machine apart; the rest of the identity is checked in the file, which is then written over.
std::string DeviceCeilings::path() const {
  if (directory_.empty()) return "";
  const model::DeviceInfo& info = device_.info();
  const std::string name = base::content_hash(fmt::format("{} {} {}", info.id, info.name, info.sm_count));
  return base::join(directory_, "ceilings/" + name + ".json");
}

std::optional<model::KeptCeilings> DeviceCeilings::load() {
  origin_.path = path();
  if (origin_.path.empty() || !files_.exists(origin_.path)) return std::nullopt;
  const auto refuse = [this](const std::string& reason) {
    origin_.refused = reason;
    return std::nullopt;
  };
  auto text = base::read_regular(files_, origin_.path, kLargestFile);
  if (!text) return refuse(text.error().found);
  auto kept = model::parse_kept_ceilings(*text, origin_.path);
  if (!kept) return refuse(fmt::format("expected {}, found {}", kept.error().expected, kept.error().found));
  if (kept->device != identity()) return refuse("they are of another device: " + kept->device);
  if (kept->measured_by != measured_by()) return refuse("another version of the programs measured them");
  const std::int64_t cache = kept->ceilings.effective_last_level_cache_bytes;
  if (cache > device_.info().total_memory_bytes) return refuse(fmt::format("a cache of {} bytes", cache));
  return std::move(*kept);
}

void DeviceCeilings::save(const model::Ceilings& ceilings, bool quick) {
  origin_.path = path();
  if (origin_.path.empty()) return;
  model::KeptCeilings kept = {identity(), measured_by(), quick, cache_looks_, ceilings};
  kept.ceilings.effective_last_level_cache_bytes = device_.info().ceilings.effective_last_level_cache_bytes;
  if (auto written = files_.write_atomically(origin_.path, model::to_json(kept)); !written)
    origin_.not_written = written.error().found;
}

void DeviceCeilings::recall_cache_size() {
  if (cache_recalled_) return;
  cache_recalled_ = true;
  const auto kept = load();
  if (!kept || kept->cache_looks == 0) return;
  cache_looks_ = kept->cache_looks;
  device_.use_cache_size(kept->ceilings.effective_last_level_cache_bytes);
  // Other programs push data out of the caches: what was measured beside them is measured once more.
  const bool beside_load = kept->ceilings.conditions.load > device_.info().sm_count;
  cache_known_ = cache_looks_ > 1 || !beside_load;
}

base::Result<void> DeviceCeilings::learn_cache_size() {
  recall_cache_size();
  if (cache_known_ || cache_tried_) return {};
  cache_tried_ = true;
  auto bytes = device_.measure_cache_size({});
  if (!bytes && bytes.error().kind == base::ErrorKind::interrupted) return bytes.error();
  if (!bytes) return {};  // no memory or no compiler: measuring the ceilings meets that too, and says it
  cache_known_ = true;
  ++cache_looks_;
  device_.use_cache_size(std::max(*bytes, device_.info().ceilings.effective_last_level_cache_bytes));
  const auto kept = load();
  save(kept ? kept->ceilings : model::Ceilings{}, kept && kept->quick);
  return {};
}

base::Result<std::optional<model::Ceiling>> DeviceCeilings::look(const model::Ceilings& ceilings) {
  HONE_TRY(programs, device_.ceiling_programs(ceilings));
  if (*programs == nullptr) return std::optional<model::Ceiling>();
  programs_ = std::move(*programs);
  const device::CeilingRun run = programs_->run_of(quickest_copy(ceilings));
  std::vector<double> rates;
  for (int i = 0; i <= kLooks; ++i) {
    HONE_TRY(sample, device_.time(run.launches, {}));
    if (i > 0) rates.push_back(run.amount / std::max(1.0, sample->device_ns) * 1e9);
  }
  const auto at = [&](double p) { return measure::quantile(rates, p).value_or(0); };
  return std::optional<model::Ceiling>({at(0.2), at(0.5), at(0.8), kLooks, ""});
}

base::Result<bool> DeviceCeilings::confirm(model::KeptCeilings kept, std::int64_t age_s) {
  const std::string copy = quickest_copy(kept.ceilings);
  const double kept_rate = kept.ceilings.p50(copy);
  auto seen = look(kept.ceilings);
  if (!seen && seen.error().kind == base::ErrorKind::interrupted) return seen.error();
  if (!seen) origin_.refused = "they could not be checked: " + seen.error().found;
  if (!seen || !*seen || !(kept_rate > 0)) return false;
  const double ratio = (*seen)->p50 / kept_rate;
  if (!(std::abs(ratio - 1) <= kAgreement)) {
    origin_.refused = fmt::format("a copy runs at {}, {} when they were measured {}", gigabytes((*seen)->p50),
                                  gigabytes(kept_rate), base::age_text(age_s));
    return false;
  }
  known_ = std::move(kept.ceilings);
  std::erase_if(known_->notes, [](const std::string& note) { return note.starts_with(kOriginNote); });
  quick_ = kept.quick;
  if (ratio > 1) {
    (*seen)->program = known_->by_name[copy].program;
    known_->by_name[copy] = **seen;
    save(*known_, quick_);
  }
  origin_.kept = true, origin_.age_s = age_s, origin_.looked_over_kept = ratio, origin_.refused = "";
  return true;
}

base::Result<model::Ceilings> DeviceCeilings::measure(bool quick) {
  programs_.reset();  // their shapes may change, and their memory is wanted
  HONE_TRY(measured, device_.ceilings({quick}));
  known_ = std::move(*measured);
  quick_ = quick;
  origin_.kept = false;
  save(*known_, quick);
  return *known_;
}

base::Result<model::Ceilings> DeviceCeilings::ceilings(bool quick) {
  if (known_) return *known_;
  // Ceilings are measured with working sets and cold caches by the effective size.
  HONE_PROPAGATE(learn_cache_size());
  auto kept = load();
  bool stands = false;
  if (kept && !kept->ceilings.by_name.empty() && (quick || !kept->quick)) {
    const auto then = base::seconds_of_utc(kept->ceilings.measured_at), now = base::seconds_of_utc(clock_.utc());
    if (then && now && *now >= *then && *now - *then <= kOldestSeconds) {
      HONE_TRY(confirmed, confirm(std::move(*kept), *now - *then));
      stands = *confirmed;
    } else {
      origin_.refused = "they are of " + kept->ceilings.measured_at;
    }
  }
  if (!stands) HONE_PROPAGATE(measure(quick));
  known_->notes.push_back(kOriginNote + describe(origin_));
  return *known_;
}

base::Result<model::Ceilings> DeviceCeilings::again() {
  HONE_TRY(first, ceilings(true));
  programs_.reset();
  HONE_TRY(second, device_.ceilings({true}));
  known_ = measure::larger_rates(*first, *second);
  if (!taken_) save(*known_, quick_);
  return *known_;
}

void DeviceCeilings::take(const model::Ceilings& ceilings) {
  known_ = ceilings;
  taken_ = true;
  programs_.reset();
}

base::Result<CeilingSubject> DeviceCeilings::beside(const PassFloor& floor) {
  if (!known_ || !(known_->p50(floor.ceiling) > 0)) return CeilingSubject{};
  if (programs_ == nullptr) {
    auto programs = device_.ceiling_programs(*known_);
    if (!programs && programs.error().kind == base::ErrorKind::interrupted) return programs.error();
    if (!programs) return CeilingSubject{nullptr, 0, base::describe(programs.error())};
    programs_ = std::move(*programs);
  }
  if (programs_ == nullptr) return CeilingSubject{};
  const device::CeilingRun run = programs_->run_of(floor.ceiling);
  if (run.launches.empty()) return CeilingSubject{};
  auto subject = std::make_unique<LaunchSubject>("ceiling", device_);
  subject->add(
      run.launches, [] { return base::Result<void>(); }, programs_);
  return CeilingSubject{std::move(subject), run.amount / known_->p50(floor.ceiling) * 1e9, ""};
}

}  // namespace hone::repository
