#include "stages/optimize/proposer.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/regular_file.hpp"
#include "base/text.hpp"
#include "stages/trial/scope.hpp"
#include "stages/unified_diff.hpp"

namespace hone::model {

template <>
inline constexpr std::array kWords<stages::ProposerAnswer::Kind>{"proposal", "nothing-more", "failed"};

}  // namespace hone::model

namespace hone::stages {

constexpr int kNothingMore = 10;  // exit status by the contract

// A proposal without its predictions, which its hypothesis holds.
template <class Archive>
void fields(Archive& archive, model::of<ProposerAnswer> auto& answer) {
  archive.required("kind", answer.kind);
  archive.optional("reason", answer.reason);
  if (answer.kind != ProposerAnswer::Kind::proposal) return;
  auto& proposal = answer.proposal;
  std::string variant;
  if constexpr (!Archive::reads) {
    model::Variant named = proposal.variant;
    named.id = "proposed";  // a variant file has a name; the loop gives the real one
    variant = model::to_json(named);
  }
  archive.required("variant", variant);
  if constexpr (Archive::reads) {
    auto read = model::parse_variant(variant, "journal.jsonl");
    archive.check(read.ok(), "variant", "a variant", [&] { return read.error().found; });
    if (read) proposal.variant = std::move(*read);
  }
  archive.required("hypothesis", proposal.hypothesis);
  archive.optional("changes", proposal.changes);
  archive.optional("diff", proposal.diff);
}

void fields(auto& archive, model::of<TriedVariant> auto& tried) {
  archive.required("id", tried.id);
  archive.required("parent", tried.parent);
  archive.required("strategy", tried.strategy);
  archive.required("status", tried.status);
  archive.required("reason", tried.reason);
}

std::string request_json(const ProposalRequest& request) {
  using model::Json;
  return Json::object(
             {{"schema", "hone.proposal/1"},
              {"kernel", request.kernel},
              {"asked", "one change of the original source that makes the kernel faster and keeps its results"},
              {"original", request.original},
              {"best", request.best},
              {"bottleneck", request.bottleneck},
              {"write", Json::object({{"variant", request.variant_file}, {"hypothesis", "hypothesis.md"}})},
              {"nothing_more_exit_status", kNothingMore},
              {"tried", model::json_of(request.tried)}})
             .dump_plain(2) +
         "\n";
}

namespace {

constexpr std::uint64_t kOutputLimitBytes = 1u << 20;  // of its standard output and error; more is dropped
constexpr std::size_t kLargestTextBytes = 4u << 20;    // of variant.* and hypothesis.md

ProposerAnswer failed(std::string reason) { return {ProposerAnswer::Kind::failed, std::move(reason), {}}; }

ProposerAnswer unreadable(const std::string& file, const base::Error& error) {
  return failed("its " + file + " can not be read: expected " + error.expected + ", found " + error.found);
}

std::string last_line(const std::string& text) {
  const std::vector<std::string> lines = base::split(base::trim(text), '\n');
  return lines.empty() ? "" : lines.back().substr(0, 200);
}

// Everything the program may know, laid out afresh: a folder left by a killed run is not trusted.
base::Result<void> lay_out(Lab& lab, const repository::Changeable& changeable, const std::string& folder,
                           const model::Variant& best, const std::vector<TriedVariant>& tried,
                           const std::vector<std::string>& notes_files) {
  base::FileSystem& files = lab.ports().files;
  if (auto removed = files.remove_recursively(folder); !removed) return removed;
  const auto write = [&](const std::string& name, const std::string& content) {
    return files.write_atomically(base::join(folder, name), content);
  };
  if (auto done = write("profile.json", model::to_json(lab.profile())); !done) return done;
  for (const std::string& name : notes_files) {
    if (!files.exists(lab.workspace().at(name))) continue;
    HONE_TRY(text, files.read(lab.workspace().at(name)));
    if (auto done = write("notes/" + base::file_name(name), *text); !done) return done;
  }
  std::string main_name = "original";
  for (const auto& [name, content] : lab.described().snapshot()) {
    if (main_name == "original") main_name = base::file_name(name);
    if (auto done = write(base::file_name(name), content); !done) return done;
  }
  for (const model::SourceEdit& edit : best.edits) {
    if (auto done = write("best/" + base::file_name(edit.file), edit.content); !done) return done;
  }
  ProposalRequest request;
  request.kernel = lab.profile().kernel, request.best = best.id, request.original = main_name;
  request.variant_file = "variant." + changeable.variant_file_extension();
  request.bottleneck = model::word(lab.profile().bottleneck.cls);
  request.tried = tried;
  return write("request.json", request_json(request));
}

base::Result<ProposerAnswer> read_answer(Lab& lab, repository::Changeable& changeable, const std::string& folder,
                                         const model::Variant& best) {
  base::FileSystem& files = lab.ports().files;
  if (!files.is_directory(folder)) return failed("its folder is gone: it must write into the folder it is given");
  auto names = files.list(folder);
  if (!names) return failed("its folder can not be read: " + names.error().found);
  std::vector<std::string> variants;
  for (const std::string& name : *names) {
    if (base::starts_with(name, "variant.")) variants.push_back(name);
  }
  if (variants.empty()) return failed("it wrote no variant.* file");
  if (variants.size() > 1) return failed("it wrote more than one variant.* file: " + base::join_text(variants, ", "));
  if (!files.exists(base::join(folder, "hypothesis.md")))
    return failed("it wrote no hypothesis.md: a change without a prediction is not tried");
  auto text = base::read_regular(files, base::join(folder, variants.front()), kLargestTextBytes);
  if (!text) return unreadable("variant", text.error());
  auto hypothesis = base::read_regular(files, base::join(folder, "hypothesis.md"), kLargestTextBytes);
  if (!hypothesis) return unreadable("hypothesis.md", hypothesis.error());
  if (base::trim(*text).empty()) return failed("its variant is empty");
  if (base::trim(*hypothesis).empty())
    return failed("its hypothesis.md is empty: a change without a prediction is not tried");
  auto variant = changeable.variant_from_source(*text, best);
  if (!variant) return failed("its text is refused: " + variant.error().found);
  ProposerAnswer answer;
  answer.kind = ProposerAnswer::Kind::proposal;
  answer.proposal.variant = std::move(*variant);
  answer.proposal.variant.strategy = "proposer";
  answer.proposal.variant.title = "proposed by " + lab.options().proposer;
  answer.proposal.hypothesis = *hypothesis;
  answer.proposal.changes = "The main source file as the proposer wrote it, see the diff.";
  answer.proposal.predictions = predictions_of(*hypothesis, all_cells(lab.described()));
  const auto sources = lab.described().snapshot();
  answer.proposal.diff = sources.empty() ? ""
                                         : unified_diff(sources.front().second, *text,
                                                        base::file_name(sources.front().first), variants.front());
  return answer;
}

// The program runs in its request's folder, so that what it writes beside itself is no file of the caller. Words of the command
// that name files from where hone was started go on naming them; a command with a shell's own syntax is left as it is, and has
// $HONE_STARTED_IN.
std::string from_anywhere(base::FileSystem& files, const std::string& command) {
  if (command.find_first_of("'\"\\$`;&|<>(){}*?~#\n") != std::string::npos) return command;
  std::string made;
  for (const std::string& word : base::split(command, ' ')) {
    if (word.empty()) continue;
    const bool relative = word.front() != '/' && (word.find('/') != std::string::npos || !made.empty());
    const std::string path = relative && files.exists(word) ? files.absolute(word) : word;
    made += (made.empty() ? "" : " ") + (path == word ? word : "'" + path + "'");
  }
  return made;
}

base::Result<ProposerAnswer> run(Lab& lab, repository::Changeable& changeable, const std::string& relative_folder,
                                 const model::Variant& best) {
  base::FileSystem& files = lab.ports().files;
  const std::string folder = files.absolute(relative_folder);
  base::Command command;
  command.arguments = {"sh", "-c", from_anywhere(files, lab.options().proposer) + " \"$1\"", "sh", folder};
  command.directory = folder;
  command.environment = {{"HONE_STARTED_IN", files.absolute(".")}};
  command.deadline_ms = lab.options().proposer_deadline_ms;
  command.output_limit_bytes = kOutputLimitBytes;
  auto outcome = lab.ports().processes.run(command);
  if (!outcome && outcome.error().kind == base::ErrorKind::interrupted) return outcome.error();
  if (!outcome) return failed("it can not be started: " + outcome.error().found);
  if (outcome->timed_out)
    return failed(
        fmt::format("it did not end within {:.0f} s and was killed", static_cast<double>(command.deadline_ms) / 1000));
  if (outcome->exit_status == kNothingMore)
    return ProposerAnswer{ProposerAnswer::Kind::nothing_more, "it has nothing more to propose", {}};
  if (outcome->exit_status != 0) {
    const std::string words = last_line(outcome->error.empty() ? outcome->output : outcome->error);
    return failed(fmt::format("it exited with status {}{}", outcome->exit_status, words.empty() ? "" : ": " + words));
  }
  return read_answer(lab, changeable, folder, best);
}

}  // namespace

std::vector<model::Prediction> predictions_of(const std::string& hypothesis,
                                              const std::vector<repository::Cell>& cells) {
  std::vector<model::Prediction> predictions;
  for (const std::string& raw : base::split(hypothesis, '\n')) {
    const std::string line = base::trim(raw);
    const std::size_t at = line.find('@'), equals = line.rfind('=');
    if (!base::starts_with(line, "predict ") || at == std::string::npos || equals == std::string::npos || equals < at)
      continue;
    const std::string mode = base::trim(line.substr(8, at - 8)),
                      x_value = base::trim(line.substr(at + 1, equals - at - 1));
    const std::string figure = base::trim(line.substr(equals + 1));
    char* end = nullptr;
    const double ratio = std::strtod(figure.c_str(), &end);
    if (end == figure.c_str() || *end != '\0' || !std::isfinite(ratio) || ratio <= 0) continue;
    if (std::find(cells.begin(), cells.end(), repository::Cell{x_value, mode}) == cells.end()) continue;
    predictions.push_back({x_value, mode, ratio, "the proposer's own prediction"});
  }
  return predictions;
}

base::Result<ProposerAnswer> ask_proposer(Lab& lab, repository::Changeable& changeable, int number,
                                          const model::Variant& best, const std::vector<TriedVariant>& tried,
                                          const std::vector<std::string>& notes_files) {
  HONE_PROPAGATE(lab.check_interrupt());
  // What was tried by then is part of the question: another history is another question.
  std::string key = std::to_string(number) + "|" + lab.options().proposer + "|" + signature(best);
  for (const TriedVariant& t : tried) key += "|" + t.id + " " + t.status;
  // A proposal stands; a failure may have been mended since.
  auto known = lab.journal().find<ProposerAnswer>("proposed", key);
  if (known && known->kind != ProposerAnswer::Kind::failed) {
    known->proposal.predictions = predictions_of(known->proposal.hypothesis, all_cells(lab.described()));
    return std::move(*known);
  }
  lab.ports().progress.step("ask the proposer for a variant");
  const std::string folder = lab.workspace().at(fmt::format("proposer/{}", number));
  HONE_PROPAGATE(lay_out(lab, changeable, folder, best, tried, notes_files));
  auto answer = run(lab, changeable, folder, best);
  HONE_PROPAGATE(lab.check_interrupt());
  if (!answer) return answer.error();
  HONE_PROPAGATE(lab.journal().append("proposed", key, *answer));
  return answer;
}

}  // namespace hone::stages
