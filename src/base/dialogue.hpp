// A long-lived subprocess with a line protocol: requests on its standard input, answers on its standard output.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace hone::base {

class Dialogue {
 public:
  virtual ~Dialogue() = default;
  // One line, without its end. An Error (gate) when the program no longer listens.
  virtual Result<void> say(const std::string& line) = 0;
  // The next line of its standard output, without its end. An Error of kind gate when the program ended first or nothing came
  // within the deadline; it is then killed, and every later call fails the same way. Interrupted when a stop was asked.
  virtual Result<std::string> hear(std::int64_t deadline_ms) = 0;
  // The end of what it wrote on standard error so far; for messages.
  virtual std::string last_words() = 0;
  virtual bool alive() = 0;
};

// Answers from a list, in order; what was said is kept for the test to read. When the answers are used up the program has
// ended, and "<hang>" as an answer is one that never comes.
class ScriptedDialogue final : public Dialogue {
 public:
  explicit ScriptedDialogue(std::vector<std::string> answers) : answers_(answers.begin(), answers.end()) {}
  Result<void> say(const std::string& line) override;
  Result<std::string> hear(std::int64_t deadline_ms) override;
  std::string last_words() override { return words; }
  bool alive() override { return alive_; }

  std::vector<std::string> said;
  std::string words;

 private:
  std::deque<std::string> answers_;
  bool alive_ = true;
};

}  // namespace hone::base
