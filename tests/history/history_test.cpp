// The database of measurements: what is kept comes back, and a hostile file is an error, never a crash or a loss.
#include "history/history.hpp"

#include <gmock/gmock.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "history/suspicion.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::history {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

Run run_at(const std::string& created, const std::string& commit = "aaaa") {
  Run run;
  run.stage = "profile", run.created = created, run.kernel = "rms_norm", run.repository = "native", run.dtype = "fp32";
  run.options = "casting_mode=llama", run.device = "Test CPU", run.driver = "6.1", run.compiler = "g++ 12";
  run.commit = commit, run.source_hash = "h1", run.command = "hone profile rms_norm", run.session = created;
  return run;
}

Measurement speed(double ms, Role role = Role::own, const std::string& x = "4096") {
  return {"hidden_size", x, "forward", role == Role::own ? "hone" : "eager", role, "speed", "ms", ms * 0.99, ms,
          ms * 1.01,     40};
}

class History : public ::testing::Test {
 protected:
  base::Error refusal(Access access) {
    auto opened = Database::open(path_, access);
    if (opened && access == Access::add) {
      auto added = opened->add(run_at("2026-01-01T00:00:00Z"), {speed(1)});
      EXPECT_FALSE(added.ok());
      return added ? base::Error{} : added.error();
    }
    if (opened) {
      auto read = opened->runs();
      EXPECT_FALSE(read.ok());
      return read ? base::Error{} : read.error();
    }
    return opened.error();
  }
  void keep(int runs) {
    auto database = Database::open(path_, Access::add);
    ASSERT_TRUE(database) << base::describe(database.error());
    for (int i = 0; i < runs; ++i)
      ASSERT_TRUE(database->add(run_at("2026-01-01T00:00:0" + std::to_string(i) + "Z"),
                                {speed(1 + i), speed(3, Role::baseline)}));
  }
  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "history.sqlite3";
};

TEST_F(History, WhatIsKeptComesBackInOrder) {
  keep(2);
  auto database = Database::open(path_, Access::read);
  ASSERT_TRUE(database) << base::describe(database.error());
  const auto runs = database->runs("rms_norm");
  ASSERT_TRUE(runs);
  ASSERT_THAT(*runs, SizeIs(2));
  history::Run expected = run_at("2026-01-01T00:00:00Z");
  expected.id = 1;
  EXPECT_EQ((*runs)[0].run, expected);
  EXPECT_EQ((*runs)[1].measurements, (std::vector<Measurement>{speed(2), speed(3, Role::baseline)}));
  EXPECT_THAT(*database->runs("swiglu"), SizeIs(0));
  EXPECT_THAT(*database->runs(), SizeIs(2));
  EXPECT_FALSE(database->add(run_at("x"), {}).ok()) << "opened for reading";
}

// Written before runs named their session: read as it is, and completed by the next run that adds to it.
TEST_F(History, ADatabaseOfTheVersionBeforeIsReadAndGoneOnWith) {
  keep(1);
  sqlite3* before = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &before), SQLITE_OK);
  ASSERT_EQ(
      sqlite3_exec(before, "ALTER TABLE run DROP COLUMN session; PRAGMA user_version=1", nullptr, nullptr, nullptr),
      SQLITE_OK);
  sqlite3_close(before);
  {
    auto database = Database::open(path_, Access::read);
    ASSERT_TRUE(database) << base::describe(database.error());
    const auto runs = database->runs();
    ASSERT_TRUE(runs) << base::describe(runs.error());
    ASSERT_THAT(*runs, SizeIs(1));
    EXPECT_EQ(runs->front().run.session, "");
    EXPECT_EQ(runs->front().run.command, "hone profile rms_norm");
  }
  keep(1);
  auto database = Database::open(path_, Access::read);
  ASSERT_TRUE(database) << base::describe(database.error());
  const auto runs = database->runs();
  ASSERT_THAT(*runs, SizeIs(2));
  EXPECT_EQ(runs->front().run.session, "");
  EXPECT_EQ(runs->back().run.session, "2026-01-01T00:00:00Z");
}

