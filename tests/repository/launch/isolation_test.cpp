// No way into the engine runs text that hone did not write in its own process before that survived once in isolation.
#include "repository/launch/isolation.hpp"

#include <gmock/gmock.h>

#include "repository/launch/session.hpp"
#include "repository/native/native_repository.hpp"
#include "tests/repository/manifest/manifest_fixture.hpp"
#include "tests/support/recording_device.hpp"
#include "tests/support/timed_device.hpp"

namespace hone::repository::launch {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

using WayIn = std::function<void(Session&)>;

// What every session is asked for; a name for messages.
const std::vector<std::pair<std::string, WayIn>>& ways_in() {
  const auto sample = [](base::Result<std::unique_ptr<measure::Subject>> subject) {
    ASSERT_TRUE(subject) << base::describe(subject.error());
    for (int i = 0; i < 2; ++i) EXPECT_TRUE((*subject)->sample());
  };
  const auto judge = [](Session& session, GateLevel level) {
    const auto gate = session.gate(session.original(), level);
    ASSERT_TRUE(gate) << base::describe(gate.error());
    EXPECT_TRUE(gate->ok()) << gate->first_failure;
  };
  static const std::vector<std::pair<std::string, WayIn>> ways = {
      {"subject",
       [=](Session& session) {
         for (const std::string& mode : session.modes()) sample(session.subject(session.original(), {"64", mode}));
       }},
      {"subject_with",
       [=](Session& session) {
         std::vector<model::Settings> space = session.space("forward", "64");
         space.resize(std::min<std::size_t>(space.size(), 2));
         for (const model::Settings& settings : space) sample(session.subject_with({"64", "forward"}, settings));
       }},
      {"memory", [](Session& session) { EXPECT_TRUE(session.memory(session.original(), "64")); }},
      {"parts",
       [](Session& session) {
         EXPECT_TRUE(session.parts(session.original(), {"64", "forward"}));
       }},
      {"build and configuration",
       [](Session& session) {
         EXPECT_TRUE(session.build(session.original()));
         EXPECT_TRUE(session.configuration());
       }},
      {"the smoke gate", [=](Session& session) { judge(session, GateLevel::smoke); }},
      {"counters and experiments",
       [](Session& session) {
         const auto counters = session.counters();
         ASSERT_TRUE(counters) << base::describe(counters.error());
         EXPECT_FALSE(counters->experiments.empty());
       }},
      {"the passes of a profiler",
       [](Session& session) { EXPECT_TRUE(dynamic_cast<LaunchSession&>(session).run_passes(2)); }},
  };
  return ways;
}

// Kernels that really run on the CPU, in times that are made up, on a device that writes down what it is asked to run.
class Ways : public manifest::ManifestTest {
 protected:
  std::unique_ptr<test::RecordingDevice> recorder(const std::string& marker) {
    timed_ = std::make_unique<test::TimedDevice>(*device_, time_, [](const auto&) { return 1e5; });
    return std::make_unique<test::RecordingDevice>(*timed_, marker);
  }
  static model::Request quick(const std::string& kernel) {
    model::Request request;
    request.kernel = kernel;
    request.sizes = {"64", "128"};
    request.quick = true;
    return request;
  }

  base::ManualClock time_;
  std::unique_ptr<test::TimedDevice> timed_;
};

// The manifest of the tests with a backward pass, which overwrites what it reads.
constexpr const char* kBackward = R"toml(
[tensor.dx]
role = "output"
shape = ["rows", "columns"]

[pass.backward]
roles = { factor = "inout" }
launch = { entry = "row_scale_back", grid = "rows", arguments = ["y", "factor", "dx", "columns", "bias"] }
)toml";
constexpr const char* kBackwardText = R"cpp(
  extern "C" void row_scale_back(std::int64_t row, const float* y, float* factor, float* dx, long columns, float bias) {
    for (long i = 0; i < columns; ++i) dx[row * columns + i] = (y[row * columns + i] - bias) * factor[row];
    factor[row] *= 2;
  }
)cpp";

