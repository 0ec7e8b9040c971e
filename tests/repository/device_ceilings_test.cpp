// Ceilings that are kept between runs: confirmed by one short look, measured anew where anything about them is in doubt.
#include "repository/device_ceilings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "repository/native/native_repository.hpp"
#include "tests/support/played_device.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::repository {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t MiB = 1 << 20;
constexpr double copied_bytes = 256.0 * MiB;

class PlayedPrograms final : public device::CeilingPrograms {
 public:
  device::CeilingRun run_of(const std::string& ceiling) const override {
    if (ceiling.starts_with("matrix_")) return {};
    device::Launch launch;
    launch.entry = ceiling;
    return {{launch}, ceiling == "fma_flops_per_s" ? 1e9 : copied_bytes};
  }
};

class DeviceCeilingsTest : public ::testing::Test {
 protected:
  DeviceCeilingsTest() {
    device_.on_ceilings = [this](bool quick) -> base::Result<model::Ceilings> {
      ++measured_;
      model::Ceilings ceilings;
      for (const char* name : {"copy_bytes_per_s", "read_bytes_per_s", "write_bytes_per_s"})
        ceilings.by_name[name] = {0.98 * rate_, rate_, 1.02 * rate_, quick ? 5 : 12, "shape"};
      ceilings.by_name["fma_flops_per_s"] = {1e11, 1e11, 1e11, 15, ""};
      ceilings.measured_at = utc_;
      ceilings.notes = {"as played"};
      ceilings.conditions = {load_, 3000, 60};
      ceilings.effective_last_level_cache_bytes = device_.info().ceilings.effective_last_level_cache_bytes;
      return ceilings;
    };
    device_.on_cache_size = [this]() -> base::Result<std::int64_t> {
      ++swept_;
      return 16 * MiB;
    };
    device_.on_programs = [] { return std::make_unique<PlayedPrograms>(); };
  }
  // A run of hone of its own: what it knows of an earlier one is the file alone.
  struct Run {
    std::unique_ptr<base::ManualClock> clock;
    std::unique_ptr<DeviceCeilings> ceilings;
  };
  Run run(base::FileSystem& files) {
    device_.use_cache_size(0);
    Run made{std::make_unique<base::ManualClock>(utc_), nullptr};
    made.ceilings = std::make_unique<DeviceCeilings>(device_, files, *made.clock, "/cache");
    return made;
  }
  Run run() { return run(files_); }
  std::string file() {
    for (const auto& [path, text] : files_.files()) return path;
    return "";
  }

  double rate_ = 24e9;  // of memory now
  std::string utc_ = "2026-01-02T03:04:05Z";
  double load_ = 0.5;
  int measured_ = 0, swept_ = 0;
  base::MemoryFiles files_;
  base::ManualClock clock_;
  test::PlayedDevice device_{clock_, [this](const auto&, bool) { return copied_bytes / rate_ * 1e9; }};
};

