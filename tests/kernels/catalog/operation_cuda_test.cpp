// Every kernel's text is compiled for Ampere, Hopper and Blackwell, without a GPU: passes, eager plans, a spread of settings.
// The registers that a configuration counts on must suffice: spills are counted, and bounded.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/catalog/operation.hpp"
#include "tests/support/cuda_compiler.hpp"

namespace kernels {
namespace {

using hone::device::ProgramSource;
using hone::device::cuda::Capability;
using hone::device::cuda::CompiledCuda;
using hone::device::cuda::CudaCompiler;

// The path for misaligned tensors, which nothing fast takes, may keep a handful of values on the stack.
constexpr int bearable_spill_bytes = 64;

Target target_for(const Capability& capability) {
  Target target;
  target.machine = Machine::cuda;
  target.cores = 132;
  target.compute_capability = 10 * capability.major + capability.minor;
  target.shared_bytes = target.compute_capability >= 90 ? 232448 : 166912;
  return target;
}

ProgramSource source_of(const Plan& plan, const std::string& name) {
  ProgramSource source = {name, {}, plan.main_file, plan.defines};
  for (const EmbeddedFile& file : embedded_sources()) source.files.emplace_back(file.path, file.text);
  return source;
}

class CudaCompile : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    compiler_ = hone::test::open_cuda_compiler(files_);
    ASSERT_TRUE(compiler_);
  }
  const Operation& operation() const { return *find(GetParam()); }
  Problem problem(std::int64_t rows, std::int64_t columns, DType dtype) const {
    return {rows, columns, operation().depth_for(rows, columns), dtype, default_options(operation())};
  }

  // Compiles a plan: all its entries are there, and spills stay within bounds.
  void expect_compiles(const Plan& plan, const std::string& name, const Capability& capability) {
    const auto compiled = compiler_->compile(source_of(plan, name), capability);
    ASSERT_TRUE(compiled) << name << " for " << capability.text() << ": " << hone::base::describe(compiled.error());
    EXPECT_EQ(compiled->waits_itself, capability.major >= 9);
    for (const Launch& launch : plan.launches) {
      if (launch.product) continue;  // computed by the device's own library
      const auto kernel = compiled->kernels.find(launch.entry);
      ASSERT_NE(kernel, compiled->kernels.end()) << launch.entry << " of " << name;
      EXPECT_LE(kernel->second.spill_bytes(), bearable_spill_bytes)
          << launch.entry << " of " << name << " for " << capability.text();
      EXPECT_LE(kernel->second.registers * launch.threads, 65536) << launch.entry << " of " << name;
      spilling_ += kernel->second.spill_bytes() > 0;
      ++compiled_;
    }
  }
  void TearDown() override {
    EXPECT_GT(compiled_, 0);
    RecordProperty("compiled", compiled_);
    RecordProperty("spilling", spilling_);
  }

  hone::base::SystemFiles files_;
  std::unique_ptr<CudaCompiler> compiler_;
  int compiled_ = 0, spilling_ = 0;
};

std::string words_of(Pass pass, const Settings& settings) {
  std::string text = name_of(pass);
  for (const auto& [name, value] : settings) text += " " + name + "=" + std::to_string(value);
  return text;
}

bool has_ring(const Operation& operation, const Target& target) {
  const std::vector<Knob> knobs = operation.knobs(Pass::forward, target);
  return std::any_of(knobs.begin(), knobs.end(), [](const Knob& knob) { return knob.name == "ROW_RING"; });
}

// A row that fills the registers, one that does not and is split across vectors, one that goes in chunks, and one whose chunks
// lie in a ring where the operation has one.
TEST_P(CudaCompile, EachPassForEachArchitecture) {
  for (const Capability& capability : hone::test::target_capabilities()) {
    const Target target = target_for(capability);
    // Odd rows and rows that no block holds for the architecture that all programs are tuned on; what differs for the others
    // is chosen by the compiler.
    std::vector<Problem> problems = {problem(16384, 4096, DType::bf16)};
    if (capability.major == 9)
      problems.insert(problems.end(), {problem(100, 333, DType::fp16), problem(3, 262144, DType::fp32)});
    if (has_ring(operation(), target)) problems.push_back(problem(100, 128256, DType::bf16));
    for (const Problem& p : problems) {
      for (const Pass pass : {Pass::forward, Pass::backward}) {
        const Settings settings = operation().heuristic(pass, p, target);
        expect_compiles(operation().plan(pass, p, settings, target, Ablation::none), words_of(pass, settings),
                        capability);
      }
    }
  }
}

TEST_P(CudaCompile, ASpreadOfSettings) {
  const Capability hopper = {9, 0};
  const Target target = target_for(hopper);
  const Problem p = problem(16384, 1024, DType::bf16);
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    const std::vector<Settings> all = operation().enumerate(pass, p, target);
    const std::size_t step = std::max<std::size_t>(all.size() / 4, 1);
    for (std::size_t i = step / 2; i < all.size(); i += step) {
      expect_compiles(operation().plan(pass, p, all[i], target, Ablation::none), words_of(pass, all[i]), hopper);
    }
  }
}

// Each option's last choice, as many of them together as go together: what the default leaves out of the text.
TEST_P(CudaCompile, EveryOptionInUse) {
  const Capability hopper = {9, 0};
  const Target target = target_for(hopper);
  Problem p = problem(512, has_ring(operation(), target) ? 32768 : 4096, DType::bf16);
  for (const OptionSpec& option : operation().options()) {
    const std::vector<std::string>& choices = option.values.empty() ? option.trials : option.values;
    Problem with = p;
    if (!choices.empty()) with.options[option.name] = choices.back();
    if (operation().check(with).empty()) p = with;
  }
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    const Settings settings = operation().heuristic(pass, p, target);
    expect_compiles(operation().plan(pass, p, settings, target, Ablation::none), words_of(pass, settings), hopper);
    expect_compiles(operation().eager_plan(pass, p, target), "eager", hopper);
  }
}

TEST_P(CudaCompile, EagerPlansAndAblations) {
  const Capability hopper = {9, 0};
  const Target target = target_for(hopper);
  const Problem p = problem(512, 1024, DType::bf16);
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    expect_compiles(operation().eager_plan(pass, p, target), "eager", hopper);
    const Settings settings = operation().heuristic(pass, p, target);
    for (const Ablation ablation : {Ablation::no_compute, Ablation::no_memory}) {
      expect_compiles(operation().plan(pass, p, settings, target, ablation), "ablation", hopper);
    }
  }
}

std::vector<std::string> names_of_all() {
  std::vector<std::string> names;
  for (const auto& operation : catalog()) names.push_back(operation->name());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, CudaCompile, ::testing::ValuesIn(names_of_all()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace kernels