TEST_F(Ways, AManifestsKernelIsTriedFirstByEachOfThem) {
  write("hone.toml", manifest::replaced(manifest::sample_text(), "test = [\"make\", \"test\"]\n", "") + kBackward);
  write("row_scale.cpp", std::string(manifest::kKernelText) + kBackwardText);
  auto ways = ways_in();
  ways.emplace_back("the full gate", [](Session& session) {
    const auto gate = session.gate(session.original(), GateLevel::full);
    ASSERT_TRUE(gate) << base::describe(gate.error());
    EXPECT_TRUE(gate->ok()) << gate->first_failure;
  });
  ways.emplace_back("the verification", [](Session& session) {
    const auto all = [](int, int, const CaseResult&) { return true; };
    EXPECT_TRUE(dynamic_cast<LaunchSession&>(session).verify(Extent::smoke, true, all));
  });
  for (const auto& [name, enter] : ways) {
    const auto device = recorder("");
    auto manifest = manifest::load_manifest(files_, folder_.path());
    ASSERT_TRUE(manifest) << base::describe(manifest.error());
    auto session = manifest::ManifestRepository({*device, files_, time_}, device_.get(), std::move(*manifest))
                       .open(quick("row_scale"));
    ASSERT_TRUE(session) << base::describe(session.error());
    enter(**session);
    EXPECT_THAT(device->unprotected, IsEmpty()) << name;
    const bool runs = name != "memory" && name != "parts" && name != "build and configuration";
    EXPECT_EQ(device->isolated > 0, runs) << name;
  }
}

// A built-in kernel whose text was proposed: as a variant, and once it is installed.
class Proposed : public Ways {
 protected:
  static constexpr const char* kMarker = "// proposed by somebody\n";

  std::unique_ptr<Session> open(device::Device& device) {
    auto session = native::NativeRepository({device, files_, time_}, folder_ / "settings").open(quick("relu_squared"));
    EXPECT_TRUE(session) << base::describe(session.error());
    return session ? std::move(*session) : nullptr;
  }
  model::Variant proposal(Session& session, const std::string& from = "", const std::string& to = "") {
    std::string text = session.snapshot().front().second + kMarker;
    if (!from.empty()) text = manifest::replaced(std::move(text), from, to);
    auto variant = session.variant_from_source(text, session.original());
    EXPECT_TRUE(variant);
    variant->id = "v1";
    return *variant;
  }
};

TEST_F(Proposed, IsTriedFirstAsAVariant) {
  const auto device = recorder(kMarker);
  auto session = open(*device);
  const model::Variant variant = proposal(*session);
  EXPECT_TRUE(session->build(variant));
  EXPECT_TRUE(session->memory(variant, "128"));
  EXPECT_EQ(device->isolated, 0) << "nothing has run yet";
  for (const std::string& mode : session->modes()) {
    auto subject = session->subject(variant, {"128", mode});
    ASSERT_TRUE(subject) << base::describe(subject.error());
    EXPECT_TRUE((*subject)->sample());
  }
  const int tried = device->isolated;
  EXPECT_EQ(tried, 2) << "each pass once at the size; 'full' is both again";
  const auto gate = session->gate(variant, GateLevel::smoke);
  ASSERT_TRUE(gate) << base::describe(gate.error());
  EXPECT_TRUE(gate->ok()) << gate->first_failure;
  EXPECT_GT(device->isolated, tried);
  EXPECT_GT(device->here, 0);
  EXPECT_THAT(device->unprotected, IsEmpty());
}