TEST_F(DeviceCeilingsTest, ASecondRunTakesTheKeptOnesAfterOneShortLook) {
  auto first = run().ceilings->ceilings(false);
  ASSERT_TRUE(first) << base::describe(first.error());
  EXPECT_EQ(measured_, 1);
  utc_ = "2026-01-02T06:04:05Z";
  device_.runs = 0;
  auto later = run();
  const std::int64_t before_ns = clock_.now_ns();
  auto kept = later.ceilings->ceilings(false);
  ASSERT_TRUE(kept);
  EXPECT_EQ(measured_, 1);
  EXPECT_EQ(swept_, 1);
  EXPECT_LE(device_.runs, 6);
  EXPECT_LT(clock_.now_ns() - before_ns, 1'000'000'000);
  EXPECT_EQ(kept->by_name, first->by_name);
  EXPECT_EQ(kept->measured_at, first->measured_at);
  EXPECT_EQ(kept->conditions, first->conditions);
  EXPECT_EQ(device_.info().last_level_cache_bytes(), 16 * MiB) << "the cache's size is kept with them";
  EXPECT_TRUE(later.ceilings->origin().kept);
  EXPECT_EQ(later.ceilings->origin().age_s, 3 * 3600);
  EXPECT_THAT(kept->notes, Contains(HasSubstr("3 h ago")));
  EXPECT_THAT(kept->notes, Contains(HasSubstr(file())));
}

TEST_F(DeviceCeilingsTest, OfBothCopiesTheHigherRateIsKeptWithinTheAgreement) {
  ASSERT_TRUE(run().ceilings->ceilings(false));
  rate_ = 26e9;
  auto faster = run().ceilings->ceilings(false);
  ASSERT_TRUE(faster);
  EXPECT_EQ(measured_, 1);
  EXPECT_NEAR(faster->p50("copy_bytes_per_s"), 26e9, 1e6);
  EXPECT_EQ(faster->by_name.at("copy_bytes_per_s").program, "shape");
  rate_ = 23e9;
  auto slower = run().ceilings->ceilings(false);
  ASSERT_TRUE(slower);
  EXPECT_EQ(measured_, 1);
  EXPECT_NEAR(slower->p50("copy_bytes_per_s"), 26e9, 1e6) << "the file holds the higher one";
}

TEST_F(DeviceCeilingsTest, BeyondTheAgreementTheyAreMeasuredAnew) {
  for (const double rate : {24e9, 30e9, 15e9, 24e9}) {
    rate_ = rate;
    const int before = measured_;
    auto one = run();
    auto ceilings = one.ceilings->ceilings(false);
    ASSERT_TRUE(ceilings);
    EXPECT_EQ(measured_, before + 1);
    EXPECT_DOUBLE_EQ(ceilings->p50("copy_bytes_per_s"), rate);
    EXPECT_FALSE(one.ceilings->origin().kept);
    if (before > 0) {
      EXPECT_THAT(ceilings->notes, Contains(HasSubstr("kept ones did not stand: a copy runs at")));
    }
  }
  EXPECT_EQ(swept_, 1) << "the cache's size does not move with the memory's speed";
}

TEST_F(DeviceCeilingsTest, OthersDevicesVersionsAgesAndQuickOnesDoNotStand) {
  ASSERT_TRUE(run().ceilings->ceilings(true));
  ASSERT_TRUE(run().ceilings->ceilings(true));
  EXPECT_EQ(measured_, 1);
  ASSERT_TRUE(run().ceilings->ceilings(false)) << "fewer samples than asked for";
  EXPECT_EQ(measured_, 2);
  ASSERT_TRUE(run().ceilings->ceilings(true)) << "more than asked for";
  EXPECT_EQ(measured_, 2);
  device_.program_version = "2";
  ASSERT_TRUE(run().ceilings->ceilings(false));
  EXPECT_EQ(measured_, 3);
  device_.described.compiler = "g++ 14";
  ASSERT_TRUE(run().ceilings->ceilings(false));
  EXPECT_EQ(measured_, 4);
  EXPECT_EQ(files_.files().size(), 1U) << "one file for a device, written over";
  utc_ = "2026-02-02T03:04:05Z";
  ASSERT_TRUE(run().ceilings->ceilings(false)) << "31 days old";
  EXPECT_EQ(measured_, 5);
  utc_ = "2026-01-01T00:00:00Z";
  auto early = run();
  ASSERT_TRUE(early.ceilings->ceilings(false)) << "of a time that has not been";
  EXPECT_EQ(measured_, 6);
  device_.on_programs = [] { return nullptr; };
  ASSERT_TRUE(run().ceilings->ceilings(false)) << "nothing to look with";
  EXPECT_EQ(measured_, 7);
}

// Cut anywhere or with any byte changed, a file is measured anew or is what it was; it never ends a run.
TEST_F(DeviceCeilingsTest, ABrokenFileNeverEndsARun) {
  ASSERT_TRUE(run().ceilings->ceilings(false));
  const std::string path = file(), whole = *files_.read(path);
  std::vector<std::string> texts = {"",
                                    "null",
                                    "[]",
                                    "{}",
                                    "\"",
                                    std::string(3, '\0'),
                                    std::string(2 << 20, ' '),
                                    std::string(100'000, '['),
                                    R"({"schema":"hone.ceilings/2"})",
                                    R"({"schema":"hone.ceilings/1","content_hash":"","content":{}})",
                                    R"({"schema":"hone.profile/1"})",
                                    whole + whole};
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 7) texts.push_back(whole.substr(0, bytes));
  for (std::size_t at = 0; at < whole.size(); at += 5) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ (1 << (at % 7)));
    texts.push_back(std::move(changed));
  }
  for (const std::string& text : texts) {
    ASSERT_TRUE(files_.write_atomically(path, text));
    const int before = measured_;
    auto one = run();
    one.ceilings->recall_cache_size();
    auto ceilings = one.ceilings->ceilings(false);
    ASSERT_TRUE(ceilings) << text.substr(0, 200);
    EXPECT_DOUBLE_EQ(ceilings->p50("read_bytes_per_s"), 24e9);
    EXPECT_EQ(device_.info().last_level_cache_bytes(), 16 * MiB);
    if (measured_ > before) {
      EXPECT_THAT(one.ceilings->origin().refused, ::testing::Not(IsEmpty()));
    }
  }
  EXPECT_GT(measured_, static_cast<int>(texts.size()) * 9 / 10) << "the hash notices nearly all of them";
}

