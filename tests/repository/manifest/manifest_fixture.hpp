// A manifest's folder with a kernel that works, a CPU device of its own, and sessions on both.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/clock.hpp"
#include "device/cpu/cpu_device.hpp"
#include "repository/manifest/manifest_repository.hpp"
#include "repository/manifest/read_manifest.hpp"
#include "tests/repository/manifest/sample_manifest.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::repository::manifest {

inline constexpr const char* kKernelText =
    R"cpp(#include <algorithm>
#include <cstdint>
#include "deep/factor.hpp"
          extern "C" void row_scale(std::int64_t program, const float* x, const float* factor, float* y,
                                    std::int64_t rows, int columns, float bias) {
            for (std::int64_t row = program * ROWS; row < std::min(rows, (program + 1) * ROWS); ++row)
              for (int i = 0; i < columns; ++i) y[row * columns + i] = scaled(x[row * columns + i], factor[row], bias);
          }
    )cpp";

inline constexpr const char* kHeaderText = R"cpp(#pragma once
                                                 inline float scaled(float x, float factor, float bias) {
                                                   return x * factor + bias;
                                                 }
)cpp";

inline constexpr const char* kReferenceText =
    R"cpp(#include <cstdint>
          extern "C" void row_scale_reference(const double* x, const double* factor, double* y, std::int64_t rows,
                                              std::int64_t columns, double bias) {
            for (std::int64_t i = 0; i < rows * columns; ++i) y[i] = x[i] * factor[i / columns] + bias;
          }
    )cpp";

class ManifestTest : public ::testing::Test {
 protected:
  void SetUp() override {
    device::cpu::CpuOptions options;
    // One cache for all tests of a run: a kernel is compiled once.
    options.cache_directory = shared_cache();
    options.temporary_directory = folder_.path();
    auto opened = device::cpu::open_cpu_device(options, processes_, files_, clock_);
    ASSERT_TRUE(opened) << base::describe(opened.error());
    device_ = std::move(*opened);
    write("hone.toml", sample_text());
    write("row_scale.cpp", kKernelText);
    write("deep/factor.hpp", kHeaderText);
    write("row_scale_reference.cpp", kReferenceText);
  }

  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(files_.write_atomically(folder_ / name, text));
  }
  std::string read(const std::string& name) {
    auto text = files_.read(folder_ / name);
    return text ? *text : "";
  }

  static std::string shared_cache() {
    static const test::TemporaryFolder folder;
    return folder.path();
  }

  base::Result<std::unique_ptr<Session>> try_open(const model::Request& request) {
    auto manifest = load_manifest(files_, folder_.path());
    if (!manifest) return manifest.error();
    launch::Context context{*device_, files_, clock_};
    context.processes = &processes_;
    return ManifestRepository(std::move(context), device_.get(), std::move(*manifest)).open(request);
  }
  static model::Request request() {
    model::Request request;
    request.kernel = "row_scale";
    request.sizes = {"64", "256"};
    return request;
  }
  std::unique_ptr<Session> open() {
    auto session = try_open(request());
    EXPECT_TRUE(session) << base::describe(session.error());
    return session ? std::move(*session) : nullptr;
  }
  base::Error refused(const model::Request& request) {
    auto session = try_open(request);
    EXPECT_FALSE(session);
    return session ? base::Error{} : session.error();
  }
  // A variant whose source is this text.
  static model::Variant with_source(Session& session, const std::string& text) {
    auto variant = session.variant_from_source(text, session.original());
    EXPECT_TRUE(variant);
    variant->id = "v1";
    return *variant;
  }
  static GateResult gate(Session& session, const model::Variant& variant, GateLevel level = GateLevel::smoke) {
    auto gate = session.gate(variant, level);
    EXPECT_TRUE(gate) << base::describe(gate.error());
    return gate ? *gate : GateResult{};
  }

  test::TemporaryFolder folder_;
  base::SystemFiles files_;
  base::SystemProcesses processes_;
  base::SystemClock clock_;
  std::unique_ptr<device::Device> device_;
};

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

}  // namespace hone::repository::manifest
