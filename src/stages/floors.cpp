#include "stages/floors.hpp"

#include <algorithm>

#include "measure/protocol.hpp"

namespace hone::stages {

namespace {

const model::Headroom* row_of(const model::Profile& profile, const repository::Cell& cell) {
  for (const model::Headroom& row : profile.headroom)
    if (row.x_value == cell.x_value && row.mode == cell.mode) return &row;
  return nullptr;
}

}  // namespace

base::Result<void> look_again(repository::Timed& session, model::Profile& profile, const Ports& ports) {
  ports.progress.message("the ceilings of the device are measured again");
  HONE_TRY(again, session.ceilings_again());
  profile.device.ceilings = std::move(*again);
  for (model::Headroom& row : profile.headroom) {
    const repository::PassFloor floor = session.floor({row.x_value, row.mode});
    if (!(floor.floor_ms > 0)) continue;
    if (row.paired.pairs > 0) {
      row.physics_floor_ms = std::min(row.physics_floor_ms, floor.physics_floor_ms);
      continue;
    }
    row.floor_ms = floor.floor_ms;
    row.physics_floor_ms = floor.physics_floor_ms;
    row.ratio = row.measured_ms / floor.floor_ms;
    row.ceiling = floor.ceiling;
    row.share_of_ceiling_pct = 100 * floor.floor_ms / row.measured_ms;
  }
  return {};
}

Floors::Floors(repository::Timed& session, model::Profile& profile, const Ports& ports)
    : session_(session), profile_(profile), ports_(ports) {
  if (!profile.device.ceilings.by_name.empty()) session.take_ceilings(profile.device.ceilings);
}

repository::PassFloor Floors::at(const repository::Cell& cell) const {
  const model::Headroom* row = row_of(profile_, cell);
  if (row && row->physics_floor_ms > 0)
    return {row->bytes, row->flops, row->floor_ms, row->physics_floor_ms, row->ceiling};
  return session_.floor(cell);
}

base::Result<bool> Floors::look_again() {
  if (looks_ == kMostLooks) return false;
  ++looks_;
  HONE_PROPAGATE(stages::look_again(session_, profile_, ports_));
  return true;
}

base::Result<model::Comparison> Floors::judge(const repository::Cell& cell, const Compare& compare) {
  while (true) {
    const double floor_ms = at(cell).physics_floor_ms;
    auto comparison = compare(floor_ms * 1e6);
    if (comparison || !measure::is_below_floor(comparison.error())) return comparison;
    HONE_TRY(looked, look_again());
    if (!*looked || !(at(cell).physics_floor_ms < floor_ms)) return comparison;
  }
}

}  // namespace hone::stages