TEST_F(History, ReadingMakesNoFile) {
  EXPECT_THAT(refusal(Access::read).found, HasSubstr("no such file"));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(History, AForeignOrDamagedFileIsRefusedAndLeftAsItIs) {
  std::ofstream(path_) << std::string(8192, 'x');
  for (const Access access : {Access::read, Access::add})
    EXPECT_THAT(refusal(access).found, HasSubstr("not a database"));
  std::filesystem::remove(path_);

  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &other), SQLITE_OK);
  sqlite3_exec(other, "CREATE TABLE run (id INTEGER)", nullptr, nullptr, nullptr);
  sqlite3_close(other);
  for (const Access access : {Access::read, Access::add})
    EXPECT_THAT(refusal(access).found, HasSubstr("another program's database"));
  std::filesystem::remove(path_);

  keep(1);
  ASSERT_EQ(sqlite3_open(path_.c_str(), &other), SQLITE_OK);
  sqlite3_exec(other, "PRAGMA user_version=9", nullptr, nullptr, nullptr);
  sqlite3_close(other);
  EXPECT_THAT(refusal(Access::add).found, HasSubstr("version 9"));
  std::filesystem::remove(path_);

  keep(9);
  std::filesystem::resize_file(path_, 5000);
  for (const Access access : {Access::read, Access::add})
    EXPECT_THAT(refusal(access).remedy, HasSubstr("move the file away"));
}

TEST_F(History, APipeOrAFolderIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  for (const Access access : {Access::read, Access::add})
    EXPECT_THAT(refusal(access).expected, HasSubstr("a regular file"));
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_THAT(refusal(Access::add).expected, HasSubstr("a regular file"));
}

TEST_F(History, AnotherRunsLockIsAnErrorAfterAWhile) {
  keep(1);
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_THAT(refusal(Access::add).remedy, HasSubstr("wait for the other run"));
  sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr);
  sqlite3_close(other);
  keep(1);
}

TEST_F(History, AFolderThatIsNotThereOrCanNotBeWrittenIsAnError) {
  path_ = folder_ / "none/history.sqlite3";
  EXPECT_THAT(refusal(Access::add).remedy, HasSubstr("rights"));
  path_ = "/proc/history.sqlite3";
  EXPECT_THAT(refusal(Access::add).remedy, HasSubstr("rights"));
}

KeptRun kept(const Run& run, std::vector<Measurement> measurements) { return {run, std::move(measurements)}; }

TEST(Suspicions, ARowBeyondTheSpreadOfTheFastestEarlierRunIsOne) {
  const auto found = suspicions({kept(run_at("1", "aaaa"), {speed(1.0)}), kept(run_at("2", "bbbb"), {speed(1.1)}),
                                 kept(run_at("3", "cccc"), {speed(1.2), speed(2.0, Role::own, "8192")})});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].before.commit, "aaaa");
  EXPECT_EQ(found[0].after.commit, "cccc");
  EXPECT_NEAR(found[0].row.ratio, 1.2, 1e-12);
  EXPECT_EQ(found[0].against, "");
}

TEST(Suspicions, ASlowerMachineOrAnotherDriverIsSaid) {
  history::Run later = run_at("2", "bbbb");
  later.driver = "6.2";
  const auto found = suspicions({kept(run_at("1"), {speed(1.0), speed(3.0, Role::baseline)}),
                                 kept(later, {speed(1.2), speed(3.6, Role::baseline)})});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_NEAR(found[0].control, 1.2, 1e-12);
  EXPECT_THAT(found[0].against, HasSubstr("became slower too"));
  EXPECT_THAT(found[0].against, HasSubstr("another driver"));
}

