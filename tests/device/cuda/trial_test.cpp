// Trials of kernels in a worker: what a worker that answers, fails, dies, hangs or can not start becomes for the caller, and the
// server's side over a driver in memory.
#include "device/cuda/trial.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "base/clock.hpp"
#include "device/cuda/trial_wire.hpp"
#include "device/no_end.hpp"
#include "tests/device/cuda/fake_driver.hpp"
#include "tests/support/cuda_compiler.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::device::cuda {
namespace {

constexpr std::int64_t trial_second_ns = 1'000'000'000;

using ::testing::HasSubstr;

class TrialTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fake_gpu() = FakeGpu();
    session_ = *GpuSession::open(fake_driver(), 0);
    CompiledCuda compiled;
    compiled.image = "an image";
    program_ = std::make_unique<CudaProgram>(session_, "test program", compiled);
    data_ = std::move(*CudaBuffer::make(session_, 3 * sizeof(int)));
    const std::vector<int> values = {7, 8, 9};
    std::memcpy(reinterpret_cast<void*>(data_->pointer()), values.data(), data_->bytes());
  }
  std::vector<Launch> launches() {
    Launch one;
    one.program = program_.get();
    one.entry = "run";
    one.programs = 2;
    one.threads = 64;
    one.arguments = {BufferView{data_.get(), 4}, std::int64_t{11}, std::int32_t{-2}, 0.5F};
    return {one};
  }
  // A worker that is a shell script.
  std::vector<std::string> script(const std::string& text) { return {"/bin/sh", "-c", text}; }

  std::shared_ptr<GpuSession> session_;
  std::unique_ptr<CudaProgram> program_;
  std::unique_ptr<CudaBuffer> data_;
};

TEST_F(TrialTest, AWorkerThatDiesCostsTheCallAndTheNextOneStartsAnother) {
  TrialWorker worker(script("kill -SEGV $$"));
  for (int round = 0; round < 2; ++round) {
    auto tried = worker.run(*session_, launches(), trial_second_ns);
    ASSERT_FALSE(tried);
    EXPECT_EQ(tried.error().kind, base::ErrorKind::gate);
    EXPECT_THAT(tried.error().found, HasSubstr("signal 11"));
    EXPECT_THAT(tried.error().expected, HasSubstr("'run'"));
    EXPECT_FALSE(worker.running());
  }
}

TEST_F(TrialTest, AWorkerThatEndsIsToldByItsStatus) {
  auto tried = TrialWorker(script("exit 4")).run(*session_, launches(), trial_second_ns);
  ASSERT_FALSE(tried);
  EXPECT_THAT(tried.error().found, HasSubstr("exit status 4"));
}

TEST_F(TrialTest, AWorkerThatCanNotStartIsAPreflightError) {
  auto tried = TrialWorker({"/no/such/program"}).run(*session_, launches(), trial_second_ns);
  ASSERT_FALSE(tried);
  EXPECT_NE(tried.error().found.find("/no/such/program"), 0U);
  EXPECT_FALSE(tried.error().remedy.empty());
}

TEST_F(TrialTest, AKernelThatDoesNotEndIsKilledAtItsDeadline) {
  // "ready" as a message of one byte, then nothing more.
  TrialWorker worker(script("printf '\\001\\000\\000\\000\\000\\000\\000\\000R' >&0; sleep 100"));
  const std::int64_t start = base::steady_ns();
  auto tried = worker.run(*session_, launches(), trial_second_ns / 5);
  ASSERT_FALSE(tried);
  EXPECT_EQ(tried.error().kind, base::ErrorKind::gate);
  EXPECT_THAT(tried.error().found, HasSubstr("still running after 0.2 s"));
  EXPECT_TRUE(is_no_end(tried.error()));
  EXPECT_GE(base::steady_ns() - start, trial_second_ns / 5);
  EXPECT_FALSE(worker.running());
}

