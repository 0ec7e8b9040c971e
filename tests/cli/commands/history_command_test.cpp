// hone history over a database that the test fills, and what commands keep.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <sstream>

#include "cli/history_records.hpp"
#include "tests/cli/program_fixture.hpp"

namespace hone::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class HistoryCommand : public ProgramTest {
 protected:
  void keep_run(double ms, const std::string& commit, const std::string& kernel = "rms_norm") {
    auto database = history::Database::open(history_path(folder_ / "w"), history::Access::add);
    ASSERT_TRUE(database) << base::describe(database.error());
    history::Run run;
    run.stage = "profile", run.created = "2026-01-02T03:04:05Z", run.kernel = kernel, run.repository = "native";
    run.dtype = "fp32", run.device = "Test CPU", run.commit = commit, run.source_hash = commit;
    ASSERT_TRUE(database->add(run, {{"hidden_size", "4096", "forward", "hone", history::Role::own, "speed", "ms",
                                     ms * 0.99, ms, ms * 1.01, 40}}));
  }
  void SetUp() override { std::filesystem::create_directory(folder_ / "w"); }
  base::Outcome history(std::vector<std::string> words) {
    words.insert(words.begin(), "history");
    words.insert(words.end(), {"--workspace", folder_ / "w"});
    return run(std::move(words));
  }
};

TEST_F(HistoryCommand, ListsShowsAndComparesWithoutAVerdict) {
  keep_run(1.0, "aaaa"), keep_run(1.2, "bbbb"), keep_run(5, "bbbb", "swiglu");
  EXPECT_THAT(history({}).output, AllOf(HasSubstr("swiglu"), HasSubstr("aaaa"), HasSubstr("bbbb")));
  EXPECT_THAT(history({"list", "--kernel", "rms_norm"}).output, Not(HasSubstr("swiglu")));
  EXPECT_THAT(history({"show", "2"}).output, AllOf(HasSubstr("run 2: profile of rms_norm"), HasSubstr("1.20")));
  const base::Outcome compared = history({"compare", "1", "2"});
  EXPECT_EQ(compared.exit_status, 0);
  EXPECT_THAT(compared.output, AllOf(HasSubstr("1.200"), HasSubstr("no verdict"), HasSubstr("hone compare")));
  const base::Outcome json = history({"compare", "1", "2", "--json"});
  EXPECT_THAT(json.output, AllOf(HasSubstr("\"schema\": \"hone.history/1\""), HasSubstr("\"ratio\": 1.2"),
                                 HasSubstr("\"verdict\": null")));
}

TEST_F(HistoryCommand, ARegressionIsSuspectedAndTheCommandThatSettlesItIsPrinted) {
  keep_run(1.0, "aaaa"), keep_run(1.2, "bbbb");
  const base::Outcome found = history({"regressions"});
  EXPECT_EQ(found.exit_status, 0) << "a suspicion is no failed gate";
  EXPECT_THAT(found.output, AllOf(HasSubstr("suspected, by two separate runs"), HasSubstr("1.200"),
                                  HasSubstr("git show aaaa:kernels/rms_norm/rms_norm.hpp > old.hpp"),
                                  HasSubstr("hone compare old.hpp v0 --kernel rms_norm --workspace ")));
  EXPECT_THAT(history({"regressions", "--json"}).output, HasSubstr("\"settled_by\": \"git show"));
  keep_run(5, "bbbb", "swiglu");
  EXPECT_THAT(history({"regressions", "--kernel", "swiglu"}).output, HasSubstr("no regression is suspected"));
}

TEST_F(HistoryCommand, WhatCanNotBeReadOrIsNoRunIsSaid) {
  expect_refused(history({}), 3, "no such file");
  keep_run(1.0, "aaaa");
  expect_refused(history({"show", "7"}), 2, "'7'");
  expect_refused(history({"show"}), 2, "1 run ids after 'show'");
  expect_refused(history({"forget"}), 2, "'forget'");
  expect_refused(history({"compare", "1"}), 2, "2 run ids after 'compare'");
  keep_run(1.0, "aaaa", "swiglu");
  for (const char* what : {"regressions", "list"}) {
    expect_refused(history({what, "--kernel", "nosuch"}), 2, "rms_norm, swiglu");
    expect_refused(history({what, "--kernel", "swigul"}), 2, "did you mean swiglu?");
  }
  ASSERT_TRUE(files_.write_atomically(folder_ / "w/history.sqlite3", std::string(8192, 'x')));
  expect_refused(history({}), 3, "not a database");
}

// Nothing in the way of the history costs a stage its result.
TEST_F(HistoryCommand, AHistoryThatCanNotBeWrittenIsANote) {
  const std::string path = history_path(folder_ / "w");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  Typed typed;
  Meant meant;
  Machine machine;
  std::ostringstream out, err;
  const CommandContext context{typed, meant, machine, out, err, err};
  const model::Profile profile = test::sample_profile();
  const auto rows = measurements_of(profile);
  ASSERT_FALSE(rows.empty());
  keep(context, folder_ / "w", run_of(profile, "profile", profile.created, "hone profile rms_norm"), rows);
  EXPECT_THAT(err.str(), AllOf(HasSubstr("note: the measurements are not in the history"), HasSubstr(path)));
  EXPECT_EQ(out.str(), "");
  std::filesystem::remove(path);
  keep(context, folder_ / "w", run_of(profile, "profile", profile.created, "hone profile rms_norm"), rows);
  auto database = history::Database::open(path, history::Access::read);
  ASSERT_TRUE(database);
  const auto kept = database->runs(profile.kernel);
  ASSERT_EQ(kept->size(), 1u);
  EXPECT_EQ(kept->front().measurements, rows);
  EXPECT_EQ(kept->front().run.device, profile.device.name);
  // A command that needs no workspace, as bench, makes the folder that its measurements are kept in.
  keep(context, folder_ / "new/w", run_of(profile, "bench", profile.created, "hone bench rms_norm"), rows);
  EXPECT_TRUE(history::Database::open(history_path(folder_ / "new/w"), history::Access::read)) << err.str();
}

TEST(HistoryRecords, WhatIsInProductionIsTheKernelsOwnRow) {
  model::Report report;
  const model::Quantiles time{0.9, 1, 1.1, 20};
  for (const char* provider : {"original", "optimized", "eager"})
    report.three_way.push_back({"4096", "forward", "speed", "ms", provider, time, 90});
  for (const bool applied : {true, false}) {
    report.applied = applied;
    const auto rows = measurements_of(report);
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].role, applied ? history::Role::variant : history::Role::own);
    EXPECT_EQ(rows[1].role, applied ? history::Role::own : history::Role::variant);
    EXPECT_EQ(rows[2].role, history::Role::baseline);
  }
}

}  // namespace
}  // namespace hone::cli
