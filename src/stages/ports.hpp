// What every stage is given besides its session: files, processes, documents, the person at the terminal, and the flag that
// Ctrl-C sets. Stages print nothing and read no signal themselves.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/process.hpp"
#include "base/result.hpp"
#include "stages/documents.hpp"

namespace hone::stages {

// A question with at most three kinds of answer. `alternatives` are what "choose another" may name; empty: it can not.
struct Question {
  std::string headline;            // "v2 is the winner: forward 0.81 x v0 at 8192"
  std::vector<std::string> lines;  // what a person needs to know to answer
  std::vector<std::string> alternatives;
  std::string accept, stop;  // what accepting and stopping mean here
};

enum class Choice { accept, another, stop };

struct Reply {
  Choice choice = Choice::stop;
  std::string alternative;  // one of Question::alternatives
};

// The person at the terminal, if there is one.
class Interaction {
 public:
  virtual ~Interaction() = default;
  virtual bool available() const = 0;
  virtual Reply ask(const Question& question) = 0;
};

// What is going on, for a progress bar or plain lines.
class Progress {
 public:
  virtual ~Progress() = default;
  virtual void step(const std::string& title) = 0;  // "parameter sweep: forward"
  virtual void advance(int done, int total, const std::string& detail) = 0;
  virtual void message(const std::string& text) = 0;  // one line worth keeping
};

struct Ports {
  base::FileSystem& files;
  base::Processes& processes;
  DocumentWriter& documents;
  Interaction& interaction;
  Progress& progress;
  const std::atomic<bool>& interrupted;  // set by Ctrl-C; looked at between configurations
  // Set while production holds what no gate has passed: who ends the program then leaves it there.
  std::atomic<bool>* unverified = nullptr;
};

// What the same command does when it is typed again: optimize finds its measurements in the journal, profile and compare do not.
enum class AfterInterrupt { goes_on, begins_anew };

// The error that ends a stage when the user stopped it; `next_command` resumes.
base::Result<void> check_interrupt(const Ports& ports, const std::string& next_command,
                                   AfterInterrupt after = AfterInterrupt::goes_on);

// A checkpoint after a stage. `ended`: nobody could be asked, the stage ends here and `next_command` goes on.
struct Decision {
  Choice choice = Choice::accept;
  std::string alternative;
  bool ended = false;
  std::string next_command;
};

// Autonomous runs accept; without a terminal the stage ends with the next command to type; otherwise the person decides.
Decision checkpoint(const Ports& ports, bool autonomous, const Question& question, const std::string& next_command);

}  // namespace hone::stages
