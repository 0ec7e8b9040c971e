// The person at the terminal: questions at checkpoints, and progress as a bar there or as plain lines elsewhere.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

#include "base/clock.hpp"
#include "cli/options.hpp"
#include "stages/ports.hpp"

namespace hone::cli {

class TerminalInteraction final : public stages::Interaction {
 public:
  // `waits`: returns when `in` has something to read, or false when there will be no answer (Ctrl-C); none: reading waits.
  TerminalInteraction(std::istream& in, std::ostream& out, bool available, std::function<bool()> waits = nullptr)
      : in_(in), out_(out), available_(available), waits_(std::move(waits)) {}
  bool available() const override { return available_; }
  // Asks until the answer is one of those offered; the end of input and Ctrl-C mean stop.
  stages::Reply ask(const stages::Question& question) override;

 private:
  std::istream& in_;
  std::ostream& out_;
  bool available_;
  std::function<bool()> waits_;
};

class TerminalProgress final : public stages::Progress {
 public:
  // `live`: the stream is a terminal and one line is redrawn; otherwise a line for each step and message.
  TerminalProgress(std::ostream& out, base::Clock& clock, bool live, bool verbose);
  ~TerminalProgress() override;
  void step(const std::string& title) override;
  void advance(int done, int total, const std::string& detail) override;
  void message(const std::string& text) override;
  // Ends the redrawn line, so that other text can follow.
  void finish();

 private:
  void clear();

  std::ostream& out_;
  base::Clock& clock_;
  bool live_, verbose_, drawn_ = false;
  std::string title_;
  std::int64_t started_ns_;
};

}  // namespace hone::cli
