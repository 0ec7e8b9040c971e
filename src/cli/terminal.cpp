#include "cli/terminal.hpp"

#include <algorithm>
#include <istream>
#include <ostream>

#include <fmt/format.h>

#include "base/text.hpp"

namespace hone::cli {

stages::Reply TerminalInteraction::ask(const stages::Question& question) {
  out_ << "\n" << question.headline << "\n";
  for (const std::string& line : question.lines) out_ << "  " << line << "\n";
  out_ << "\n  [a] " << question.accept << "\n";
  if (!question.alternatives.empty())
    out_ << "  [c] choose another: " << base::join_text(question.alternatives, ", ") << "\n";
  out_ << "  [s] " << question.stop << "\n";
  std::string line;
  while (true) {
    out_ << "> " << std::flush;
    if (waits_ && in_.rdbuf()->in_avail() <= 0 && !waits_()) return {stages::Choice::stop, ""};
    if (!std::getline(in_, line)) return {stages::Choice::stop, ""};
    const std::string answer = base::trim(line);
    if (answer == "a" || answer == "accept" || answer == "y" || answer == "yes") return {stages::Choice::accept, ""};
    if (answer == "s" || answer == "stop" || answer == "n" || answer == "no") return {stages::Choice::stop, ""};
    std::string chosen = answer;
    if (base::starts_with(answer, "c ")) chosen = base::trim(answer.substr(2));
    if (std::find(question.alternatives.begin(), question.alternatives.end(), chosen) != question.alternatives.end())
      return {stages::Choice::another, chosen};
    out_ << (question.alternatives.empty()
                 ? "answer a or s\n"
                 : "answer a, s, or one of " + base::join_text(question.alternatives, ", ") + "\n");
  }
}

TerminalProgress::TerminalProgress(std::ostream& out, base::Clock& clock, bool live, bool verbose)
    : out_(out), clock_(clock), live_(live), verbose_(verbose), started_ns_(clock.now_ns()) {}

TerminalProgress::~TerminalProgress() { finish(); }

void TerminalProgress::clear() {
  if (live_ && drawn_) out_ << "\r\033[K";
  drawn_ = false;
}

void TerminalProgress::finish() {
  clear();
  out_.flush();
}

void TerminalProgress::step(const std::string& title) {
  title_ = title;
  const double elapsed_s = static_cast<double>(clock_.now_ns() - started_ns_) / 1e9;
  clear();
  if (live_) {
    out_ << fmt::format("[{:5.1f} s] {}", elapsed_s, title) << std::flush;
    drawn_ = true;
  } else {
    out_ << fmt::format("[{:5.1f} s] {}\n", elapsed_s, title) << std::flush;
  }
}

void TerminalProgress::advance(int done, int total, const std::string& detail) {
  const double elapsed_s = static_cast<double>(clock_.now_ns() - started_ns_) / 1e9;
  if (live_) {
    constexpr int kWidth = 24;
    const int filled = total > 0 ? std::clamp(done * kWidth / total, 0, kWidth) : 0;
    clear();
    out_ << fmt::format("[{:5.1f} s] {} [{}{}] {}/{} {}", elapsed_s, title_,
                        std::string(static_cast<std::size_t>(filled), '#'),
                        std::string(static_cast<std::size_t>(kWidth - filled), '.'), done, total, detail)
         << std::flush;
    drawn_ = true;
  } else if (verbose_) {
    out_ << fmt::format("[{:5.1f} s]   {}/{} {}\n", elapsed_s, done, total, detail) << std::flush;
  }
}

void TerminalProgress::message(const std::string& text) {
  clear();
  out_ << text << "\n" << std::flush;
}

}  // namespace hone::cli
