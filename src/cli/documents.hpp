// The documents for people, made by render and written through the file system port.
#pragma once

#include "base/process.hpp"
#include "stages/documents.hpp"

namespace hone::cli {

class RenderedDocuments final : public stages::DocumentWriter {
 public:
  explicit RenderedDocuments(base::Processes& processes) : processes_(processes) {}
  base::Result<void> write_profile(const stages::Workspace& workspace, const model::Profile& profile) override;
  base::Result<void> write_notes(const stages::Workspace& workspace, const model::Profile& profile,
                                 const model::Notes& notes) override;
  base::Result<void> write_comparison(const stages::Workspace& workspace,
                                      const model::ComparisonDocument& comparison) override;
  base::Result<std::vector<std::string>> write_plots(const stages::Workspace& workspace,
                                                     const model::Report& report) override;
  base::Result<void> write_report(const stages::Workspace& workspace, const model::Report& report) override;

 private:
  base::Processes& processes_;
};

}  // namespace hone::cli