TEST_F(Proposed, IsTriedFirstByEachWayOnceItIsInstalled) {
  {
    const auto device = recorder(kMarker);
    auto session = open(*device);
    auto changes = session->installation(proposal(*session));
    ASSERT_TRUE(changes);
    for (const FileChange& change : *changes) {
      ASSERT_TRUE(files_.create_directories(base::parent(change.path)));
      ASSERT_TRUE(files_.write_atomically(change.path, change.after));
    }
  }
  for (const auto& [name, enter] : ways_in()) {
    const auto device = recorder(kMarker);
    auto session = open(*device);
    enter(*session);
    EXPECT_THAT(device->unprotected, IsEmpty()) << name;
  }
}

TEST_F(Proposed, ThatEndsTheProcessAtAMeasuredSizeAloneIsAnError) {
  const auto device = recorder(kMarker);
  auto session = open(*device);
  const model::Variant variant =
      proposal(*session, "  machine.for_rows(", "  if (machine.columns() == 128) __builtin_trap();\n  machine.for_rows(");
  const auto subject = session->subject(variant, {"128", "forward"});
  ASSERT_FALSE(subject);
  EXPECT_EQ(subject.error().kind, base::ErrorKind::gate);
  EXPECT_THAT(subject.error().expected + subject.error().found, HasSubstr("relu_squared_forward"));
  EXPECT_TRUE(session->subject(variant, {"64", "forward"}));
}

// The choke point itself.
class ChokePoint : public Ways {
 protected:
  void SetUp() override {
    Ways::SetUp();
    recorder_ = recorder("");
    isolation_ = std::make_unique<Isolation>(*recorder_, false);
    device::ProgramSource source;
    source.name = "nothing";
    source.main_file = "nothing.cpp";
    source.files = {{"nothing.cpp",
                     "#include <cstdint>\nextern \"C\" void nothing(void* const*, std::int64_t, "
                     "std::int64_t, int, int, void*) {}\n"}};
    program_ = *isolation_->compile(source);
    launches_.resize(1);
    launches_[0].program = program_.get();
    launches_[0].entry = "nothing";
    launches_[0].programs = 4;
  }

  std::unique_ptr<test::RecordingDevice> recorder_;
  std::unique_ptr<Isolation> isolation_;
  std::shared_ptr<device::Program> program_;
  std::vector<device::Launch> launches_;
};

TEST_F(ChokePoint, TimesNothingThatWasNotTried) {
  const auto refused = isolation_->time(launches_, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, base::ErrorKind::internal);
  std::string reason;
  EXPECT_THAT(isolation_->count_events(launches_, reason), IsEmpty());
  EXPECT_THAT(reason, HasSubstr("nothing did not run in isolation"));
  EXPECT_EQ(recorder_->here, 0);
}

TEST_F(ChokePoint, RunsTheFirstTimeInIsolationAndThenHere) {
  EXPECT_TRUE(isolation_->run(launches_));
  EXPECT_EQ(recorder_->isolated, 1);
  EXPECT_TRUE(isolation_->run(launches_));
  EXPECT_TRUE(isolation_->time(launches_, {}));
  EXPECT_EQ(recorder_->isolated, 1);
  EXPECT_EQ(recorder_->here, 2);
}

TEST_F(ChokePoint, AnotherExtentIsAnotherLaunch) {
  EXPECT_TRUE(isolation_->run(launches_));
  launches_[0].programs = 5;
  EXPECT_FALSE(isolation_->admits(launches_));
  launches_[0].programs = 4;
  launches_[0].arguments = {std::int64_t{1}};
  EXPECT_FALSE(isolation_->admits(launches_));
}

TEST_F(ChokePoint, RunsTrustedTextHereAtOnce) {
  isolation_->trust(*program_);
  EXPECT_TRUE(isolation_->time(launches_, {}));
  EXPECT_EQ(recorder_->isolated, 0);
}

TEST_F(ChokePoint, InAProcessThatStandsForTheTrialRunsAllHere) {
  Isolation isolated(*recorder_, true);
  EXPECT_TRUE(isolated.run(launches_));
  EXPECT_TRUE(isolated.time(launches_, {}));
  EXPECT_EQ(recorder_->isolated, 0);
}

}  // namespace
}  // namespace hone::repository::launch
