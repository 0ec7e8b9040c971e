// A manifest's kernel on the CPU: what is built, what the gates catch, what is installed.
#include "repository/manifest/manifest_operation.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/repository/manifest/manifest_fixture.hpp"
#include "tests/support/endless_device.hpp"

namespace hone::repository::manifest {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(ManifestTest, HasTheSizesOfTheRequestAndTheWorkOfItsExpressions) {
  auto session = open();
  EXPECT_EQ(session->sizes(), (std::vector<std::string>{"64", "256"}));
  EXPECT_EQ(session->held_out_sizes(), (std::vector<std::string>{"128"}));
  EXPECT_EQ(session->modes(), (std::vector<std::string>{"forward"}));
  const PassFloor floor = session->floor({"256", "forward"});
  EXPECT_DOUBLE_EQ(floor.bytes, 4.0 * (65536 + 256 + 65536));  // x and factor read, y written
  EXPECT_DOUBLE_EQ(floor.flops, 2.0 * 65536);
  auto memory = session->memory(session->original(), "256");
  ASSERT_TRUE(memory);
  EXPECT_DOUBLE_EQ(memory->peak_over_inputs_mb, 4.0 * 65536 / 1e6);
}

TEST_F(ManifestTest, BuildsEachSettingOnceAndKnowsDeadKnobs) {
  write("hone.toml", changed("[pass.forward]", "[knob.UNUSED]\nvalues = [1, 2]\nvalue = 1\n\n[pass.forward]"));
  auto session = open();
  EXPECT_EQ(session->space("forward", "256").size(), 6u);
  EXPECT_EQ(session->space("forward", "256").front(), (model::Settings{{"ROWS", 2}, {"UNUSED", 1}}));
  auto configuration = session->configuration();
  ASSERT_TRUE(configuration) << base::describe(configuration.error());
  ASSERT_EQ(configuration->parameters.size(), 2u);
  EXPECT_EQ(configuration->parameters[0].live, model::Liveness::live);
  EXPECT_EQ(configuration->parameters[1].live, model::Liveness::dead);
}

TEST_F(ManifestTest, PassesItsGateAndSaysWhatItIsComparedWith) {
  auto session = open();
  const GateResult result = gate(*session, session->original());
  EXPECT_TRUE(result.ok()) << result.first_failure;
  EXPECT_THAT(result.detail, HasSubstr("compared with row_scale_reference.cpp in double precision"));
}

TEST_F(ManifestTest, CatchesEveryKindOfWrongKernel) {
  auto session = open();
  const struct {
    const char *from, *to, *words;
  } faults[] = {
      {"factor[row], bias", "factor[row] * 1.0001f, bias", "above the bound"},
      {"i < columns; ++i", "i < columns - 1; ++i", "unwritten"},
      {"i < columns; ++i", "i <= columns; ++i", "y:"},
      {"  for (std::int64_t row", "  const_cast<float*>(x)[0] = 1;\n  for (std::int64_t row", "x: an input"},
      {"  for (std::int64_t row", "  *reinterpret_cast<volatile int*>(8) = 1;\n  for (std::int64_t row",
       "does not run"},
      {"scaled(x[", "scaled(y[0] + x[", "y:"},
      {"extern \"C\" void row_scale(", "extern \"C\" void row_scole(", "row_scale"},
  };
  for (const auto& fault : faults) {
    const model::Variant variant = with_source(*session, replaced(kKernelText, fault.from, fault.to));
    const GateResult result = gate(*session, variant);
    EXPECT_FALSE(result.ok()) << fault.to;
    EXPECT_THAT(result.first_failure, HasSubstr(fault.words)) << fault.to;
  }
}

TEST_F(ManifestTest, WithoutAReferenceIsComparedWithTheOriginalAndSaysSo) {
  std::string text = replaced(sample_text(), "reference = \"row_scale_reference.cpp\"\n", "");
  text = replaced(text, "reference = { function = \"row_scale_reference\" }\n", "");
  write("hone.toml", text);
  auto session = open();
  const GateResult right = gate(*session, with_source(*session, std::string(kKernelText) + "// the same\n"));
  EXPECT_TRUE(right.ok()) << right.first_failure;
  EXPECT_THAT(right.detail, HasSubstr("compared with the original; no reference is given"));
  const GateResult wrong =
      gate(*session, with_source(*session, replaced(kKernelText, "factor[row], bias", "factor[row], 2 * bias")));
  EXPECT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.first_failure, HasSubstr("above the bound"));
}

