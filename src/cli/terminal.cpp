#include "cli/terminal.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <istream>
#include <ostream>

#include <fmt/format.h>

#include "base/text.hpp"
#include "render/terminal/progress.hpp"
#include "stages/plan.hpp"

namespace hone::cli {

namespace {

using stages::Choice;
using stages::Question;

constexpr double kBetweenLines_s = 10, kBetweenDrawings_s = 0.1;
constexpr std::size_t kLabel = 10;

// What a line of input means. `unknown`: it has to be asked again.
enum class Meaning { accept, stop, another, details, edit, help, unknown };
struct Answer {
  Meaning meaning = Meaning::unknown;
  std::string name;  // of the alternative, or of the item whose details are wanted
};

bool is_one_of(const std::string& word, std::initializer_list<const char*> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

const stages::Item* find_item(const Question& question, const std::string& name) {
  for (const stages::Item& item : question.items)
    if (item.name == name) return &item;
  return nullptr;
}

Answer meaning_of(const std::string& line, const Question& question) {
  std::string text = base::trim(line);
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  if (text.empty()) return {question.usual == Choice::accept ? Meaning::accept : Meaning::stop, ""};
  if (is_one_of(text, {"y", "yes", "a", "accept"})) return {Meaning::accept, ""};
  if (is_one_of(text, {"n", "no", "s", "stop", "q", "quit"})) return {Meaning::stop, ""};
  if (is_one_of(text, {"?", "h", "help"})) return {Meaning::help, ""};
  if (question.editable && is_one_of(text, {"e", "edit", "edit plan", "edit the plan"})) return {Meaning::edit, ""};
  const bool chooses = base::starts_with(text, "c ") || base::starts_with(text, "choose ");
  const std::string chosen = chooses ? base::trim(text.substr(text.find(' '))) : text;
  const auto& others = question.alternatives;
  if (std::find(others.begin(), others.end(), chosen) != others.end()) return {Meaning::another, chosen};
  // "details of step 3", "details 3", "d 3", "d3", "step 3", "3".
  std::string name = text;
  for (const char* head : {"details", "detail", "d", "of", "step"}) {
    const std::string rest = name.substr(std::min(name.size(), std::string(head).size()));
    if (base::starts_with(name, head) && find_item(question, name) == nullptr) name = base::trim(rest);
  }
  if (find_item(question, name) != nullptr) return {Meaning::details, name};
  return {};
}

std::string keys_of(const Question& question) {
  const bool usual = question.usual == Choice::accept;
  std::string keys = usual ? "[Y/n" : "[y/N";
  if (!question.alternatives.empty()) keys += "/" + base::join_text(question.alternatives, "/");
  if (question.editable) keys += "/e";
  if (!question.items.empty()) keys += "/d N";
  return keys + "/?] ";
}

std::string help_of(const Question& question) {
  const auto line = [](const std::string& keys, const std::string& text) {
    return fmt::format("  {:<12}{}\n", keys, text);
  };
  const bool usual = question.usual == Choice::accept;
  std::string text = line(usual ? "y, Enter" : "y", question.accept) + line(usual ? "n" : "n, Enter", question.stop);
  if (!question.alternatives.empty())
    text += line(base::join_text(question.alternatives, ", "), "choose this one instead");
  if (question.editable) text += line("e", "edit the plan: put its steps into another order, or drop some");
  if (!question.items.empty()) {
    const std::string& first = question.items.front().name;
    text +=
        line("d " + first, "details of " + (question.editable ? "step " + first : first) + ", and so of the others");
  }
  return text + line("?", "this list");
}

// "risk      what it may cost": a label in its column, the text wrapped beside it.
std::string labelled(const std::string& label, const std::string& text, const render::Style& style) {
  const std::size_t width = style.width > kLabel + 22 ? style.width - kLabel - 2 : 20;
  std::string lines;
  for (const std::string& line : render::wrap(render::printable(text), width))
    lines += fmt::format("  {:<{}}{}\n", lines.empty() ? label : "", kLabel, line);
  return lines;
}

}  // namespace

std::optional<std::string> TerminalInteraction::read_line(const std::string& prompt) {
  out_ << prompt << std::flush;
  std::string line;
  if ((waits_ && in_.rdbuf()->in_avail() <= 0 && !waits_()) || !std::getline(in_, line)) {
    out_ << "\n" << std::flush;
    return std::nullopt;
  }
  return line;
}

void TerminalInteraction::show_details(const Question& question, const std::string& name) {
  const stages::Item& item = *find_item(question, name);
  out_ << item.name << (question.editable ? ". " : " ") << render::printable(item.title) << "\n";
  for (const auto& [label, text] : item.details) out_ << labelled(label, text, style_);
}

std::optional<stages::Reply> TerminalInteraction::edit(const Question& question) {
  for (const stages::Item& item : question.items)
    out_ << "  " << item.name << ". " << render::printable(item.title) << "\n";
  out_ << "The numbers of the steps in their new order; those left out are dropped (\"2 1\", \"drop 2\"). Enter: no "
          "change.\n";
  while (true) {
    const auto line = read_line("order> ");
    if (!line) return stages::Reply{Choice::stop, "", {}, false};
    if (base::trim(*line).empty()) return std::nullopt;
    auto order = stages::parse_order(*line, question.items.size());
    if (order) return stages::Reply{Choice::edit, "", std::move(*order), true};
    out_ << "expected " << order.error().expected << "; found " << order.error().found << "; " << order.error().remedy
         << "\n";
  }
}

stages::Reply TerminalInteraction::ask(const Question& question) {
  out_ << "\n";
  for (const std::string& line : question.lines) out_ << "  " << line << "\n";
  const std::string prompt = question.headline + " " + keys_of(question);
  while (true) {
    const auto line = read_line(prompt);
    if (!line) return {Choice::stop, "", {}, false};
    const Answer answer = meaning_of(*line, question);
    switch (answer.meaning) {
      case Meaning::accept: return {Choice::accept, "", {}, true};
      case Meaning::stop: return {Choice::stop, "", {}, true};
      case Meaning::another: return {Choice::another, answer.name, {}, true};
      case Meaning::details: show_details(question, answer.name); break;
      case Meaning::edit:
        if (auto reply = edit(question)) return *reply;
        break;
      case Meaning::help: out_ << help_of(question); break;
      case Meaning::unknown:
        out_ << "'" << render::printable(base::trim(*line)) << "' is no answer here:\n" << help_of(question);
        break;
    }
  }
}

TerminalProgress::TerminalProgress(std::ostream& out, base::Clock& clock, bool live, bool verbose, std::size_t width)
    : out_(out), clock_(clock), live_(live), verbose_(verbose), width_(width), started_ns_(clock.now_ns()) {}

TerminalProgress::~TerminalProgress() { finish(); }

double TerminalProgress::now_s() const { return static_cast<double>(clock_.now_ns() - started_ns_) / 1e9; }

void TerminalProgress::clear() {
  if (live_ && drawn_) out_ << "\r\033[K";
  drawn_ = false;
}

void TerminalProgress::finish() {
  clear();
  out_.flush();
}

void TerminalProgress::say(const std::string& detail) {
  const double now = now_s();
  render::ProgressState state{stage_, pace_.title(), pace_.done(), pace_.total(), pace_.left_s(now), detail};
  said_s_ = now;
  if (live_) {
    clear();
    out_ << render::progress_text(state, {false, width_ > 1 ? width_ - 1 : width_}) << std::flush;
    drawn_ = true;
  } else {
    out_ << fmt::format("[{:5.1f} s] ", now) << render::progress_text(state, {false, 4096}) << "\n" << std::flush;
  }
}

void TerminalProgress::stage(const std::string& name) {
  stage_ = name;
  pace_ = {};
}

void TerminalProgress::step(const std::string& title) {
  pace_.step(title, now_s());
  if (live_ || verbose_ || !said_s_ || now_s() - *said_s_ >= kBetweenLines_s) say("");
  if (live_) said_s_.reset();  // its units are shown as soon as they are known
}

void TerminalProgress::advance(int done, int total, const std::string& detail) {
  pace_.advance(done, total, now_s());
  if (verbose_ || !said_s_ || now_s() - *said_s_ >= (live_ ? kBetweenDrawings_s : kBetweenLines_s)) say(detail);
}

void TerminalProgress::advance_last(int done, int total, const std::string& detail) {
  pace_.end();
  advance(done, total, detail);
}

void TerminalProgress::message(const std::string& text) {
  clear();
  out_ << text << "\n" << std::flush;
}

}  // namespace hone::cli