// The server in a thread, as the worker process runs it, and the request that the caller's side writes.
class ServedTrial : public TrialTest {
 protected:
  void SetUp() override {
    TrialTest::SetUp();
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_), 0);
  }
  // What the caller's side sends, caught from a worker that passes its input on; then served.
  void send_request() {
    WireText text;
    text.add(kTrialMark);
    text.add(std::uint32_t{1});
    text.add_text("test program");
    text.add(std::uint8_t{1});
    text.add_text("an image");
    text.add(std::uint32_t{1});
    text.add(static_cast<std::uint64_t>(data_->bytes()));
    text.add(std::uint32_t{1});
    text.add(std::uint32_t{0});
    text.add_text("run");
    text.add(std::int64_t{2});
    text.add(std::int32_t{64});
    text.add(std::uint64_t{0});
    text.add(std::int32_t{1});
    for (const std::int32_t extent : {3, 1, 2, 1}) text.add(extent);  // of grid and block along y and z
    text.add(std::uint32_t{2});
    text.add(std::uint8_t{0});
    text.add(std::uint32_t{0});
    text.add(std::uint64_t{4});
    text.add(std::uint8_t{2});
    text.add(std::int64_t{11});
    text.add(std::uint8_t{0});  // no matrix product
    ASSERT_EQ(wire_send_message(ends_[0], text.bytes(), 0), Wire::complete);
    ASSERT_EQ(wire_send(ends_[0], reinterpret_cast<const void*>(data_->pointer()), data_->bytes(), 0), Wire::complete);
  }
  char next_answer(WireReader* rest = nullptr) {
    std::string message;
    if (wire_receive_message(ends_[0], message, base::steady_ns() + 10 * trial_second_ns) != Wire::complete) return 0;
    WireReader reader(message);
    const char kind = reader.take<char>();
    if (rest != nullptr) *rest = reader;
    return kind;
  }
  int serve(const std::function<void()>& talk) {
    int status = -1;
    std::thread server([&] {
      status = serve_trials(fake_driver(), 0, ends_[1]);
      ::close(ends_[1]);
    });
    talk();
    ::close(ends_[0]);
    server.join();
    return status;
  }
  int ends_[2] = {-1, -1};
};

TEST_F(ServedTrial, RunsTheLaunchesOnCopiesAndStaysForTheNextRequest) {
  const int status = serve([&] {
    for (int round = 0; round < 2; ++round) {
      send_request();
      EXPECT_EQ(next_answer(), kTrialReady);
      EXPECT_EQ(next_answer(), kTrialDone);
    }
  });
  EXPECT_EQ(status, 0);
  ASSERT_EQ(fake_gpu().launches.size(), 2U);
  EXPECT_EQ(fake_gpu().launches[0].config.grid[0], 2U);
  EXPECT_EQ(fake_gpu().launches[0].config.grid[1], 3U);
  EXPECT_EQ(fake_gpu().launches[0].config.block[1], 2U);
  EXPECT_EQ(fake_gpu().launches[0].values[1], 11U);
  EXPECT_NE(fake_gpu().launches[0].values[0], data_->pointer() + 4) << "the caller's own memory";
}

TEST_F(ServedTrial, AFaultIsAnsweredWithItsErrorAndEndsTheWorker) {
  fake_gpu().fail = [](const std::string& call) { return call == "wait" ? kIllegalAddress : kSuccess; };
  serve([&] {
    send_request();
    EXPECT_EQ(next_answer(), kTrialReady);
    WireReader rest("");
    ASSERT_EQ(next_answer(&rest), kTrialFailed);
    EXPECT_EQ(rest.take<std::uint8_t>(), 1) << "the worker goes";
    const base::Error error = take_error(rest);
    EXPECT_EQ(error.kind, base::ErrorKind::gate);
    EXPECT_THAT(error.found, HasSubstr("ILLEGAL_ADDRESS"));
    EXPECT_EQ(next_answer(), 0) << "it is still there";
  });
  fake_gpu().fail = nullptr;
}

TEST_F(ServedTrial, AFailureThatIsNotStickyKeepsTheWorker) {
  fake_gpu().kernels = {};
  serve([&] {
    send_request();
    WireReader rest("");
    ASSERT_EQ(next_answer(&rest), kTrialFailed);
    EXPECT_EQ(rest.take<std::uint8_t>(), 0);
    fake_gpu().kernels = {"run"};
    send_request();
    EXPECT_EQ(next_answer(), kTrialReady);
    EXPECT_EQ(next_answer(), kTrialDone);
  });
}

TEST_F(ServedTrial, ARequestOfAnotherBuildIsRefused) {
  serve([&] {
    ASSERT_EQ(wire_send_message(ends_[0], "something else", 0), Wire::complete);
    EXPECT_EQ(next_answer(), kTrialFailed);
  });
}

TEST_F(TrialTest, HoneItselfIsAWorkerAndEndsWhereThereIsNoSuchGpu) {
  TrialWorker worker({std::string(HONE_BINARY_DIR) + "/hone", "gpu-trials", "1023"});
  auto tried = worker.run(*session_, launches(), 5 * trial_second_ns);
  ASSERT_FALSE(tried);
  EXPECT_EQ(tried.error().kind == base::ErrorKind::gate || tried.error().kind == base::ErrorKind::preflight, true);
  EXPECT_FALSE(tried.error().found.empty());
  EXPECT_FALSE(worker.running());
}

}  // namespace
}  // namespace hone::device::cuda
