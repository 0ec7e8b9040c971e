// Worker and gates for real, on the CPU: Liger's own kernels of the pinned package in Triton's interpreter, float32, small sizes.
#include <gtest/gtest.h>

#include <algorithm>

#include "repository/liger/liger_repository.hpp"
#include "tests/repository/liger/checkout_copy.hpp"

namespace hone::repository::liger {
namespace {

class Interpreted : public testing::Test {
 protected:
  void SetUp() override {
    if (python_with_triton().empty())
      GTEST_SKIP() << "no python with torch and triton: tools/fetch_python.sh installs it";
    ASSERT_TRUE(copy.complete()) << "the liger-kernel sources are fetched by ./dev";
  }

  std::unique_ptr<Session> open(const std::string& kernel, std::int64_t answer_ms = 120'000) {
    auto opened = LigerRepository::open_checkout(
        {files, processes, clock, copy.scratch(), "cpu", python_with_triton(), answer_ms}, copy.path());
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().found);
    if (!opened) return nullptr;
    model::Request request;
    request.kernel = kernel;
    request.sizes = {"64"};
    request.options["tokens"] = "6";
    auto session = (*opened)->open(request);
    EXPECT_TRUE(session) << (session ? "" : session.error().found);
    return session ? std::move(*session) : nullptr;
  }

  // The operation's file with one place changed.
  model::Variant mutated(Session& session, const std::string& from, const std::string& to) {
    std::string text = session.snapshot().front().second;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
    auto variant = session.variant_from_source(text, session.original());
    EXPECT_TRUE(variant);
    return *variant;
  }

