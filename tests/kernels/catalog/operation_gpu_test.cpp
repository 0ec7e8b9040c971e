// Launch geometry on a real GPU: a thousand million elements as one row, one column and many rows, whose offsets exceed 31 bits,
// and rows longer than a block of threads holds. Skipped, with the reason, where there is no GPU.
#include <gtest/gtest.h>

#include <cmath>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "device/cuda/cuda_device.hpp"
#include "kernels/catalog/operation.hpp"
#include "tests/kernels/plan_runner.hpp"

namespace kernels {
namespace {

namespace device = hone::device;

class GpuGeometry : public ::testing::Test {
 protected:
  void SetUp() override {
    if (device::cuda::gpu_count() == 0) GTEST_SKIP() << "no NVIDIA GPU with a driver on this machine";
    device::cuda::CudaOptions options;
    options.compiler = device::cuda::CompilerOptions::from_environment();
    auto opened = device::cuda::open_cuda_device(options, files_, clock_);
    ASSERT_TRUE(opened) << hone::base::describe(opened.error());
    device_ = std::move(*opened);
    if (device_->info().compiler.empty()) GTEST_SKIP() << "no NVRTC on this machine";
    target_.machine = Machine::cuda;
    target_.cores = device_->info().sm_count;
    target_.shared_bytes = device_->info().shared_memory_per_block_bytes;
    target_.compute_capability = static_cast<int>(std::lround(10 * std::stod(device_->info().compute_capability)));
  }

  device::Buffer* allocate(const TensorSpec& spec) {
    auto buffer = device_->allocate(std::size_t(std::max<std::int64_t>(spec.bytes(), 1)));
    EXPECT_TRUE(buffer) << hone::base::describe(buffer.error());
    return (buffers_[spec.name] = std::move(*buffer)).get();
  }
  // value(i % period) at element i.
  void fill(const TensorSpec& spec, std::int64_t period, const std::function<double(std::int64_t)>& value) {
    device::Buffer* buffer = buffers_.at(spec.name).get();
    const std::int64_t size = size_of(spec.dtype), all = spec.rows * spec.row_stride;
    std::vector<unsigned char> bytes(std::size_t(std::min(period, all) * size));
    for (std::int64_t i = 0; i < std::min(period, all); ++i) put_value(spec.dtype, bytes.data() + i * size, value(i));
    ASSERT_TRUE(device_->upload({buffer, 0}, bytes.data(), bytes.size()));
    const auto end = std::size_t(all * size);
    for (std::size_t filled = bytes.size(); filled < end;) {  // whole periods, so that the pattern goes on
      const std::size_t more = std::min(filled, end - filled);
      ASSERT_TRUE(device_->copy({buffer, filled}, {buffer, 0}, more));
      filled += more;
    }
  }
  double element(const TensorSpec& spec, std::int64_t index) {
    unsigned char bytes[8] = {};
    const std::size_t size = std::size_t(size_of(spec.dtype));
    EXPECT_TRUE(device_->download(bytes, {buffers_.at(spec.name).get(), std::size_t(index) * size}, size));
    return testing::value_of(spec.dtype, bytes);
  }
  void put_value(DType dtype, unsigned char* at, double value) { testing::put_value(dtype, at, value); }

