#include "repository/native/native_operation.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "kernels/catalog/cuda_row_config.hpp"
#include "repository/launch/bound_plan.hpp"
#include "repository/quoted_includes.hpp"

namespace hone::repository::native {

namespace {

kernels::Pass pass_named(const std::string& name) {
  return name == "backward" ? kernels::Pass::backward : kernels::Pass::forward;
}

const char* embedded_text(const std::string& path) {
  for (const auto& file : kernels::embedded_sources())
    if (file.path == path) return file.text;
  return nullptr;
}

class NativeProblem final : public launch::Problem {
 public:
  NativeProblem(const Choice& choice, VerificationCase which) : choice_(choice), which_(std::move(which)) {}

  std::int64_t x() const override { return kernel().x_of(problem()); }
  kernels::DType dtype() const override { return problem().dtype; }
  std::string shape() const override { return fmt::format("{} x {}", problem().rows, problem().columns); }
  std::string label() const override { return which_.label; }
  std::size_t misaligned_bytes() const override { return which_.misaligned_bytes; }
  std::int64_t rows() const { return problem().rows; }

  base::Result<std::vector<kernels::TensorSpec>> tensors() const override { return kernel().tensors(problem()); }
  kernels::PassSpec pass(const std::string& pass) const override { return kernel().pass(pass_named(pass), problem()); }
  base::Result<kernels::Traffic> traffic(const std::string& pass) const override {
    return kernel().traffic(pass_named(pass), problem());
  }
  base::Result<kernels::Plan> plan(const std::string& pass, const model::Settings& settings,
                                   kernels::Ablation ablation) const override {
    if (std::string broken = kernel().valid(pass_named(pass), settings, problem(), choice_.target); !broken.empty())
      return base::Error{base::ErrorKind::gate, "settings that are valid for the size", broken,
                         fmt::format("{} {} = {}", pass, kernel().x_name(), x()), "leave this configuration out"};
    return kernel().plan(pass_named(pass), problem(), settings, choice_.target, ablation);
  }
  base::Result<kernels::Plan> provider_plan(const std::string&, const std::string& pass) const override {
    return kernel().eager_plan(pass_named(pass), problem(), choice_.target);
  }
  base::Result<model::Settings> shipped(const std::string& pass) const override {
    return kernel().heuristic(pass_named(pass), problem(), choice_.target);
  }
  std::vector<model::Settings> valid_settings(const std::string& pass) const override {
    return kernel().enumerate(pass_named(pass), problem(), choice_.target);
  }
  bool has_reference(const std::string&) const override { return true; }
  base::Result<void> reference(const std::string& pass, kernels::Values& values) const override {
    kernel().reference(pass_named(pass), problem(), values);
    return {};
  }
  base::Result<launch::Tolerance> tolerance(const std::string& name, const std::string& tensor,
                                            const kernels::Values& before,
                                            const kernels::Values& reference) const override {
    const kernels::Pass pass = pass_named(name);
    return launch::Tolerance{
        {kernel().tolerance(pass, tensor, problem()), kernel().value_scale(pass, tensor, problem(), before, reference),
         kernel().term_sizes(pass, tensor, problem(), before)},
        false};
  }
  kernels::SourceNotes notes() const {
    return kernels::source_notes_on(choice_.target, kernel().source_notes(problem()));
  }

 private:
  const kernels::Operation& kernel() const { return choice_.kernel; }
  const kernels::Problem& problem() const { return which_.problem; }

  const Choice& choice_;
  VerificationCase which_;
};

// Which knobs the parameter sweep varies together; the others are variants of their own, one change each.
bool is_swept(const kernels::Knob& knob) {
  static const std::set<std::string> beyond_the_sweep = {"streaming-stores", "access-width",  "less-traffic", "reuse",
                                                         "algorithm",        "redundant-work"};
  return !beyond_the_sweep.count(knob.strategy);
}

class NativeOperation final : public launch::Operation {
 public:
  NativeOperation(Choice choice, const SettingsStore& store, std::map<kernels::DType, launch::InstalledEntry> installed)
      : choice_(std::move(choice)), store_(store), installed_(std::move(installed)) {}