TEST_F(DeviceCeilingsTest, AFolderThatCanNotBeWrittenIsSaidAndNoError) {
  files_.fail_writes_after(0);
  auto one = run();
  auto ceilings = one.ceilings->ceilings(false);
  ASSERT_TRUE(ceilings);
  EXPECT_THAT(one.ceilings->origin().not_written, ::testing::Not(IsEmpty()));
  EXPECT_THAT(describe(one.ceilings->origin()), HasSubstr("not kept: "));
  EXPECT_TRUE(files_.files().empty());
}

// On a disk: a folder, a pipe without a writer and a link in a circle where the file should be.
TEST_F(DeviceCeilingsTest, WhatIsNoFileIsNotReadAndNotWaitedFor) {
  const test::TemporaryFolder folder;
  base::SystemFiles files;
  const auto take = [&] {
    base::ManualClock clock(utc_);
    device_.use_cache_size(0);
    DeviceCeilings ceilings(device_, files, clock, folder.path());
    EXPECT_TRUE(ceilings.ceilings(false));
    return ceilings.origin();
  };
  const std::string path = take().path;
  for (const char* command : {"mkdir", "mkfifo", "ln -s ."}) {
    ASSERT_TRUE(files.remove_recursively(path));
    ASSERT_EQ(std::system((std::string(command) + " '" + path + "'").c_str()), 0);
    const int before = measured_;
    EXPECT_THAT(take().refused, ::testing::Not(IsEmpty())) << command;
    EXPECT_EQ(measured_, before + 1);
  }
}

TEST_F(DeviceCeilingsTest, ADocumentsCeilingsAreInUseAndASecondLookKeepsTheHigherRates) {
  auto one = run();
  model::Ceilings given;
  given.by_name["copy_bytes_per_s"] = {29e9, 30e9, 31e9, 5, ""};
  given.by_name["read_bytes_per_s"] = {19e9, 20e9, 21e9, 5, ""};
  one.ceilings->take(given);
  EXPECT_EQ(*one.ceilings->ceilings(false), given);
  EXPECT_EQ(measured_, 0);
  auto again = one.ceilings->again();
  ASSERT_TRUE(again);
  EXPECT_EQ(measured_, 1);
  EXPECT_DOUBLE_EQ(again->p50("copy_bytes_per_s"), 30e9);
  EXPECT_DOUBLE_EQ(again->p50("read_bytes_per_s"), 24e9);
  EXPECT_EQ(*one.ceilings->ceilings(false), *again) << "one set, whoever asks";
}

TEST_F(DeviceCeilingsTest, BesideAPassRunsTheProgramOfItsCeiling) {
  auto one = run();
  PassFloor floor{96.0 * MiB, 1, 4, 3, "copy_bytes_per_s"};
  EXPECT_EQ(one.ceilings->beside(floor)->subject, nullptr) << "no ceilings are known yet";
  ASSERT_TRUE(one.ceilings->ceilings(false));
  auto copy = one.ceilings->beside(floor);
  ASSERT_TRUE(copy && copy->subject);
  EXPECT_NEAR(copy->expected_ns, copied_bytes / 24, 1);
  auto sample = copy->subject->sample();
  ASSERT_TRUE(sample);
  EXPECT_GT(sample->device_ns, 0);
  floor.ceiling = "fma_flops_per_s";
  EXPECT_NEAR(one.ceilings->beside(floor)->expected_ns, 1e9 / 1e11 * 1e9, 1);
  floor.ceiling = "matrix_bf16_flops_per_s";
  EXPECT_EQ(one.ceilings->beside(floor)->subject, nullptr);
}