TEST(Suspicions, OtherDevicesSmallEffectsWideSpreadsAndVariantsAreNone) {
  history::Run elsewhere = run_at("2");
  elsewhere.device = "Other CPU";
  Measurement wide = speed(1.2), variant = speed(9);
  wide.p20 = 0.9;
  variant.role = Role::variant, variant.provider = "v1";
  EXPECT_THAT(suspicions({kept(run_at("1"), {speed(1)}), kept(elsewhere, {speed(2)})}), SizeIs(0));
  EXPECT_THAT(suspicions({kept(run_at("1"), {speed(1)}), kept(run_at("2"), {speed(1.04)})}), SizeIs(0));
  EXPECT_THAT(suspicions({kept(run_at("1"), {speed(1)}), kept(run_at("2"), {wide})}), SizeIs(0));
  EXPECT_THAT(suspicions({kept(run_at("1"), {speed(1)}), kept(run_at("2"), {speed(1), variant})}), SizeIs(0));
  EXPECT_THAT(suspicions({kept(run_at("1"), {speed(2)}), kept(run_at("2"), {speed(1)})}), SizeIs(0)) << "faster";
  EXPECT_THAT(suspicions({}), SizeIs(0));
}

TEST(Pairs, TheKernelInProductionIsOneRowWhateverItIsCalled) {
  Measurement native = speed(1.1);
  native.provider = "native";
  const auto pairs = pair_runs(kept(run_at("1"), {speed(1)}), kept(run_at("2"), {native, speed(3, Role::baseline)}));
  ASSERT_THAT(pairs, SizeIs(1));
  EXPECT_NEAR(pairs[0].ratio, 1.1, 1e-12);
  history::Run other = run_at("2");
  other.dtype = "bf16";
  EXPECT_THAT(pair_runs(kept(run_at("1"), {speed(1)}), kept(other, {speed(1)})), SizeIs(0));
}

Measurement of(const std::string& provider, double ms, Role role = Role::variant) {
  Measurement row = speed(ms, role);
  row.provider = provider;
  return row;
}

TEST(Pairs, WhatTheStagesBeganWithIsOneRowUnderEachOfItsNames) {
  const KeptRun profile = kept(run_at("1"), {of("hone", 1.0, Role::own)});
  const KeptRun optimize = kept(run_at("2"), {of("v0 beside v1", 1.1), of("v1", 0.5)});
  const KeptRun applied = kept(run_at("3"), {of("original", 1.2), of("optimized", 0.6, Role::own)});
  const KeptRun compare = kept(run_at("4"), {of("v0", 1.3), of("v1", 0.7)});
  const auto ratios = [](const KeptRun& before, const KeptRun& after) {
    std::map<std::string, double> by_provider;
    for (const Pairing& pair : pair_runs(before, after)) by_provider[pair.after.provider] = pair.ratio;
    return by_provider;
  };
  EXPECT_THAT(ratios(profile, optimize), ElementsAre(Pair("v0 beside v1", DoubleNear(1.1, 1e-9))));
  EXPECT_THAT(ratios(optimize, compare),
              ElementsAre(Pair("v0", DoubleNear(1.3 / 1.1, 1e-9)), Pair("v1", DoubleNear(1.4, 1e-9))));
  EXPECT_THAT(ratios(applied, compare), ElementsAre(Pair("v0", DoubleNear(1.3 / 1.2, 1e-9))));
  // Production before the change and after it are two rows, where a run has both.
  EXPECT_THAT(ratios(profile, applied),
              ElementsAre(Pair("optimized", DoubleNear(0.6, 1e-9)), Pair("original", DoubleNear(1.2, 1e-9))));
  EXPECT_THAT(ratios(applied, profile), ElementsAre(Pair("hone", DoubleNear(1 / 0.6, 1e-9))));
}

TEST(Suspicions, AStageOfTheSameRunIsNotHeldAgainstAnother) {
  history::Run stage = run_at("2");
  stage.session = "1";
  const std::vector<KeptRun> one_run = {kept(run_at("1"), {speed(1.0)}), kept(stage, {speed(1.5)})};
  EXPECT_THAT(suspicions(one_run), SizeIs(0));
  std::vector<KeptRun> with_earlier = one_run;
  with_earlier.insert(with_earlier.begin(), kept(run_at("0"), {speed(1.2)}));
  const auto found = suspicions(with_earlier);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].before.created, "0");
  // Histories of before name no session, and are held against each other as they were.
  std::vector<KeptRun> unnamed = one_run;
  unnamed[0].run.session = unnamed[1].run.session = "";
  EXPECT_THAT(suspicions(unnamed), SizeIs(1));
}

}  // namespace
}  // namespace hone::history