// The gates' shapes are small; what a kernel does at the sizes that are measured must not be met in this process first.
TEST_F(ManifestTest, AKernelThatExitsOrAbortsAtAMeasuredSizeAloneIsAnError) {
  for (const auto& [statement, words] :
       {std::pair<const char*, const char*>{"if (rows > 200) _exit(0);", "exit status 0"},
        {"if (rows > 200) __builtin_abort();", "abort"}}) {
    write("row_scale.cpp", replaced("#include <unistd.h>\n" + std::string(kKernelText), "  for (std::int64_t row",
                                    std::string("  ") + statement + "\n  for (std::int64_t row"));
    auto session = open();
    EXPECT_TRUE(gate(*session, session->original()).ok());
    const auto subject = session->subject(session->original(), {"256", "forward"});
    ASSERT_FALSE(subject) << statement;
    EXPECT_EQ(subject.error().kind, base::ErrorKind::gate);
    EXPECT_THAT(subject.error().found, HasSubstr(words));
    EXPECT_TRUE(session->subject(session->original(), {"1024", "forward"})) << "64 rows";
  }
}

TEST_F(ManifestTest, AValueInForceThatCanNotRunIsAnErrorAndNotReplaced) {
  write("hone.toml", replaced(sample_text(), "valid = \"ROWS <= rows\"", "valid = \"ROWS != 2\""));
  const auto session = try_open(request());
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().kind, base::ErrorKind::usage);
  EXPECT_THAT(session.error().expected, HasSubstr("ROWS != 2, with the values in force for forward at columns = 64"));
  EXPECT_THAT(session.error().where, HasSubstr("hone.toml:44:10"));
}

TEST_F(ManifestTest, NothingIsRightAgainstAReferenceWithoutAFiniteElement) {
  write("row_scale.cpp", replaced(kKernelText, "factor[row], bias", "__builtin_nanf(\"\"), bias"));
  write("row_scale_reference.cpp", replaced(kReferenceText, "x[i] * factor", "__builtin_nan(\"\") * factor"));
  auto session = open();
  const auto gate = session->gate(session->original(), GateLevel::smoke);
  ASSERT_FALSE(gate);
  EXPECT_EQ(gate.error().kind, base::ErrorKind::usage);
  EXPECT_THAT(gate.error().expected, HasSubstr("a finite element of 'y'"));
}

TEST_F(ManifestTest, SaysThatTheOriginalIsWrongWhereItsReferenceDisagrees) {
  write("row_scale.cpp", replaced(kKernelText, "factor[row], bias", "factor[row], 2 * bias"));
  auto session = open();
  const GateResult result = gate(*session, session->original());
  EXPECT_FALSE(result.ok());
  EXPECT_THAT(result.first_failure, HasSubstr("the original is outside its bound as well"));
}

TEST_F(ManifestTest, RunsForwardAndBackwardWithWhatForwardLeft) {
  write("hone.toml", sample_text() + R"toml(
[tensor.dx]
role = "output"
shape = ["rows", "columns"]

[pass.backward]
roles = { factor = "inout" }
launch = { entry = "row_scale_back", grid = "rows", arguments = ["y", "factor", "dx", "columns", "bias"] }
reference = { function = "back_reference", arguments = ["y", "factor", "dx", "rows", "columns", "bias"] }
)toml");
  write("row_scale.cpp", std::string(kKernelText) + R"cpp(
    extern "C" void row_scale_back(std::int64_t row, const float* y, float* factor, float* dx, long columns,
                                   float bias) {
      for (long i = 0; i < columns; ++i) dx[row * columns + i] = (y[row * columns + i] - bias) * factor[row];
      factor[row] *= 2;
    }
  )cpp");
  write("row_scale_reference.cpp", std::string(kReferenceText) + R"cpp(
    extern "C" void back_reference(const double* y, double* factor, double* dx, std::int64_t rows, std::int64_t columns,
                                   double bias) {
      for (std::int64_t i = 0; i < rows * columns; ++i) dx[i] = (y[i] - bias) * factor[i / columns];
      for (std::int64_t row = 0; row < rows; ++row) factor[row] *= 2;
    }
  )cpp");
  auto session = open();
  EXPECT_EQ(session->modes(), (std::vector<std::string>{"forward", "backward", "full"}));
  const GateResult result = gate(*session, session->original(), GateLevel::smoke);
  EXPECT_TRUE(result.ok()) << result.first_failure;
  auto subject = session->subject(session->original(), {"64", "full"});
  ASSERT_TRUE(subject) << base::describe(subject.error());
  EXPECT_TRUE((*subject)->sample());
}