  model::Identity identity() const override {
    model::Identity identity;
    identity.kernel = kernel().name();
    identity.repository = repository();
    identity.source_file = {kernel().main_file(), true,
                            "embedded in the program; the text in use is the snapshot beside this profile"};
    identity.benchmark_script = {"", false, "built in: hone bench " + kernel().name()};
    identity.test_file = {"", false, "built in: hone verify " + kernel().name()};
    identity.tier = kernel().tier();
    identity.tier_description = kernel().tier_reason();
    return identity;
  }

  std::string source_hash(const std::vector<launch::Planned>& in_force) const override {
    std::string text = "hone.native/1\n";
    for (const auto& [name, content] : snapshot(in_force)) text += name + "\n" + content + "\n";
    for (const launch::Planned& planned : in_force) {
      if (auto source = program_source(planned.plan, kernel().name(), edits_in_force()); source)
        for (const auto& [path, content] : source->files) text += path + base::content_hash(content);
      text += launch::launch_hash(planned.plan);
    }
    return base::content_hash(text);
  }

  std::vector<std::pair<std::string, std::string>> snapshot(
      const std::vector<launch::Planned>& in_force) const override {
    std::vector<std::pair<std::string, std::string>> files;
    if (in_force.empty()) return files;
    const kernels::Plan& plan = in_force.front().plan;
    if (auto source = program_source(plan, kernel().name(), edits_in_force()); source)
      for (const auto& [path, text] : source->files)
        if (path == plan.main_file) files.emplace_back("original_" + kernel().name() + ".hpp", text);
    if (auto settings = store_.text(kernel().name()); settings && !settings->empty())
      files.emplace_back("original_" + kernel().name() + "_settings.json", *settings);
    return files;
  }

  std::string main_file() const override { return kernel().main_file(); }
  std::string main_file_extension() const override { return "hpp"; }
  std::string own_provider() const override { return "hone"; }
  std::vector<std::string> providers() const override { return {"eager"}; }

  // A size alone does not say how much work a row of the tables is.
  std::vector<std::string> remarks(const std::vector<launch::ProblemPtr>& problems) const override {
    std::string text;
    std::set<std::int64_t> distinct;
    for (const launch::ProblemPtr& problem : problems) {
      const std::int64_t rows = dynamic_cast<const NativeProblem&>(*problem).rows();
      distinct.insert(rows);
      text += fmt::format("{}{} at {}", text.empty() ? "" : ", ", rows, problem->x());
    }
    if (distinct.size() == 1) return {fmt::format("every size has {} rows", *distinct.begin())};
    return {fmt::format("rows by {}: {}", x_name(), text)};
  }

  void describe(const launch::Problem& problem, model::Configuration& configuration) const override {
    const kernels::SourceNotes notes = dynamic_cast<const NativeProblem&>(problem).notes();
    configuration.memory_access = {notes.stride_pattern, notes.cache_modifiers, notes.in_place,
                                   notes.saved_vs_recomputed};
    configuration.compute = {notes.precision_ops, notes.casting_mode, notes.algorithm, notes.constexpr_parameters};
  }

  std::vector<std::string> passes() const override { return {"forward", "backward"}; }
  std::string x_name() const override { return kernel().x_name(); }
  kernels::DType dtype() const override { return choice_.dtype; }
  std::map<std::string, std::string> options() const override { return choice_.options; }
  std::vector<std::int64_t> default_sizes() const override {
    return kernel().default_sizes(choice_.target, choice_.dtype);
  }
  std::int64_t last_level_cache_bytes() const override { return choice_.target.last_level_bytes; }
  base::Result<launch::ProblemPtr> problem_at(std::int64_t x) const override {
    const kernels::Problem problem = kernel().problem_at(x, choice_.target, choice_.dtype, choice_.options);
    if (std::string broken = kernel().check(problem); !broken.empty())
      return base::Error{base::ErrorKind::usage, "sizes that " + kernel().name() + " can run",
                         fmt::format("{} = {}: {}", x_name(), x, broken), "--sizes", "choose smaller or other sizes"};
    return launch::ProblemPtr(std::make_shared<NativeProblem>(choice_, VerificationCase{problem, 0, ""}));
  }

