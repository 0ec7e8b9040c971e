// The documents for people, made by render and written through the file system port; and in short on the stream that they read.
#pragma once

#include <functional>
#include <iosfwd>

#include "base/process.hpp"
#include "render/terminal/style.hpp"
#include "stages/documents.hpp"

namespace hone::cli {

class RenderedDocuments final : public stages::DocumentWriter {
 public:
  // `early`: where the first figures go, before the result; `before`: ends what stands half-written, such as a progress line.
  RenderedDocuments(base::Processes& processes, std::ostream& people, std::ostream& early, render::Style style,
                    std::function<void()> before)
      : processes_(processes), people_(people), early_(early), style_(style), before_(std::move(before)) {}
  base::Result<void> write_profile(const stages::Workspace& workspace, const model::Profile& profile) override;
  base::Result<void> write_notes(const stages::Workspace& workspace, const model::Profile& profile,
                                 const model::Notes& notes) override;
  base::Result<void> write_comparison(const stages::Workspace& workspace,
                                      const model::ComparisonDocument& comparison) override;
  base::Result<std::vector<std::string>> write_plots(const stages::Workspace& workspace,
                                                     const model::Report& report) override;
  base::Result<void> write_report(const stages::Workspace& workspace, const model::Report& report) override;
  void show_baseline(const model::Profile& profile) override;
  void show_profile(const stages::Workspace& workspace, const model::Profile& profile) override;
  void show_plan(const model::Profile& profile) override;
  void show_comparison(const stages::Workspace& workspace, const model::ComparisonDocument& comparison) override;
  void show_report(const stages::Workspace& workspace, const model::Report& report) override;

 private:
  void show(std::ostream& out, const std::string& text);

  base::Processes& processes_;
  std::ostream &people_, &early_;
  render::Style style_;
  std::function<void()> before_;
};

}  // namespace hone::cli