TEST_F(ManifestTest, WritesOneSettingsFileAndFindsItAgain) {
  auto session = open();
  model::Variant variant = session->original();
  variant.title = "settings by size, measured";
  variant.settings["forward"].rules = {{0, {{"ROWS", 1}}, "small"}, {256, {{"ROWS", 4}}, "large \"ones\""}};
  auto changes = session->installation(variant);
  ASSERT_TRUE(changes) << base::describe(changes.error());
  ASSERT_EQ(changes->size(), 1u);
  EXPECT_FALSE(changes->front().existed);
  EXPECT_EQ(changes->front().path, folder_ / "hone.settings.toml");
  const std::string before = session->source_hash();
  write("hone.settings.toml", changes->front().after);
  auto again = open();
  EXPECT_NE(again->source_hash(), before);
  EXPECT_EQ(again->original().settings.at("forward").at(64), (model::Settings{{"ROWS", 1}}));
  EXPECT_EQ(again->original().settings.at("forward").at(256), (model::Settings{{"ROWS", 4}}));
}

TEST_F(ManifestTest, WithChangedSourceWritesTheSourceToo) {
  auto session = open();
  const std::string text = std::string(kKernelText) + "// better\n";
  auto changes = session->installation(with_source(*session, text));
  ASSERT_TRUE(changes) << base::describe(changes.error());
  ASSERT_EQ(changes->size(), 2u);
  EXPECT_EQ(changes->at(0).path, folder_ / "row_scale.cpp");
  EXPECT_EQ(changes->at(0).before, kKernelText);
  EXPECT_EQ(changes->at(0).after, text);
}

TEST_F(ManifestTest, RefusesWhatItsSizesDoNotAllow) {
  model::Request one = request();
  one.sizes = {"70000"};
  EXPECT_THAT(refused(one).expected, HasSubstr("columns <= 65536"));
  one.sizes = {"0"};
  EXPECT_THAT(refused(one).found, HasSubstr("'0'"));
  one = request();
  one.dtype = "bf16";
  EXPECT_THAT(refused(one).expected, HasSubstr("fp32"));
  one = request();
  one.options["casting_mode"] = "gemma";
  EXPECT_THAT(refused(one).expected, HasSubstr("no options"));
  write("hone.toml", changed("rows = \"max(1, 65536 / columns)\"", "rows = 1099511627776"));
  EXPECT_THAT(refused(request()).expected, HasSubstr("elements"));
  write("hone.toml", changed("rows = \"max(1, 65536 / columns)\"", "rows = \"columns - 64\""));
  EXPECT_THAT(refused(request()).expected, HasSubstr("at least 1"));
}

TEST_F(ManifestTest, ReadsNothingOutsideItsFolder) {
  ASSERT_EQ(::symlink("/etc/hostname", (folder_ / "link.cpp").c_str()), 0);
  write("hone.toml", changed("source = \"row_scale.cpp\"", "source = \"link.cpp\""));
  EXPECT_THAT(refused(request()).found, HasSubstr("a link to"));
  write("hone.toml", changed("source = \"row_scale.cpp\"", "source = \"gone.cpp\""));
  EXPECT_THAT(refused(request()).found, HasSubstr("no such file"));
  write("hone.toml", sample_text());
  write("row_scale.cpp", replaced(kKernelText, "deep/factor.hpp", "../../secret.hpp"));
  EXPECT_THAT(refused(request()).found, HasSubstr("../../secret.hpp"));
}

TEST_F(ManifestTest, VerifiesCaseByCaseAndCanBeStopped) {
  auto session = open();
  auto& kernel = dynamic_cast<launch::LaunchSession&>(*session);
  int told = 0;
  auto cases = kernel.verify(launch::Extent::full, true,
                             [&](int, int total, const launch::CaseResult&) { return ++told <= total; });
  ASSERT_TRUE(cases) << base::describe(cases.error());
  EXPECT_EQ(cases->size(), 5u);  // 1, 17, 64 of [verify], and the two sizes of the request
  for (const launch::CaseResult& one : *cases) EXPECT_TRUE(one.passed) << one.label << ": " << one.failure;
  auto stopped = kernel.verify(launch::Extent::full, true, [](int, int, const launch::CaseResult&) { return false; });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, base::ErrorKind::interrupted);
}

class CountingDevice final : public device::ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  base::Result<std::shared_ptr<device::Program>> compile(const device::ProgramSource& source) override {
    ++compilations;
    return device_.compile(source);
  }
  int compilations = 0;
};