  std::vector<launch::OperationKnob> knobs(const std::string& pass) const override {
    std::vector<launch::OperationKnob> knobs;
    for (const kernels::Knob& knob : kernel().knobs(pass_named(pass), choice_.target))
      knobs.push_back({{knob.name, pass, knob.help, knob.strategy, knob.values}, is_swept(knob)});
    return knobs;
  }
  const launch::InstalledEntry* installed(kernels::DType dtype) const override {
    const auto found = installed_.find(dtype);
    return found == installed_.end() ? nullptr : &found->second;
  }
  model::HowSet how_shipped() const override { return model::HowSet::settings_function; }
  std::string shipped_title() const override { return "as shipped"; }
  std::string shipped_words() const override { return "the kernel's heuristic for this device"; }

  base::Result<device::ProgramSource> source(const kernels::Plan& plan, const std::string& pass,
                                             const std::vector<model::SourceEdit>& edits) const override {
    return program_source(plan, kernel().name() + " " + pass, edits);
  }
  bool is_trusted(const std::vector<model::SourceEdit>& edits) const override { return edits.empty(); }
  bool can_ablate() const override { return true; }

  std::vector<launch::ProblemPtr> cases(launch::Extent extent, bool all_dtypes,
                                        const std::vector<std::int64_t>& sizes) const override {
    const std::vector<kernels::DType> dtypes =
        all_dtypes ? kernel().dtypes() : std::vector<kernels::DType>{choice_.dtype};
    std::vector<launch::ProblemPtr> problems;
    for (VerificationCase& which : native::cases(kernel(), extent, dtypes, choice_.options, sizes))
      problems.push_back(std::make_shared<NativeProblem>(choice_, std::move(which)));
    return problems;
  }
  std::string reference_words() const override { return "a reference in double precision"; }

  base::Result<std::vector<FileChange>> installation(const launch::InstalledEntry& entry) const override {
    HONE_TRY(before, store_.text(kernel().name()));
    HONE_TRY(after, store_.text_with(kernel().name(), entry));
    return std::vector<FileChange>{{store_.path(kernel().name()), *before, *after, !before->empty()}};
  }
  std::string repository() const override { return "native"; }
  std::string place() const override { return store_.directory(); }

 private:
  const kernels::Operation& kernel() const { return choice_.kernel; }
  std::vector<model::SourceEdit> edits_in_force() const {
    const launch::InstalledEntry* entry = installed(choice_.dtype);
    return entry == nullptr ? std::vector<model::SourceEdit>{} : entry->variant.edits;
  }

  const Choice choice_;
  const SettingsStore store_;
  const std::map<kernels::DType, launch::InstalledEntry> installed_;
};

}  // namespace

base::Result<device::ProgramSource> program_source(const kernels::Plan& plan, const std::string& name,
                                                   const std::vector<model::SourceEdit>& edits) {
  device::ProgramSource source;
  source.name = name;
  source.main_file = plan.main_file;
  source.defines = plan.defines;

  std::set<std::string> seen, used_edits;
  std::vector<std::string> open = {plan.main_file};
  while (!open.empty()) {
    std::string path = open.back();
    open.pop_back();
    if (!seen.insert(path).second) continue;
    std::string text;
    auto edit = std::find_if(edits.begin(), edits.end(), [&](const model::SourceEdit& e) { return e.file == path; });
    if (edit != edits.end()) {
      text = edit->content;
      used_edits.insert(path);
    } else if (const char* embedded = embedded_text(path)) {
      text = embedded;
    } else {
      continue;  // not ours: the compiler names it if it is missing
    }
    for (std::string& include : quoted_includes(text)) open.push_back(std::move(include));
    source.files.emplace_back(path, std::move(text));
  }
  for (const auto& edit : edits)
    if (!used_edits.count(edit.file))
      return base::Error{base::ErrorKind::gate, "an edit of a file that " + plan.main_file + " includes", edit.file,
                         name, "change " + plan.main_file + " or a header it includes"};
  std::sort(source.files.begin(), source.files.end());
  return source;
}

base::Result<std::unique_ptr<launch::Operation>> native_operation(Choice choice, const SettingsStore& store,
                                                                  const std::string& device) {
  std::map<kernels::DType, launch::InstalledEntry> installed;
  for (const kernels::DType dtype : choice.kernel.dtypes()) {
    HONE_TRY(entry, store.load(choice.kernel.name(), device, kernels::name_of(dtype)));
    if (*entry) installed.emplace(dtype, std::move(**entry));
  }
  return std::unique_ptr<launch::Operation>(
      std::make_unique<NativeOperation>(std::move(choice), store, std::move(installed)));
}

}  // namespace hone::repository::native
