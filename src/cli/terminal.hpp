// The person at the terminal: questions at checkpoints, and progress as one line that is redrawn there or as plain lines elsewhere.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "cli/pace.hpp"
#include "render/terminal/style.hpp"
#include "stages/ports.hpp"

namespace hone::cli {

class TerminalInteraction final : public stages::Interaction {
 public:
  // `waits`: returns when `in` has something to read, or false when there will be no answer (Ctrl-C); none: reading waits.
  TerminalInteraction(std::istream& in, std::ostream& out, bool available, std::function<bool()> waits = nullptr,
                      render::Style style = {})
      : in_(in), out_(out), available_(available), waits_(std::move(waits)), style_(style) {}
  bool available() const override { return available_; }
  // Asks until the answer is one of those offered; the end of input and Ctrl-C mean stop. Help, details of an item and a new
  // order of the plan are dealt with here; an order is returned when it is a valid one.
  stages::Reply ask(const stages::Question& question) override;

 private:
  std::optional<std::string> read_line(const std::string& prompt);  // nothing: no answer will come
  void show_details(const stages::Question& question, const std::string& name);
  std::optional<stages::Reply> edit(const stages::Question& question);  // nothing: the plan stays as it is

  std::istream& in_;
  std::ostream& out_;
  bool available_;
  std::function<bool()> waits_;
  render::Style style_;
};

class TerminalProgress final : public stages::Progress {
 public:
  // `live`: the stream is a terminal and one line is redrawn; otherwise a line at most every 10 s, or with `verbose` each of them.
  TerminalProgress(std::ostream& out, base::Clock& clock, bool live, bool verbose, std::size_t width = 100);
  ~TerminalProgress() override;
  void stage(const std::string& name);  // "optimize 2/3": its weights are not those of the stage before
  void expect(const std::vector<stages::Work>& rest) override { pace_.expect(rest); }
  void step(const std::string& title) override;
  void advance(int done, int total, const std::string& detail) override;
  void message(const std::string& text) override;
  // A unit after which the step gives up.
  void advance_last(int done, int total, const std::string& detail);
  // Ends the redrawn line, so that other text can follow.
  void finish();

 private:
  double now_s() const;
  void say(const std::string& detail);
  void clear();

  std::ostream& out_;
  base::Clock& clock_;
  bool live_, verbose_, drawn_ = false;
  std::size_t width_;
  std::int64_t started_ns_;
  std::string stage_;
  Pace pace_;
  std::optional<double> said_s_;  // when the last line was written
};

}  // namespace hone::cli