  CheckoutCopy copy;
  base::SystemFiles files;
  base::SystemProcesses processes;
  base::SystemClock clock;
};

TEST_F(Interpreted, TheOriginalPassesItsTestsAndItsNumerics) {
  const std::string before = copy.fingerprint();
  auto session = open("rms_norm");
  ASSERT_TRUE(session);
  EXPECT_FALSE(session->unmeasurable().empty());  // outputs can be checked, times mean nothing
  auto gate = session->gate(session->original(), GateLevel::smoke);
  ASSERT_TRUE(gate) << gate.error().found << " " << gate.error().remedy;
  EXPECT_TRUE(gate->ok()) << gate->first_failure;
  EXPECT_GE(gate->passed, 3) << gate->detail;
  EXPECT_NE(gate->detail.find("fail on the original too"), std::string::npos);
  EXPECT_EQ(copy.fingerprint(), before);
}

TEST_F(Interpreted, AWrongKernelIsCaughtByNumerics) {
  auto session = open("rms_norm");
  ASSERT_TRUE(session);
  auto gate =
      session->gate(mutated(*session, "rstd = rsqrt(mean_square + eps)", "rstd = rsqrt(mean_square + eps) * 1.0001"),
                    GateLevel::smoke);
  ASSERT_TRUE(gate) << gate.error().found;
  EXPECT_FALSE(gate->ok());
  EXPECT_NE(gate->first_failure.find("output 0"), std::string::npos) << gate->first_failure;
}

TEST_F(Interpreted, AnElementThatIsNotWrittenIsCaught) {
  auto session = open("rms_norm");
  ASSERT_TRUE(session);
  auto gate = session->gate(mutated(*session, "tl.store(y_base + col_offsets, Y_row, mask=mask)",
                                    "tl.store(y_base + col_offsets, Y_row, mask=mask & (col_offsets != 5))"),
                            GateLevel::smoke);
  ASSERT_TRUE(gate) << gate.error().found;
  EXPECT_FALSE(gate->ok());
  EXPECT_NE(gate->first_failure.find("not finite"), std::string::npos) << gate->first_failure;
}

TEST_F(Interpreted, ACrashCostsTheVariantAndNotTheSession) {
  auto session = open("rms_norm");
  ASSERT_TRUE(session);
  auto crashed = session->build(mutated(*session, "import math\n", "import math\nimport os\nos._exit(9)\n"));
  ASSERT_FALSE(crashed);
  EXPECT_NE(crashed.error().found.find("exit status 9"), std::string::npos) << crashed.error().found;
  auto original = session->build(session->original());
  EXPECT_TRUE(original) << original.error().found;
}

TEST_F(Interpreted, AHangCostsTheVariantAndNotTheSession) {
  auto session = open("softmax", 20'000);
  ASSERT_TRUE(session);
  const model::Variant hanging = mutated(*session, "import torch\n", "import torch\nwhile True:\n    pass\n");
  auto built = session->build(hanging);
  ASSERT_FALSE(built);
  EXPECT_NE(built.error().found.find("no answer within"), std::string::npos) << built.error().found;
  EXPECT_FALSE(session->build(hanging)) << "what hung once is not run again";
  auto gate = session->gate(session->original(), GateLevel::smoke);
  ASSERT_TRUE(gate) << gate.error().found;
  EXPECT_TRUE(gate->ok()) << gate->first_failure;
}

// Right in its own results, and wrong for everyone beside it in the process.
TEST_F(Interpreted, WritingToMemoryThatIsNotItsOwnIsCaught) {
  auto session = open("softmax");
  ASSERT_TRUE(session);
  const model::Variant reaching = mutated(
      *session, "import torch\n",
      "import torch\nimport gc\n\n\ndef _reach():\n    import hone_case\n    for each in gc.get_objects():\n"
      "        if isinstance(each, hone_case.Case):\n            next(iter(each.masters.values())).add_(1)\n\n\n");
  const std::string& text = reaching.edits.front().content;
  const auto at = text.find("    y2d = torch.empty_like(x2d)");
  ASSERT_NE(at, std::string::npos);
  auto variant =
      session->variant_from_source(text.substr(0, at) + "    _reach()\n" + text.substr(at), session->original());
  ASSERT_TRUE(variant);
  auto gate = session->gate(*variant, GateLevel::smoke);
  ASSERT_TRUE(gate) << gate.error().found;
  EXPECT_FALSE(gate->ok());
  EXPECT_NE(gate->first_failure.find("memory that is not its own"), std::string::npos) << gate->first_failure;
  auto original = session->gate(session->original(), GateLevel::smoke);
  ASSERT_TRUE(original) << original.error().found;
  EXPECT_TRUE(original->ok()) << original->first_failure;
}

TEST_F(Interpreted, TouchingTheTimersIsCaught) {
  auto session = open("rms_norm");
  ASSERT_TRUE(session);
  auto built = session->build(
      mutated(*session, "import math\n", "import math\nimport time\ntime.perf_counter_ns = lambda: 0\n"));
  ASSERT_FALSE(built);
  EXPECT_NE(built.error().found.find("time.perf_counter_ns"), std::string::npos) << built.error().found;
}

TEST_F(Interpreted, EqualTextsAreTheSameProgramAndOthersAreNot) {
  auto session = open("layer_norm");
  ASSERT_TRUE(session);
  auto original = session->build(session->original());
  ASSERT_TRUE(original) << original.error().found;
  auto commented = session->build(mutated(*session, "import math\n", "import math\n# a comment outside the kernels\n"));
  ASSERT_TRUE(commented) << commented.error().found;
  ASSERT_EQ(original->parts.size(), commented->parts.size());
  for (std::size_t i = 0; i < original->parts.size(); ++i)
    EXPECT_EQ(original->parts[i].machine_code_hash, commented->parts[i].machine_code_hash);
}

// Every rewrite that hone proposes for these operations gives what the original gives.
TEST_F(Interpreted, RewrittenKernelsPassTheNumericsGate) {
  for (const std::string kernel : {"layer_norm", "swiglu", "softmax"}) {
    auto session = open(kernel);
    ASSERT_TRUE(session);
    const model::Variant original = session->original();
    int tried = 0;
    std::vector<std::string> seen;
    for (const model::StrategyStep& step : session->source_strategies())
      for (const Proposal& proposal : session->propose(step.strategy, {}, original)) {
        if (tried >= 4) break;
        ++tried;
        auto gate = session->gate(proposal.variant, GateLevel::smoke);
        ASSERT_TRUE(gate) << kernel << ", " << proposal.variant.title << ": " << gate.error().found;
        EXPECT_TRUE(gate->ok()) << kernel << ", " << proposal.variant.title << ": " << gate->first_failure;
      }
    EXPECT_GT(tried, 0) << kernel;
  }
}

}  // namespace
}  // namespace hone::repository::liger
