// Which earlier run a new one goes on with.
#include "stages/unfinished.hpp"

#include "model/report.hpp"
#include "model/version.hpp"
#include "tests/stages/stage_fixture.hpp"

namespace hone::test {
namespace {

class Unfinished : public StepTest {
 protected:
  Unfinished() {
    profile = profile_of(described, FakeTimed(), {});
    profile.hone_commit = model::hone_commit();
    write_profile();
  }
  void write_profile() { ASSERT_TRUE(workspace().write("profile.json", model::to_json(profile))); }
  void write_report(const std::string& profile_created, bool applied) {
    model::Report report;
    report.kernel = profile.kernel;
    report.profile = profile;
    report.profile.created = profile_created;
    report.applied = applied;
    ASSERT_TRUE(workspace().write("report.json", model::to_json(report)));
  }
  bool goes_on(bool recovered = false) {
    const auto found = stages::unfinished_run(described, profile.request, workspace(), recovered);
    EXPECT_TRUE(!found || *found == profile);
    return found.has_value();
  }
  FakeDescribed described;
};

TEST_F(Unfinished, AProfileWithoutItsReportIsGoneOnWith) {
  EXPECT_TRUE(goes_on());
  write_report("2020-01-01T00:00:00Z", true);
  EXPECT_TRUE(goes_on()) << "a report of an older profile";
}

TEST_F(Unfinished, ARunThatCameToItsReportIsOver) {
  for (const bool applied : {true, false}) {
    write_report(profile.created, applied);
    EXPECT_FALSE(goes_on()) << applied;
  }
}

TEST_F(Unfinished, AReportOfAnInstallationThatWasJustTakenBackIsNotTheEnd) {
  write_report(profile.created, true);
  EXPECT_TRUE(goes_on(true));
}

TEST_F(Unfinished, AnotherRequestSourceDeviceOrProgramBeginsAnew) {
  const model::Profile good = profile;
  profile.request.seed = 9;
  write_profile();
  profile = good;
  EXPECT_FALSE(goes_on());
  profile.hone_commit = "another";
  write_profile();
  EXPECT_FALSE(goes_on());
  profile = good;
  write_profile();
  described.kernel.source = "edited since\n";
  EXPECT_FALSE(goes_on());
}

TEST_F(Unfinished, NothingOrATornProfileBeginsAnew) {
  ASSERT_TRUE(workspace().write("profile.json", model::to_json(profile).substr(0, 400)));
  EXPECT_FALSE(goes_on());
  ASSERT_TRUE(files.remove(workspace().at("profile.json")));
  EXPECT_FALSE(goes_on());
}

}  // namespace
}  // namespace hone::test
