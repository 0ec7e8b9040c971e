// A Liger-Kernel checkout: every operation below src/liger_kernel/ops, run through a Python worker, never touched but by
// finalize.
#pragma once

#include <optional>
#include <string>

#include "model/source_facts.hpp"
#include "repository/liger/checkout.hpp"
#include "repository/python/context.hpp"
#include "repository/repository.hpp"

namespace hone::repository::liger {

class LigerRepository final : public Repository {
 public:
  // An Error (usage) where `root` is no checkout.
  static base::Result<std::unique_ptr<LigerRepository>> open_checkout(python::Context context, std::string root);

  std::string name() const override { return "liger"; }
  std::vector<KernelEntry> list() const override;
  std::vector<PreflightCheck> preflight(const model::Request& request) override;
  base::Result<std::unique_ptr<Session>> open(const model::Request& request) override;
  // What the audit says of an operation; an Error (usage) with the nearest names where the
  // checkout has none of this name, of kind preflight where its file can not be read as source.
  base::Result<const model::AuditedOp*> find(const std::string& kernel) const;

 private:
  LigerRepository(python::Context context, std::string root, model::Audit audit)
      : context_(std::move(context)), root_(std::move(root)), audit_(std::move(audit)) {}
  const python::PythonEnvironment& environment();
  const GitState& git();

  python::Context context_;
  std::string root_;  // of the checkout, absolute
  model::Audit audit_;
  std::optional<python::PythonEnvironment> environment_;
  std::optional<GitState> git_;
};

// Where the code that an operation launches comes from: its own kernels, or those of the files it calls.
std::string kernel_owner(const model::AuditedOp& op);

// What python will not read of the operation's files: "src/liger_kernel/ops/rms_norm.py:12: a syntax error ...".
std::vector<std::string> source_problems(const model::AuditedOp& op, const std::string& root);

}  // namespace hone::repository::liger
