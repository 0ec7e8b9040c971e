// A Liger-Kernel checkout: every operation below src/liger_kernel/ops, run through a Python worker, never touched but by
// finalize.
#pragma once

#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/process.hpp"
#include "model/source_facts.hpp"
#include "repository/liger/environment.hpp"
#include "repository/repository.hpp"

namespace hone::repository::liger {

struct LigerContext {
  base::FileSystem& files;
  base::Processes& processes;
  base::Clock& clock;
  std::string root;             // of the checkout, absolute
  std::string scratch;          // hone's own folder for scripts and overlays; not in the checkout's sources
  std::string device = "auto";  // "auto", "cuda:N", or "cpu": Triton's interpreter, which checks and measures nothing
  std::string python = "python3";
  std::int64_t answer_ms = 120'000;  // longest time for one answer of the worker; past it the process is ended
};

class LigerRepository final : public Repository {
 public:
  // An Error (usage) where `root` is no checkout.
  static base::Result<std::unique_ptr<LigerRepository>> open_checkout(LigerContext context);

  std::string name() const override { return "liger"; }
  std::vector<KernelEntry> list() const override;
  std::vector<PreflightCheck> preflight(const model::Request& request) override;
  base::Result<std::unique_ptr<Session>> open(const model::Request& request) override;
  // What the audit says of an operation; an Error (usage) with the nearest names where the checkout has none of this name.
  base::Result<const model::AuditedOp*> find(const std::string& kernel) const;

 private:
  LigerRepository(LigerContext context, model::Audit audit) : context_(std::move(context)), audit_(std::move(audit)) {}
  const PythonEnvironment& environment();

  LigerContext context_;
  model::Audit audit_;
  std::optional<PythonEnvironment> environment_;
  std::optional<GitState> git_;
};

// Where the code that an operation launches comes from: its own kernels, or those of the files it calls.
std::string kernel_owner(const model::AuditedOp& op);

// What python will not read of the operation's files: "src/liger_kernel/ops/rms_norm.py:12: a syntax error ...".
std::vector<std::string> source_problems(const model::AuditedOp& op, const std::string& root);

}  // namespace hone::repository::liger