  void run(const Operation& operation, const Problem& problem) {
    run(operation, problem, operation.heuristic(Pass::forward, problem, target_));
  }
  void run(const Operation& operation, const Problem& problem, const Settings& settings) {
    const Plan plan = operation.plan(Pass::forward, problem, settings, target_, Ablation::none);
    device::ProgramSource source = {operation.name(), {}, plan.main_file, plan.defines};
    for (const EmbeddedFile& file : embedded_sources()) source.files.emplace_back(file.path, file.text);
    auto program = device_->compile(source);
    ASSERT_TRUE(program) << hone::base::describe(program.error());
    for (const TensorSpec& spec : plan.scratch) allocate(spec);
    std::vector<device::Launch> launches;
    for (const Launch& launch : plan.launches) {
      device::Launch bound;
      bound.program = program->get();
      bound.entry = launch.entry;
      bound.programs = launch.programs;
      bound.threads = launch.threads;
      bound.dynamic_shared_bytes = std::size_t(launch.dynamic_shared_bytes);
      for (const Argument& argument : launch.arguments) {
        if (const auto* tensor = std::get_if<TensorArgument>(&argument)) {
          bound.arguments.emplace_back(
              device::BufferView{buffers_.at(tensor->name).get(), std::size_t(tensor->offset_bytes)});
        } else if (const auto* wide = std::get_if<std::int64_t>(&argument)) {
          bound.arguments.emplace_back(*wide);
        } else if (const auto* narrow = std::get_if<std::int32_t>(&argument)) {
          bound.arguments.emplace_back(*narrow);
        } else {
          bound.arguments.emplace_back(std::get<float>(argument));
        }
      }
      launches.push_back(std::move(bound));
    }
    const auto ran = device_->run(launches);
    ASSERT_TRUE(ran) << hone::base::describe(ran.error());
  }
  const TensorSpec spec_of(const Operation& operation, const Problem& problem, const std::string& name) {
    for (const TensorSpec& spec : operation.tensors(problem)) {
      if (spec.name == name) return spec;
    }
    ADD_FAILURE() << name;
    return {};
  }

  hone::base::SystemFiles files_;
  hone::base::SystemClock clock_;
  std::unique_ptr<device::Device> device_;
  Target target_;
  std::map<std::string, std::unique_ptr<device::Buffer>> buffers_;
};

constexpr std::int64_t thousand_million = 1'000'000'000;
constexpr std::int64_t period = 4099;  // prime: no stride of a program falls in step with it

// x is -1, 0, 1, ..., 6, -1, ... shifted by the period; each is exact in every type, and so is its square.
double pattern(std::int64_t index) { return double(index % period % 8) - 1; }

TEST_F(GpuGeometry, AThousandMillionElementsOfAMap) {
  const Operation& operation = *find("relu_squared");
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{1, thousand_million},
                                      {thousand_million, 1},
                                      {244141, 4096},
                                      {15259, 65537}}) {
    const Problem problem = {rows, columns, 0, DType::bf16, default_options(operation)};
    buffers_.clear();
    for (const TensorSpec& spec : operation.tensors(problem)) {
      if (spec.name == "x" || spec.name == "y") allocate(spec);
    }
    const TensorSpec x = spec_of(operation, problem, "x"), y = spec_of(operation, problem, "y");
    fill(x, period, pattern);
    fill(y, period, [](std::int64_t) { return std::nan(""); });
    run(operation, problem);
    const std::int64_t all = rows * columns;
    for (const std::int64_t index : {std::int64_t{0}, all / 2, all - columns, all - 9, all - 2, all - 1}) {
      const double v = std::max(pattern(index), 0.0);
      EXPECT_EQ(element(y, index), v * v) << rows << " x " << columns << " at " << index;
    }
    for (std::int64_t index = 0; index < all; index += all / 61 + 1) {
      const double v = std::max(pattern(index), 0.0);
      EXPECT_EQ(element(y, index), v * v) << rows << " x " << columns << " at " << index;
    }
  }
}