// A GPU whose memory others hold: what runs beside a kernel costs its pairs, not the profile.
TEST_F(DeviceCeilingsTest, WhatCanNotBeMeasuredBesideAKernelIsSaidAndEndsNothing) {
  ASSERT_TRUE(run().ceilings->ceilings(false));
  const base::Error full{base::ErrorKind::preflight, "memory", "0 bytes free", "cuda:0", ""};
  device_.programs_error = full;
  auto one = run();
  ASSERT_TRUE(one.ceilings->ceilings(false));
  EXPECT_EQ(measured_, 2);
  EXPECT_THAT(one.ceilings->origin().refused, HasSubstr("0 bytes free"));
  auto beside = one.ceilings->beside({96.0 * MiB, 1, 4, 3, "copy_bytes_per_s"});
  ASSERT_TRUE(beside);
  EXPECT_EQ(beside->subject, nullptr);
  EXPECT_THAT(beside->problem, HasSubstr("0 bytes free"));
  device_.on_cache_size = [&]() -> base::Result<std::int64_t> { return full; };
  device_.program_version = "none is kept";
  auto other = run();
  EXPECT_TRUE(other.ceilings->learn_cache_size());
  EXPECT_EQ(device_.info().last_level_cache_bytes(), 32 * MiB) << "as reported";
  device_.on_cache_size = []() -> base::Result<std::int64_t> {
    return base::Error{base::ErrorKind::interrupted, "a sweep", "stopped by the user", "", ""};
  };
  EXPECT_FALSE(run().ceilings->learn_cache_size());
}

TEST_F(DeviceCeilingsTest, ACacheMeasuredBesideOtherLoadIsMeasuredOnceMore) {
  load_ = 5;
  device_.on_cache_size = [this]() -> base::Result<std::int64_t> { return ++swept_, 7 * MiB; };
  ASSERT_TRUE(run().ceilings->ceilings(false));
  EXPECT_EQ(device_.info().last_level_cache_bytes(), 7 * MiB);
  device_.on_cache_size = [this]() -> base::Result<std::int64_t> { return ++swept_, 31 * MiB; };
  ASSERT_TRUE(run().ceilings->ceilings(false));
  EXPECT_EQ(swept_, 2);
  EXPECT_EQ(measured_, 1) << "the ceilings that are kept stay";
  EXPECT_EQ(device_.info().last_level_cache_bytes(), 31 * MiB);
  device_.on_cache_size = [this]() -> base::Result<std::int64_t> { return ++swept_, 9 * MiB; };
  ASSERT_TRUE(run().ceilings->ceilings(false));
  EXPECT_EQ(swept_, 2) << "twice is enough";
  EXPECT_EQ(device_.info().last_level_cache_bytes(), 31 * MiB) << "other load only takes from it";
}

// The whole of it: a machine that reports its host's cache, whose default settings rest on the effective one.
TEST_F(DeviceCeilingsTest, DefaultSettingsRestOnTheEffectiveCacheAndLaterStagesOnTheProfiles) {
  device_.described.caches.back() = {3, 480 * MiB, 2};
  const auto shipped = [&](const model::Request& request, DeviceCeilings* ceilings,
                           model::Request* resolved = nullptr) {
    launch::Context context{device_, files_, clock_};
    if (ceilings != nullptr) context.ceilings = std::shared_ptr<DeviceCeilings>(ceilings, [](DeviceCeilings*) {});
    native::NativeRepository repository(context, "/settings");
    auto session = repository.open(request);
    EXPECT_TRUE(session) << base::describe(session.error());
    if (resolved) *resolved = (*session)->resolved(request);
    return (*session)->space("forward", "2048").front();
  };
  model::Request asked;
  asked.kernel = "rms_norm", asked.dtype = "fp32", asked.sizes = {"2048"};
  EXPECT_EQ(shipped(asked, nullptr).at("STREAMING_STORES"), 0) << "as the system reports";
  auto first = run();
  ASSERT_TRUE(first.ceilings->learn_cache_size());
  model::Request resolved;
  EXPECT_EQ(shipped(asked, first.ceilings.get(), &resolved).at("STREAMING_STORES"), 1);
  EXPECT_EQ(resolved.last_level_cache_bytes, 16 * MiB);
  auto second = run();
  EXPECT_EQ(shipped(asked, second.ceilings.get()).at("STREAMING_STORES"), 1) << "kept, and told when a session opens";
  EXPECT_EQ(swept_, 1);
  device_.use_cache_size(0);
  EXPECT_EQ(shipped(resolved, nullptr).at("STREAMING_STORES"), 1) << "the profile's size, whatever is known here";
}

}  // namespace
}  // namespace hone::repository
