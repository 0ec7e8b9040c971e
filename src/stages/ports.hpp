// What every stage is given besides its session: files, processes, documents, the person at the terminal, and the flag that
// Ctrl-C sets. Stages print nothing and read no signal themselves.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/process.hpp"
#include "base/result.hpp"
#include "stages/documents.hpp"

namespace hone::stages {

enum class Choice { accept, another, edit, stop };

// Something that a question is about and that has details: a step of the plan, a variant.
struct Item {
  std::string name, title;                                   // "3", "Cache policy of loads and stores"
  std::vector<std::pair<std::string, std::string>> details;  // what it is, and the text: "risk", "needs ..."
};

// A question below the table that it is about.
struct Question {
  std::string headline;            // "v2 is the winner: go on to finalize with it?"
  std::vector<std::string> lines;  // what else a person needs to know to answer
  std::vector<Item> items;
  bool editable = false;                  // the items are the steps of a plan: they may be reordered or dropped
  std::vector<std::string> alternatives;  // what "choose another" may name; empty: it can not
  std::string accept, stop;               // what accepting and stopping mean here
  Choice usual = Choice::accept;          // what Enter means
};

struct Reply {
  Choice choice = Choice::stop;
  std::string alternative;         // one of Question::alternatives
  std::vector<std::size_t> order;  // of edit: the items kept, by index, in their new order
  bool given = true;               // false: the input ended or Ctrl-C came; that stops, and is no answer to keep
};

// The person at the terminal, if there is one.
class Interaction {
 public:
  virtual ~Interaction() = default;
  virtual bool available() const = 0;
  virtual Reply ask(const Question& question) = 0;
};

// A step that is still to come. One of its units takes `weight` times as long as a unit of weight 1 of the same stage.
struct Work {
  std::string title;
  int units = 1;
  double weight = 1;
};

// What is going on, for a progress line.
class Progress {
 public:
  virtual ~Progress() = default;
  // What the stage will do after the step at work, as far as it is known by now: the estimate of the rest stands on it.
  virtual void expect(const std::vector<Work>& rest) = 0;
  virtual void step(const std::string& title) = 0;  // "sweep forward"
  // `done` of the step's `total` units are done; `detail` is the one that begins.
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

}  // namespace hone::stages
