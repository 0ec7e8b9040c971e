// Times of a made-up kernel, with noise, on a clock moved by hand.
#pragma once

#include "repository/timed.hpp"
#include "tests/support/fake_kernel.hpp"

namespace hone::test {

class FakeTimed : public repository::Timed, public virtual HasFakeKernel {
 public:
  // True time in ms of one pass at one size.
  std::function<double(const std::string& pass, std::int64_t x, const model::Settings& settings)> time_ms =
      [](const std::string&, std::int64_t, const model::Settings&) { return 1.0; };
  std::function<double(const std::string& pass, std::int64_t x)> floor_ms = [](const std::string&, std::int64_t) {
    return 0.5;
  };
  double floor_of_second_look = 1;  // of the floor before it, what a further look at the ceilings finds
  double ceiling_ms = 0;            // of the ceiling's program beside a kernel, at the ceilings; 0: there is none
  double noise = 0.003;             // standard deviation of log(time)
  double eager_factor = 3;          // of the shipped kernel's time
  int samples = 0;
  std::function<void(int samples)> on_sample;  // to interrupt in the middle
  std::function<double(int samples)> load;     // factor on the time of the n-th sample: what else the machine does

  using SubjectResult = base::Result<std::unique_ptr<measure::Subject>>;
  SubjectResult subject(const model::Variant& variant, const repository::Cell& cell) override;
  SubjectResult subject_with(const repository::Cell& cell, const model::Settings& settings) override;
  SubjectResult provider_subject(const std::string& provider, const repository::Cell& cell) override;
  base::Result<std::optional<repository::PassParts>> parts(const model::Variant& variant,
                                                           const repository::Cell& cell) override;
  base::Result<repository::MemoryUse> memory(const model::Variant& variant, const std::string& x_value) override;
  base::Result<repository::MemoryUse> provider_memory(const std::string& provider, const std::string& x) override;
  base::Clock& clock() override { return clock_; }
  base::Result<model::Ceilings> ceilings() override { return model::Ceilings{}; }
  void take_ceilings(const model::Ceilings& ceilings) override;
  base::Result<model::Ceilings> ceilings_again() override;
  repository::PassFloor floor(const repository::Cell& cell) override;
  base::Result<repository::CeilingSubject> ceiling_subject(const repository::Cell& cell) override;

 private:
  class FakeSubject;
  using PerPass = std::function<double(const std::string& pass, std::int64_t x)>;
  double sum(const repository::Cell& cell, const PerPass& per_pass) const;
  SubjectResult make(const repository::Cell& cell, const std::string& who, double time, bool runs = true);

  base::ManualClock clock_;
  double floor_factor_ = 1;
};

}  // namespace hone::test
