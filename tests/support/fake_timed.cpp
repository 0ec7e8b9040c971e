#include "tests/support/fake_timed.hpp"

#include <cmath>
#include <random>

namespace hone::test {

using repository::Cell;

// Noise that depends on the order of samples alone, so that runs are repeatable.
class FakeTimed::FakeSubject final : public measure::Subject {
 public:
  FakeSubject(FakeTimed& timed, std::string name, std::string who, double true_ms, bool runs)
      : timed_(timed), name_(std::move(name)), who_(std::move(who)), true_ms_(true_ms), runs_(runs) {}
  std::string name() const override { return name_; }
  base::Result<model::Sample> sample() override {
    const int samples = ++timed_.samples;
    if (timed_.on_sample) timed_.on_sample(samples);
    std::vector<std::string>& events = timed_.kernel.events;
    const std::string event = "sample " + name_;
    if (events.empty() || events.back() != event) events.push_back(event);
    if (!runs_) return base::Error{base::ErrorKind::internal, "a run", "the kernel faulted", name_, ""};
    HONE_PROPAGATE(timed_.kernel.may("sample " + who_));
    std::mt19937_64 random(static_cast<std::uint64_t>(samples) * 7919);
    random.discard(3);
    double value = true_ms_ * std::exp(timed_.noise * std::normal_distribution<double>()(random));
    if (timed_.load) value *= timed_.load(samples);
    timed_.clock_.advance_ns(static_cast<std::int64_t>(value * 1e6) + 50'000);
    return model::Sample{value * 1e6, value * 1e6 + 5'000, 0};
  }

 private:
  FakeTimed& timed_;
  std::string name_, who_;
  double true_ms_;
  bool runs_;
};

double FakeTimed::sum(const Cell& cell, const PerPass& per_pass) const {
  double total = 0;
  for (const std::string& mode : kernel.modes) {
    if (mode != "full" && (cell.mode == mode || cell.mode == "full")) total += per_pass(mode, std::stoll(cell.x_value));
  }
  return total;
}

FakeTimed::SubjectResult FakeTimed::make(const Cell& cell, const std::string& who, double time, bool runs) {
  HONE_PROPAGATE(kernel.may("subject " + who));
  return std::unique_ptr<measure::Subject>(
      std::make_unique<FakeSubject>(*this, cell.mode + " " + cell.x_value + " " + who, who, time, runs));
}

FakeTimed::SubjectResult FakeTimed::subject(const model::Variant& variant, const Cell& cell) {
  const SourceBehaviour& source = kernel.behaviour(variant);
  const model::Variant whole = kernel.complete(variant);
  const double time = sum(cell, [&](const std::string& pass, std::int64_t x) {
    const double factor = pass == "forward" ? source.forward_factor : source.backward_factor;
    return factor * time_ms(pass, x, whole.settings.at(pass).at(x));
  });
  return make(cell, variant.id, time, source.runs);
}

FakeTimed::SubjectResult FakeTimed::subject_with(const Cell& cell, const model::Settings& settings) {
  return make(cell, text_of(settings), time_ms(cell.mode, std::stoll(cell.x_value), settings));
}

FakeTimed::SubjectResult FakeTimed::provider_subject(const std::string& provider, const Cell& cell) {
  const PerPass shipped = [&](const std::string& pass, std::int64_t x) {
    return time_ms(pass, x, kernel.shipped(pass, x));
  };
  return make(cell, provider, eager_factor * sum(cell, shipped));
}

base::Result<std::optional<repository::PassParts>> FakeTimed::parts(const model::Variant& variant, const Cell&) {
  HONE_PROPAGATE(kernel.may("parts " + variant.id));
  return std::optional<repository::PassParts>();
}

base::Result<repository::MemoryUse> FakeTimed::memory(const model::Variant& variant, const std::string& x_value) {
  HONE_PROPAGATE(kernel.may("memory " + variant.id));
  const double mb = std::stod(x_value) / 64 * kernel.behaviour(variant).memory_factor;
  return repository::MemoryUse{mb, mb / 4, 3 * mb};
}

base::Result<repository::MemoryUse> FakeTimed::provider_memory(const std::string& provider,
                                                               const std::string& x_value) {
  HONE_PROPAGATE(kernel.may("memory " + provider));
  const double mb = std::stod(x_value) / 16;
  return repository::MemoryUse{mb, mb / 4, 3 * mb};
}

void FakeTimed::take_ceilings(const model::Ceilings& ceilings) {
  kernel.events.push_back("take ceilings " + ceilings.measured_at);
}

base::Result<model::Ceilings> FakeTimed::ceilings_again() {
  kernel.events.push_back("ceilings again");
  floor_factor_ *= floor_of_second_look;
  model::Ceilings ceilings;
  ceilings.notes = {"measured again"};
  return ceilings;
}

repository::PassFloor FakeTimed::floor(const Cell& cell) {
  const double floor = floor_factor_ * sum(cell, floor_ms);
  return {1, 1, floor, floor / 1.02, "copy_bytes_per_s"};
}

base::Result<repository::CeilingSubject> FakeTimed::ceiling_subject(const Cell& cell) {
  if (!(ceiling_ms > 0)) return repository::CeilingSubject{};
  HONE_TRY(subject, make(cell, "ceiling", ceiling_ms));
  return repository::CeilingSubject{std::move(*subject), ceiling_ms * 1e6};
}

}  // namespace hone::test
