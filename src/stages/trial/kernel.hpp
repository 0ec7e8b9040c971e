// What optimize, compare and finalize ask of a kernel: everything but its counters.
#pragma once

#include "repository/buildable.hpp"
#include "repository/changeable.hpp"
#include "repository/described.hpp"
#include "repository/judged.hpp"
#include "repository/timed.hpp"

namespace hone::stages {

struct Kernel {
  // `whole` implements all of them, as a session does.
  template <class Whole>
  static Kernel of(Whole& whole) {
    return {whole, whole, whole, whole, whole};
  }

  const repository::Described& described;
  repository::Buildable& buildable;
  repository::Timed& timed;
  repository::Judged& judged;
  repository::Changeable& changeable;
};

}  // namespace hone::stages