TEST_F(GpuGeometry, AThousandMillionElementsOfAReduction) {
  const Operation& operation = *find("rms_norm");
  for (const auto& [rows, columns] :
       {std::pair<std::int64_t, std::int64_t>{1, thousand_million}, {3815, 262144}, {244141, 4096}}) {
    const Problem problem = {rows, columns, 0, DType::bf16, default_options(operation)};
    buffers_.clear();
    for (const TensorSpec& spec : operation.tensors(problem)) {
      if (spec.name != "dx" && spec.name != "dy" && spec.name != "dweight") allocate(spec);
    }
    const TensorSpec x = spec_of(operation, problem, "x"), y = spec_of(operation, problem, "y");
    fill(x, period, pattern);
    fill(spec_of(operation, problem, "weight"), period, [](std::int64_t) { return 1.0; });
    run(operation, problem);
    double squares = 0;
    for (std::int64_t i = 0; i < period; ++i) squares += pattern(i) * pattern(i);
    for (const std::int64_t row : {std::int64_t{0}, rows / 2, rows - 1}) {
      // The mean over whole periods: a row is many of them, or nearly one.
      double mean = squares / double(period);
      if (columns < 10 * period) {
        mean = 0;
        for (std::int64_t c = 0; c < columns; ++c) mean += std::pow(pattern(row * columns + c), 2) / double(columns);
      }
      for (const std::int64_t column : {std::int64_t{0}, columns / 3, columns - 1}) {
        const std::int64_t index = row * columns + column;
        const double expected = pattern(index) / std::sqrt(mean + 1e-6);
        EXPECT_NEAR(element(y, index), expected, 0.02 * (0.1 + std::fabs(expected)))
            << rows << " x " << columns << " at " << index;
      }
    }
  }
}

// Rows that shared memory holds for their program (bf16: 3 chunks of a ring of 14), and rows of which the registers hold a part
// (16 and 19 chunks); more rows than programs, so that rows follow each other in the ring. Every third label is left out.
TEST_F(GpuGeometry, RowsFollowEachOtherInTheRing) {
  const Operation& operation = *find("cross_entropy");
  constexpr std::int64_t rows = 700, label_step = 7919;
  for (const std::int64_t columns : {17408, 128256, 151936}) {
    const Problem problem = {rows, columns, 0, DType::bf16, default_options(operation)};
    const auto label = [&](std::int64_t row) { return row % 3 == 1 ? -100 : row * label_step % columns; };
    buffers_.clear();
    for (const TensorSpec& spec : operation.tensors(problem)) allocate(spec);
    const TensorSpec logits = spec_of(operation, problem, "logits"), loss = spec_of(operation, problem, "loss");
    fill(logits, period, pattern);
    fill(spec_of(operation, problem, "target"), rows, [&](std::int64_t row) { return double(label(row)); });
    const Settings settings = {{"num_warps", 16},      {"VECTORS", 2},      {"BLOCK_ROW", 1},
                               {"PROGRAMS_PER_SM", 1}, {"CACHE_POLICY", 0}, {"ROW_RING", 1}};
    if (operation.valid(Pass::forward, settings, problem, target_) != "") GTEST_SKIP() << "no ring on this GPU";
    run(operation, problem, settings);
    double kept = 0, losses = 0;
    for (std::int64_t row = 0; row < rows; ++row) kept += label(row) >= 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      if (label(row) < 0) {
        for (const std::int64_t c : {std::int64_t{0}, columns / 2, columns - 1})
          ASSERT_EQ(element(logits, row * columns + c), 0) << "row " << row << " of " << columns;
        continue;
      }
      double sum = 0;
      for (std::int64_t c = 0; c < columns; ++c) sum += std::exp(pattern(row * columns + c));
      losses += (std::log(sum) - pattern(row * columns + label(row))) / kept;
      for (const std::int64_t c : {std::int64_t{0}, std::int64_t{8191}, std::int64_t{8192}, label(row), columns - 1}) {
        const double share = std::exp(pattern(row * columns + c)) / sum, expected = (share - (c == label(row))) / kept;
        ASSERT_NEAR(element(logits, row * columns + c), expected, 0.005 * std::fabs(expected))
            << "row " << row << " of " << columns << " at " << c;
      }
    }
    EXPECT_NEAR(element(loss, 0), losses, 1e-4 * losses) << columns;
  }
}

TEST_F(GpuGeometry, WhatDoesNotFitIsAnErrorThatNamesTheNeedAndWhatIsFree) {
  const auto refused = device_->allocate(std::size_t{1} << 46);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().expected.find("70368744177664 bytes"), std::string::npos) << refused.error().expected;
  EXPECT_NE(refused.error().found.find("bytes free of"), std::string::npos) << refused.error().found;
}

}  // namespace
}  // namespace kernels
