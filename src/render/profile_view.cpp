#include "render/profile_view.hpp"

#include <algorithm>

namespace hone::render {

using model::BaselineRow;
using model::Profile;

std::string own_provider(const Profile& profile) {
  for (const BaselineRow& row : profile.baseline.rows)
    if (row.provider == "hone" || row.provider == "liger" || row.provider == profile.identity.repository)
      return row.provider;
  return profile.baseline.rows.empty() ? "hone" : profile.baseline.rows.front().provider;
}

std::vector<std::string> other_providers(const Profile& profile) {
  const std::string own = own_provider(profile);
  std::vector<std::string> names;
  for (const BaselineRow& row : profile.baseline.rows)
    if (row.provider != own && std::find(names.begin(), names.end(), row.provider) == names.end())
      names.push_back(row.provider);
  return names;
}

namespace {

std::string origin_of(const BaselineRow& row) {
  if (row.source != model::Source::recorded || !row.origin.empty()) return row.origin;
  const std::size_t place = row.provider.find(" (");
  return place == std::string::npos ? "" : row.provider.substr(place + 2, row.provider.rfind(')') - place - 2);
}

}  // namespace

Profile of_origin(const Profile& profile, const std::string& origin) {
  Profile part;
  part.kernel = profile.kernel, part.identity = profile.identity, part.baseline.x_name = profile.baseline.x_name;
  for (BaselineRow row : profile.baseline.rows) {
    if (origin_of(row) != origin) continue;
    if (!origin.empty()) row.provider = row.provider.substr(0, row.provider.find(" ("));
    part.baseline.rows.push_back(std::move(row));
  }
  return part;
}

std::vector<std::string> recorded_origins(const Profile& profile) {
  std::vector<std::string> origins;
  for (const BaselineRow& row : profile.baseline.rows) {
    const std::string origin = origin_of(row);
    if (!origin.empty() && std::find(origins.begin(), origins.end(), origin) == origins.end())
      origins.push_back(origin);
  }
  return origins;
}

const BaselineRow* find_row(const Profile& profile, const std::string& x_value, const std::string& mode,
                            const std::string& provider, const std::string& metric) {
  for (const BaselineRow& row : profile.baseline.rows)
    if (row.x_value == x_value && row.mode == mode && row.provider == provider && row.metric == metric) return &row;
  return nullptr;
}

const model::Headroom* find_headroom(const Profile& profile, const std::string& x_value, const std::string& mode) {
  for (const model::Headroom& row : profile.headroom)
    if (row.x_value == x_value && row.mode == mode) return &row;
  return nullptr;
}

const model::NoiseFloor* find_noise(const Profile& profile, const std::string& x_value, const std::string& mode) {
  for (const model::NoiseFloor& row : profile.baseline.noise_floor)
    if (row.x_value == x_value && row.mode == mode) return &row;
  return nullptr;
}

std::vector<Point> points_of(const Profile& profile, const std::string& metric) {
  std::vector<Point> points;
  for (const BaselineRow& row : profile.baseline.rows) {
    if (row.metric != metric) continue;
    const bool seen = std::any_of(points.begin(), points.end(), [&](const Point& point) {
      return point.x_value == row.x_value && point.mode == row.mode;
    });
    if (!seen) points.push_back({row.x_value, row.mode});
  }
  return points;
}

std::string settings_text(const model::Settings& settings) {
  std::string text;
  for (const auto& [name, value] : settings) text += (text.empty() ? "" : ", ") + name + "=" + std::to_string(value);
  return text.empty() ? "as shipped" : text;
}

std::string x_text(const std::string& x_name, const std::string& x_value) {
  return x_name.empty() ? x_value : x_name + " " + x_value;
}

}  // namespace hone::render
