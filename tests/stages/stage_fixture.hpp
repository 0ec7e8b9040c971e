// What every test of a stage needs: files in memory, a scripted person, documents that only note when they were written.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/process.hpp"
#include "stages/optimize/optimize.hpp"
#include "stages/ports.hpp"
#include "stages/trial/lab.hpp"
#include "tests/support/fake_session.hpp"

namespace hone::test {

class NotingDocuments final : public stages::DocumentWriter {
 public:
  base::Result<void> write_profile(const stages::Workspace& w, const model::Profile&) override {
    return w.write("profile.md", "profile\n");
  }
  void show_baseline(const model::Profile&) override { events->push_back("baseline shown"); }
  base::Result<void> write_notes(const stages::Workspace& w, const model::Profile&,
                                 const model::Notes& written) override {
    events->push_back("notes " + written.variant + (written.has_results ? " results" : " prediction"));
    notes.push_back(written);
    return w.write(w.notes_name(written.variant), written.hypothesis + "\n" + written.learnings + "\n");
  }
  base::Result<void> write_comparison(const stages::Workspace& w, const model::ComparisonDocument& c) override {
    return w.write("comparison.md", "winner " + c.winner + "\n");
  }
  base::Result<std::vector<std::string>> write_plots(const stages::Workspace& w, const model::Report&) override {
    if (auto done = w.write("plots/speed.svg", "<svg/>"); !done) return done.error();
    return std::vector<std::string>{"plots/speed.svg"};
  }
  base::Result<void> write_report(const stages::Workspace& w, const model::Report& report) override {
    reports.push_back(report);
    return w.write("report.md", report.reason + "\n");
  }
  std::vector<model::Notes> notes;
  std::vector<model::Report> reports;
  std::vector<std::string> own_events, *events = &own_events;
};

class ScriptedPerson final : public stages::Interaction {
 public:
  bool available() const override { return present; }
  stages::Reply ask(const stages::Question& question) override {
    questions.push_back(question);
    if (replies.empty()) return {stages::Choice::stop, ""};
    const stages::Reply reply = replies.front();
    replies.pop_front();
    return reply;
  }
  bool present = false;
  std::deque<stages::Reply> replies;
  std::vector<stages::Question> questions;
};

class QuietProgress final : public stages::Progress {
 public:
  void expect(const std::vector<stages::Work>&) override {}
  void step(const std::string&) override {}
  void advance(int, int, const std::string&) override {}
  void message(const std::string& text) override { messages.push_back(text); }
  std::vector<std::string> messages;
};

template <class Files, class Processes>
struct ScriptedPorts {
  Files files;
  Processes processes;
  NotingDocuments documents;
  ScriptedPerson person;
  QuietProgress progress;
  std::atomic<bool> interrupted{false};
  stages::Ports ports{files, processes, documents, person, progress, interrupted};
};

// One step of a stage: the test adds the fakes that the step needs.
class StepTest : public ::testing::Test, protected ScriptedPorts<base::MemoryFiles, base::ScriptedProcesses> {
 protected:
  stages::Workspace workspace() { return *stages::Workspace::open(files, "optimization", "rms_norm"); }
  model::Profile profile;
};

// A step that goes through the lab, over the fakes of a trial.
template <class Files, class Processes>
class LabFixture : public ::testing::Test, protected ScriptedPorts<Files, Processes> {
 protected:
  explicit LabFixture(const std::string& root = "optimization")
      : work(*stages::Workspace::open(this->files, root, "rms_norm")) {
    make_tunable(trial);
    profile = profile_of(trial, trial, {});
  }
  // Each one is another process over the same journal.
  stages::Lab lab() {
    return {
        trial,       trial,   trial,
        trial,       profile, options,
        this->ports, work,    *stages::Journal::open(this->files, trial.clock(), work.at("journal.jsonl"), "a run")};
  }
  bool happened(const std::string& event) const {
    return std::count(trial.kernel.events.begin(), trial.kernel.events.end(), event) > 0;
  }

  stages::Workspace work;
  FakeTrial trial;
  model::Profile profile;
  stages::OptimizeOptions options;
};
using LabTest = LabFixture<base::MemoryFiles, base::ScriptedProcesses>;

class StageTest : public StepTest {
 protected:
  StageTest() {
    make_tunable(session);
    documents.events = &kernel.events;
  }

  stages::OptimizeOptions options() const {
    stages::OptimizeOptions o;
    o.autonomous = true;
    o.command = "hone optimize rms_norm";
    o.next_command = "hone finalize rms_norm";
    return o;
  }
  base::Result<stages::OptimizeOutcome> optimize(const stages::OptimizeOptions& o) {
    return stages::optimize(stages::Kernel::of(session), profile, o, workspace(), ports);
  }
  void use_strategies(const std::vector<std::string>& strategies) {
    profile = profile_of(session, session, strategies);
  }
  std::ptrdiff_t index_of(const std::string& event) const {
    return std::find(kernel.events.begin(), kernel.events.end(), event) - kernel.events.begin();
  }
  bool happened(const std::string& event) const {
    return index_of(event) < static_cast<std::ptrdiff_t>(kernel.events.size());
  }

  FakeSession session{files};
  FakeKernel& kernel = session.kernel;
};

}  // namespace hone::test
