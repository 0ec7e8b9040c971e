// The implementations of an operator in one worker process: the original, variants of its text, and its formula. Pairs can
// alternate in it, on the same tensors. What ends the process, or writes to memory that is not its own, is not loaded again;
// the next question starts a new process.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "repository/python/context.hpp"
#include "repository/python/operator_source.hpp"
#include "repository/python/worker.hpp"

namespace hone::repository::python {

inline constexpr const char *kOriginal = "v0", *kFormula = "formula";

class Implementations {
 public:
  Implementations(const Context& context, const OperatorSource& source)
      : context_(context), source_(source), device_(context.device == "auto" ? "cuda:0" : context.device) {}

  // Builds are asked for on several threads, and a sample is taken from wherever a subject is: one at a time.
  [[nodiscard]] std::unique_lock<std::recursive_mutex> hold() { return std::unique_lock(mutex_); }

  const std::string& device() const { return device_; }
  bool interpreted() const { return device_ == "cpu"; }
  // The process, started where there is none.
  base::Result<Worker*> worker();
  const Started* started() const { return worker_ ? &worker_->started() : nullptr; }

  // A name for the implementation of this text, whose file is then in the overlay.
  base::Result<std::string> of(const std::string& text);
  // One question about an implementation to a process that holds it.
  template <class Question>
  auto ask(const std::string& implementation, Question question) -> decltype(question(std::declval<Worker&>())) {
    HONE_TRY(running, with(implementation));
    auto reply = question(**running);
    if (!reply) return failed(implementation, reply.error());
    return reply;
  }
  base::Result<Worker*> with(const std::string& implementation);
  // Why it is not loaded again; nothing where it is.
  const base::Error* ended(const std::string& implementation) const;
  // Ends the process whose memory an implementation has spoilt.
  void abandon(const std::string& implementation, const std::string& why);

  // Compiles on all cores what running these will ask for. A failure is met again, with its reason, where a pass is run.
  // `blamed`: what is not loaded again where the process ends with it.
  void compile_ahead(const std::vector<AheadItem>& items, const std::string& blamed = kOriginal);
  void compile_ahead(const std::vector<std::string>& implementations, const std::vector<CaseSpec>& cases,
                     const std::vector<std::string>& passes);

 private:
  base::Error failed(const std::string& implementation, base::Error error);
  void forget_process();

  const Context& context_;
  const OperatorSource& source_;
  std::string device_;
  std::recursive_mutex mutex_;
  std::unique_ptr<Worker> worker_;
  std::set<std::string> loaded_;
  std::map<std::string, std::string> overlay_;  // implementation -> file
  std::map<std::string, base::Error> ended_;    // implementations that took the process with them
};

}  // namespace hone::repository::python
