// The fakes of all interfaces as one kernel, for tests of whole stages. A test of a step uses the fakes that the step needs.
#pragma once

#include "model/profile.hpp"
#include "repository/counted.hpp"
#include "tests/support/fake_buildable.hpp"
#include "tests/support/fake_changeable.hpp"
#include "tests/support/fake_described.hpp"
#include "tests/support/fake_judged.hpp"
#include "tests/support/fake_timed.hpp"

namespace hone::test {

struct FakeCounted : repository::Counted {
  model::Counters counted;
  base::Result<model::Counters> counters() override { return counted; }
};

// What a trial of a variant needs.
struct FakeTrial : FakeDescribed, FakeBuildable, FakeTimed, FakeJudged {};

struct FakeSession : FakeTrial, FakeChangeable, FakeCounted {
  explicit FakeSession(base::FileSystem& files) { kernel.files = &files; }
};

// Three knobs (ROWS, WIDTH, STREAM) and one dead one, an optimum that moves with the size, 30 % to gain.
void make_tunable(FakeTrial& trial);

// A profile as stage 1 would make it, without measuring: figures are the true ones.
model::Profile profile_of(const FakeDescribed& described, const FakeTimed& timed,
                          const std::vector<std::string>& strategies);

}  // namespace hone::test