TEST_F(ManifestTest, WhatDoesNotCompileIsNamedInTheUsersFilesAndCompiledOnce) {
  write("row_scale.cpp", replaced(kKernelText, "scaled(x[row", "skaled(x[row"));
  CountingDevice device(*device_);
  const auto opened = [&]() -> std::unique_ptr<Session> {
    auto manifest = load_manifest(files_, folder_.path());
    if (!manifest) return nullptr;
    launch::Context context{device, files_, clock_};
    context.processes = &processes_;
    auto session = ManifestRepository(std::move(context), device_.get(), std::move(*manifest)).open(request());
    return session ? std::move(*session) : nullptr;
  };
  auto session = opened();
  ASSERT_NE(session, nullptr);
  const auto verified = [&]() -> base::Error {
    auto cases = dynamic_cast<launch::LaunchSession&>(*session).verify(
        launch::Extent::full, true, [](int, int, const launch::CaseResult&) { return true; });
    EXPECT_FALSE(cases);
    return cases ? base::Error{} : cases.error();
  };
  EXPECT_EQ(verified().kind, base::ErrorKind::usage);
  EXPECT_THAT(verified().found, AllOf(StartsWith("row_scale.cpp:7:"), HasSubstr("skaled")));
  EXPECT_EQ(verified().where, folder_ / "row_scale.cpp:7");
  const int once = device.compilations;
  EXPECT_LE(once, 2) << "once for each setting of ROWS that the sizes need";
  const auto built = session->build(session->original());
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().where, folder_ / "row_scale.cpp:7");
  const auto subject = session->subject(session->original(), {"64", "forward"});
  ASSERT_FALSE(subject);
  EXPECT_EQ(subject.error().kind, base::ErrorKind::usage);
  EXPECT_EQ(device.compilations, once);

  // A call that hone wrote does not fit the function: the place is the launch in the manifest.
  write("row_scale.cpp", kKernelText);
  write("hone.toml",
        replaced(changed("\"bias\"] }\nreference", "\"bias\", \"rows\"] }\nreference"), "\"row_scale_reference\" }",
                 "\"row_scale_reference\", arguments = [\"x\", \"factor\", \"y\", \"rows\", \"columns\", \"bias\"] }"));
  session = opened();
  ASSERT_NE(session, nullptr);
  EXPECT_THAT(verified().found,
              AllOf(StartsWith("hone.toml:48: error: too many arguments"), Not(HasSubstr("hone_programs"))));
}

TEST_F(ManifestTest, SaysOfACaseThatHasNoProgramWhatItsGridShouldBe) {
  write("hone.toml", changed("grid = \"ceil_div(rows, ROWS)\"", "grid = \"columns / 64\""));
  auto cases = dynamic_cast<launch::LaunchSession&>(*open()).verify(
      launch::Extent::full, true, [](int, int, const launch::CaseResult&) { return true; });
  ASSERT_TRUE(cases) << base::describe(cases.error());
  EXPECT_THAT(cases->front().failure, StartsWith("can not be launched: 0 (ROWS=2 in 'grid' of the launch of "
                                                 "[pass.forward]), where hone expects programs of the grid from 1"));
}

TEST_F(ManifestTest, RemarksOnWhatTheOriginalGivesAtTheMeasuredSizes) {
  EXPECT_THAT(open()->remarks().front(), HasSubstr("in double precision; 3 cases at the sizes that are measured pass"));
  write("row_scale.cpp", replaced(kKernelText, "i < columns", "i < columns - columns % 3"));
  EXPECT_THAT(open()->remarks().front(),
              AllOf(HasSubstr("the original is wrong at sizes that are measured: "
                              "forward columns=64 rows=17 fp32: y: left 17 elements unwritten, the first is 63"),
                    HasSubstr("forward columns=256 rows=256 fp32: y: left 256 elements unwritten")));
}

TEST_F(ManifestTest, AKernelThatDoesNotEndIsTriedOnce) {
  test::EndlessDevice device(*device_, 2, true);  // the first case runs, the second does not end
  const auto session = [&]() -> std::unique_ptr<Session> {
    auto manifest = load_manifest(files_, folder_.path());
    launch::Context context{device, files_, clock_};
    context.processes = &processes_;
    auto opened = ManifestRepository(std::move(context), device_.get(), std::move(*manifest)).open(request());
    return opened ? std::move(*opened) : nullptr;
  }();
  ASSERT_NE(session, nullptr);
  auto cases = dynamic_cast<launch::LaunchSession&>(*session).verify(
      launch::Extent::full, true, [](int, int, const launch::CaseResult&) { return true; });
  ASSERT_TRUE(cases) << base::describe(cases.error());
  ASSERT_EQ(cases->size(), 2u);
  EXPECT_TRUE(cases->front().passed) << cases->front().failure;
  EXPECT_TRUE(cases->back().hung);
  EXPECT_THAT(cases->back().failure, HasSubstr("does not end"));
  EXPECT_EQ(device.tries, 2);
  const GateResult full = gate(*session, session->original(), GateLevel::full);
  EXPECT_EQ(full.failed, 1) << full.detail;
  EXPECT_EQ(device.tries, 3);
}

}  // namespace
}  // namespace hone::repository::manifest
