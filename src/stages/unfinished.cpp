#include "stages/unfinished.hpp"

#include "model/version.hpp"
#include "stages/optimize/optimize.hpp"
#include "stages/records.hpp"

namespace hone::stages {

std::optional<model::Profile> unfinished_run(const repository::Described& session, const model::Request& asked,
                                             const Workspace& workspace, bool recovered) {
  base::FileSystem& files = workspace.files();
  if (!files.exists(workspace.at("profile.json"))) return std::nullopt;
  auto profile = workspace.load_profile();
  if (!profile || !check_profile(session, *profile) || !(profile->request == session.resolved(asked)) ||
      profile->hone_commit != model::hone_commit())
    return std::nullopt;
  if (files.exists(workspace.at("report.json"))) {
    const auto text = files.read(workspace.at("report.json"));
    const auto report = text ? parse_report_head(*text) : std::nullopt;
    const bool of_this_profile = report && report->profile_created == profile->created;
    if (of_this_profile && !(recovered && report->applied)) return std::nullopt;
  }
  return std::move(*profile);
}

}  // namespace hone::stages
