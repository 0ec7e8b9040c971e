// Other programs as a port: run with a deadline in a process group of their own, or answered from a script in tests.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/dialogue.hpp"
#include "base/result.hpp"

namespace hone::base {

struct Command {
  std::vector<std::string> arguments;              // arguments[0] is the program, looked up on PATH
  std::string directory;                           // working folder; empty: the current one
  std::map<std::string, std::string> environment;  // added to, or replacing, the current one's entries
  std::string input;                               // given on standard input
  std::int64_t deadline_ms = 60'000;               // past it the whole process group is killed
  std::uint64_t output_limit_bytes = 16u << 20;    // of each stream; what lies beyond is read and dropped
};

struct Outcome {
  int exit_status = 0;        // 0..255; 128 + signal when a signal ended it
  bool timed_out = false;     // the deadline passed and the group was killed
  bool output_cut = false;    // a stream was longer than the limit
  std::string output, error;  // standard output and standard error
  std::int64_t wall_ns = 0;
};

class Processes {
 public:
  virtual ~Processes() = default;
  // An Error only when the program can not be started at all; a program that fails is an Outcome.
  virtual Result<Outcome> run(const Command& command) = 0;
  // The absolute path of a program on PATH.
  virtual std::optional<std::string> find(const std::string& program) = 0;
  // Starts a program that stays; `input` and `deadline_ms` of the command mean nothing here. It ends with the dialogue.
  virtual Result<std::unique_ptr<Dialogue>> talk(const Command& command);
};

// Safe to use from several threads. When `*stop` becomes true, a running program's group is killed and `run` returns an
// Error of kind interrupted. A program started here dies with hone, also when hone is killed.
class SystemProcesses final : public Processes {
 public:
  explicit SystemProcesses(const std::atomic<bool>* stop = nullptr) : stop_(stop) {}
  Result<Outcome> run(const Command& command) override;
  std::optional<std::string> find(const std::string& program) override;
  Result<std::unique_ptr<Dialogue>> talk(const Command& command) override;

 private:
  const std::atomic<bool>* stop_;
};

// Answers from a list: `answers[i]` is given to the i-th call; every command is kept for the test to read.
class ScriptedProcesses final : public Processes {
 public:
  Result<Outcome> run(const Command& command) override;
  std::optional<std::string> find(const std::string& program) override;
  Result<std::unique_ptr<Dialogue>> talk(const Command& command) override;

  std::deque<std::vector<std::string>> dialogues;  // the answers of each program that is talked to, in order
  std::vector<Result<Outcome>> answers;
  std::map<std::string, std::string> programs;  // name -> path, for find()
  std::vector<Command> commands;
};

}  // namespace hone::base
