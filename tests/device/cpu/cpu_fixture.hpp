// A CPU device of a test's own: its own cache and temporary folder, the machine's compiler, and short ways to compile and launch.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/cpu/cpu_device.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::device::cpu {

class CpuFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.cache_directory = folder_ / "cache";
    options_.temporary_directory = folder_.path();
    reopen();
  }
  void reopen() {
    device_.reset();
    auto opened = open_cpu_device(options_, processes_, files_, clock_);
    ASSERT_TRUE(opened) << base::describe(opened.error());
    device_ = std::move(*opened);
  }
  static ProgramSource source(const std::string& text, std::vector<std::pair<std::string, std::string>> defines = {}) {
    return {"test program",
            {{"kernels/test/test.hpp", "#pragma once\n" + text}},
            "kernels/test/test.hpp",
            std::move(defines)};
  }
  std::shared_ptr<Program> compile(const ProgramSource& text) {
    auto program = device_->compile(text);
    EXPECT_TRUE(program) << base::describe(program.error());
    return program ? *program : nullptr;
  }
  std::unique_ptr<Buffer> buffer_of(const std::vector<int>& values) {
    auto buffer = device_->allocate(values.size() * sizeof(int));
    EXPECT_TRUE(buffer) << base::describe(buffer.error());
    EXPECT_TRUE(device_->upload({buffer->get(), 0}, values.data(), values.size() * sizeof(int)));
    return std::move(*buffer);
  }
  std::vector<int> values_of(Buffer& buffer) {
    std::vector<int> values(buffer.bytes() / sizeof(int));
    EXPECT_TRUE(device_->download(values.data(), {&buffer, 0}, buffer.bytes()));
    return values;
  }
  static Launch launch(const Program& program, std::string entry, std::int64_t programs,
                       std::vector<Argument> arguments, int threads = 0) {
    Launch one;
    one.program = &program;
    one.entry = std::move(entry);
    one.programs = programs;
    one.threads = threads;
    one.arguments = std::move(arguments);
    return one;
  }

  test::TemporaryFolder folder_;
  CpuOptions options_;
  base::SystemProcesses processes_;
  base::SystemFiles files_;
  base::SystemClock clock_;
  std::unique_ptr<Device> device_;
};

}  // namespace hone::device::cpu
