// Block 3 of profile.md: speed, memory, headroom, noise floor, observations.
#include <algorithm>

#include "render/documents/profile_blocks.hpp"
#include "render/format.hpp"
#include "render/profile_view.hpp"

namespace hone::render {

namespace {

using model::BaselineRow;
using model::Profile;

// A caller's time this much over the kernel's says that the caller's benchmark shows the host.
constexpr double host_dominates = 1.5;

std::string median(const BaselineRow* row) { return row == nullptr ? "not measured" : figure(row->p50); }
std::string quantiles(const BaselineRow* row) { return row == nullptr ? "not measured" : spread(row->p20, row->p80); }

std::string x_title(const Profile& profile) { return known(profile.baseline.x_name, "x value"); }

void write_speed_table(Markdown& page, const Profile& profile) {
  const std::vector<Point> points = points_of(profile, "speed");
  const std::string own = own_provider(profile);
  const std::vector<std::string> others = other_providers(profile);
  std::vector<Column> columns{
      {x_title(profile), Align::right}, {"Mode"}, {own, Align::right}, {"p20 to p80", Align::right}};
  for (const std::string& other : others) {
    columns.push_back({other, Align::right});
    columns.push_back({"p20 to p80", Align::right});
    columns.push_back({"Speedup", Align::right});
  }
  const bool has_wall = !points_of(profile, "wall").empty();
  if (has_wall) columns.push_back({"Wall time", Align::right});
  Table table(columns);
  for (const Point& point : points) {
    const BaselineRow* mine = find_row(profile, point.x_value, point.mode, own, "speed");
    std::vector<std::string> cells{point.x_value, point.mode, median(mine), quantiles(mine)};
    for (const std::string& other : others) {
      const BaselineRow* theirs = find_row(profile, point.x_value, point.mode, other, "speed");
      cells.insert(cells.end(), {median(theirs), quantiles(theirs)});
      const bool both = mine != nullptr && theirs != nullptr && theirs->p50 > 0;
      cells.push_back(both ? speedup(mine->p50 / theirs->p50) : "not known");
    }
    if (has_wall) cells.push_back(median(find_row(profile, point.x_value, point.mode, own, "wall")));
    table.add_row(cells);
  }
  page.table(table);
}

void write_speed(Markdown& page, const Profile& profile) {
  page.heading(3, "Speed");
  if (points_of(profile, "speed").empty()) return page.paragraph("No pass was timed; the observations below say why.");
  write_speed_table(page, profile);
  const std::string own = own_provider(profile);
  page.paragraph("Medians in ms. " + own +
                 " and what it is compared with are kernel time; wall time is what the caller of " + own +
                 " waits for, launch and synchronization included. Speedup is the other provider's time over " + own +
                 "'s.");
}

// Numbers from elsewhere are never mistaken for measurements.
void write_sources(Markdown& page, const Profile& profile) {
  std::vector<std::string> lines;
  for (const BaselineRow& row : profile.baseline.rows) {
    if (row.source == model::Source::measured) continue;
    const std::string line =
        "The " + row.metric + " of " + row.provider + " is " + model::word(row.source) + ", not measured here.";
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  }
  page.bullets(lines);
}

// Where a pass holds more than its kernels, their time is a measurement of its own.
void write_kernels_alone(Markdown& page, const Profile& profile) {
  const std::vector<Point> points = points_of(profile, "kernels");
  if (points.empty()) return;
  const std::string own = own_provider(profile);
  Table table({{x_title(profile), Align::right},
               {"Mode"},
               {"Pass (ms)", Align::right},
               {"Its kernels alone (ms)", Align::right}});
  for (const Point& point : points)
    table.add_row({point.x_value, point.mode, median(find_row(profile, point.x_value, point.mode, own, "speed")),
                   median(find_row(profile, point.x_value, point.mode, own, "kernels"))});
  page.heading(3, "Kernels alone");
  page.table(table);
  page.paragraph("A pass also holds what the framework does beside the kernels, sums of partial results for instance.");
}

void write_memory_table(Markdown& page, const Profile& profile) {
  const std::vector<Point> points = points_of(profile, "memory");
  const std::string own = own_provider(profile);
  const std::vector<std::string> others = other_providers(profile);
  std::vector<Column> columns{{x_title(profile), Align::right}, {"Mode"}, {own + " (MB)", Align::right}};
  for (const std::string& other : others) {
    columns.push_back({other + " (MB)", Align::right});
    columns.push_back({"Savings", Align::right});
  }
  Table table(columns);
  for (const Point& point : points) {
    const BaselineRow* mine = find_row(profile, point.x_value, point.mode, own, "memory");
    std::vector<std::string> cells{point.x_value, point.mode, median(mine)};
    for (const std::string& other : others) {
      const BaselineRow* theirs = find_row(profile, point.x_value, point.mode, other, "memory");
      cells.push_back(median(theirs));
      const bool both = mine != nullptr && theirs != nullptr && theirs->p50 > 0;
      cells.push_back(both ? percent(100 * (1 - mine->p50 / theirs->p50)) : "not known");
    }
    table.add_row(cells);
  }
  page.table(table);
}

void write_memory(Markdown& page, const Profile& profile) {
  page.heading(3, "Memory");
  if (points_of(profile, "memory").empty())
    return page.paragraph("Memory was not measured: the repository reports no memory for this kernel.");
  write_memory_table(page, profile);
  page.paragraph(
      "The peak over what was allocated before the call, so the kernel's own: the inputs, which every provider needs, "
      "would hide the difference.");
}

// A table for each device, day and shape: times of two of them divided by each other would compare machines, not kernels.
void write_recorded(Markdown& page, const Profile& profile) {
  for (const std::string& origin : recorded_origins(profile)) {
    const Profile part = of_origin(profile, origin);
    page.heading(3, "Recorded elsewhere: " + origin);
    if (!points_of(part, "speed").empty()) {
      write_speed_table(page, part);
      page.paragraph("Times in ms as recorded. Speedup is the other provider's time over " + own_provider(part) +
                     "'s.");
    }
    if (!points_of(part, "memory").empty()) {
      write_memory_table(page, part);
      page.paragraph("Memory in MB as recorded.");
    }
  }
}

void write_headroom(Markdown& page, const Profile& profile) {
  page.heading(3, "Headroom and noise floor");
  if (profile.headroom.empty() && profile.baseline.noise_floor.empty())
    return page.paragraph(
        "Neither a roofline bound nor a noise floor is known for these rows: no ceiling or no paired run was "
        "available.");
  Table table({{x_title(profile), Align::right},
               {"Mode"},
               {"Measured (ms)", Align::right},
               {"Roofline bound (ms)", Align::right},
               {"Ratio", Align::right},
               {"Share of ceiling", Align::right},
               {"Bound set by"},
               {"Minimum traffic", Align::right},
               {"Smallest visible effect", Align::right}});
  for (const Point& point : points_of(profile, "speed")) {
    const model::Headroom* room = find_headroom(profile, point.x_value, point.mode);
    const model::NoiseFloor* noise = find_noise(profile, point.x_value, point.mode);
    std::vector<std::string> cells{point.x_value, point.mode};
    if (room != nullptr)
      cells.insert(cells.end(), {figure(room->measured_ms), figure(room->floor_ms), figure(room->ratio),
                                 share_interval(room->share_of_ceiling_pct, room->paired),
                                 known(ceiling_title(room->ceiling), "not recorded"),
                                 room->bytes > 0 ? bytes(room->bytes) : "not counted"});
    else
      cells.insert(cells.end(),
                   {"see Speed", "not known", "not known", "not known", "no bound for this pass", "not counted"});
    cells.push_back(noise != nullptr ? percent(noise->smallest_effect_pct) : "no A/A run");
    table.add_row(cells);
  }
  page.table(table);
  page.paragraph(
      "The roofline bound is the longer of two times: the minimum traffic at the measured bandwidth and the operations "
      "at the measured rate, by the medians of block 2's ceilings. A measurement may beat it by the spread of the "
      "ceilings, or by data that stays in a cache. A share with an interval is paired: the ceiling's program ran "
      "between "
      "the samples of the pass, and the bound is that of the speed it had there. The physical bound, physics_floor_ms "
      "in "
      "profile.json, is lower: a variant that is faster is stopped. "
      "The smallest visible effect comes from the baseline paired with a byte copy of itself: no speedup below it is "
      "claimed, whatever the medians say.");
}

void write_host_note(Markdown& page, const Profile& profile) {
  std::string places;
  const std::string own = own_provider(profile);
  for (const Point& point : points_of(profile, "wall")) {
    const BaselineRow* kernel = find_row(profile, point.x_value, point.mode, own, "speed");
    const BaselineRow* wall = find_row(profile, point.x_value, point.mode, own, "wall");
    if (kernel == nullptr || wall == nullptr || !(wall->p50 > host_dominates * kernel->p50)) continue;
    places += (places.empty() ? "" : ", ") + point.mode + " at " + point.x_value + " (" +
              figure(wall->p50 / kernel->p50) + "x)";
  }
  if (!places.empty())
    page.paragraph(
        "Wall time is far over kernel time for " + places +
        ". A benchmark that times the caller measures the host there, and a faster kernel will hardly show in it.");
}

}  // namespace

void write_baseline(Markdown& page, const Profile& profile) {
  page.heading(2, "3. Baseline Benchmarks");
  Profile measured = profile;
  measured.baseline.rows = of_origin(profile, "").baseline.rows;
  write_speed(page, measured);
  write_sources(page, measured);
  write_host_note(page, measured);
  write_kernels_alone(page, measured);
  write_memory(page, measured);
  write_headroom(page, measured);
  write_recorded(page, profile);
  const model::Observations& seen = profile.baseline.observations;
  page.heading(3, "Observations");
  page.bullets({"Slowest mode: " + known(seen.slowest_mode, "not known, no pass was timed") +
                    (seen.slowest_mode_reason.empty() ? "" : ", because " + seen.slowest_mode_reason) + ".",
                "Largest x value: " + known(seen.largest_x_value, "not known") + ".",
                "Scaling: " + sentence(known(seen.scaling_trend, "not known, fewer than two sizes"))});
  if (seen.warnings.empty())
    page.paragraph("Nothing was seen that makes these tables untrustworthy.");
  else
    page.paragraph("Read these tables with care:");
  std::vector<std::string> warnings;
  for (const std::string& warning : seen.warnings) warnings.push_back(sentence(warning));
  page.bullets(warnings);
}

}  // namespace hone::render
