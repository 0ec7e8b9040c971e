#include "source/cpp/preprocessor.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/text.hpp"
#include "source/cpp/condition.hpp"
#include "source/cpp/text_scan.hpp"
#include "source/source_text.hpp"

namespace hone::source {

namespace {

constexpr const char* kKernelWord = "__global__";
constexpr std::size_t kDeepestExpansion = 64, kMostWordsFollowed = 1000;
constexpr std::size_t kLongestExpansion = 4096;  // of one use; a longer one is left as it is

using Truth = std::optional<bool>;  // nothing: not decided by the file

struct Macro {
  bool takes_arguments = false;
  std::vector<std::string> parameters;
  std::string body;
};

// One #if up to its #endif.
struct Conditional {
  bool excluded = false;  // it stands in a group that is never compiled
  Truth group = {};       // whether the present group is compiled
  bool closed = false;    // this group or an earlier one is: no later one can be
  bool decided = true;    // no group so far depends on what the file does not decide
  std::vector<std::pair<std::size_t, std::size_t>> directives = {};  // their places in the output

  void enter(Truth condition) {
    group = closed || excluded ? Truth(false) : condition;
    closed = closed || group == true;
    if (!decided && group == true) group.reset();
    decided = decided && group;
  }
};

std::string without_comments(const std::string& text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = skip_literal(text, at);
    if (end > at && text[at] == '/')
      plain += ' ';
    else
      plain += text.substr(at, std::max(end, at + 1) - at);
    at = std::max(end, at + 1);
  }
  return collapse_white_space(plain);
}

class Preprocessor {
 public:
  explicit Preprocessor(const std::string& text) : text_(text) { out_.reserve(text.size()); }

  std::string run() {
    std::size_t from = 0;  // of the code since the last directive
    bool line_start = true;
    for (std::size_t at = 0; at < text_.size();) {
      const char c = text_[at];
      if (line_start && c == '#') {
        const std::size_t end = end_of_directive(at);
        take_code(from, at);
        take_directive(at, end);
        from = at = end;
        continue;
      }
      if (const std::size_t end = skip_literal(text_, at); end > at) {
        if (c != '/') line_start = false;
        at = end;
        continue;
      }
      if (c == '\n')
        line_start = true;
      else if (c != ' ' && c != '\t' && c != '\r')
        line_start = false;
      ++at;
    }
    take_code(from, text_.size());
    return std::move(out_);
  }

 private:
  std::size_t end_of_directive(std::size_t at) const {
    while (at < text_.size() && text_[at] != '\n') {
      const bool continued = text_[at] == '\\' && at + 1 < text_.size();
      const bool with_return = continued && text_.compare(at, 3, "\\\r\n") == 0;
      at = continued ? at + (with_return ? 3 : 2) : std::max(skip_literal(text_, at), at + 1);
    }
    return std::min(at, text_.size());
  }

  // Whether what stands here is compiled.
  Truth live() const {
    Truth all = true;
    for (const Conditional& each : open_) {
      if (each.group == false) return false;
      if (!each.group) all.reset();
    }
    return all;
  }

  void take_code(std::size_t from, std::size_t to) {
    const std::string code = text_.substr(from, to - from);
    if (live() != false) {
      out_ += expanded(code);
      return;
    }
    out_ += code;
    blank(out_, out_.size() - code.size(), out_.size());
  }

  void take_directive(std::size_t from, std::size_t to) {
    const std::pair<std::size_t, std::size_t> place{out_.size(), out_.size() + to - from};
    out_ += text_.substr(from, to - from);
    const std::string line = without_comments(text_.substr(from + 1, to - from - 1));
    const std::size_t end = skip_word(line, 0);
    const std::string word = line.substr(0, end), rest = base::trim(line.substr(end));
    if (word == "if" || word == "ifdef" || word == "ifndef") {
      open_.push_back({live() == false});
      open_.back().enter(condition_of(word, rest));
    } else if (word.starts_with("el") && !open_.empty()) {
      open_.back().enter(word == "else" ? Truth(true) : condition_of(word.substr(2), rest));
    } else if (word != "endif" || open_.empty()) {
      if (live() == false) blank(out_, place.first, place.second);
      if (live() != false && (word == "define" || word == "undef")) take_name(word == "define", rest);
      return;
    }
    Conditional& conditional = open_.back();
    conditional.directives.push_back(place);
    if (word != "endif") return;
    for (const auto& [start, stop] : conditional.directives)
      if (conditional.decided) blank(out_, start, stop);
    open_.pop_back();
  }

  Truth condition_of(const std::string& word, const std::string& rest) const {
    if (word == "if") return condition_value(rest, [this](const std::string& name) { return state_of(name); });
    const Truth defined = state_of(rest.substr(0, skip_word(rest, 0))).defined;
    return word == "ifndef" && defined ? Truth(!*defined) : defined;
  }

  NameState state_of(const std::string& name) const {
    const auto known = known_.find(name);
    return known == known_.end() ? NameState{} : known->second;
  }

  void take_name(bool defines, const std::string& rest) {
    const std::size_t end = skip_word(rest, 0);
    const std::string name = rest.substr(0, end);
    Macro macro;
    macro.takes_arguments = rest.compare(end, 1, "(") == 0;
    const std::size_t close = macro.takes_arguments ? after_parentheses(rest, end) : end;
    if (macro.takes_arguments && close > end) macro.parameters = arguments_of(rest.substr(end + 1, close - end - 2));
    macro.body = base::trim(rest.substr(close));
    if (live() == true)
      known_[name] = {defines, macro.takes_arguments ? "" : macro.body};
    else
      known_.erase(name);
    if (!defines && live() == true) macros_.erase(name);
    if (defines) {
      const Macro* earlier = live() == true ? nullptr : kernel_macro(name);  // may hold as well
      std::optional<Macro> kept = earlier == nullptr ? std::nullopt : std::optional(*earlier);
      leads_.clear();
      std::swap(macros_[name], macro);
      if (kept && kernel_macro(name) == nullptr) std::swap(macros_[name], *kept);
    }
    leads_.clear();
  }

  // The macro of this name where its text holds __global__, by itself or through other macros.
  const Macro* kernel_macro(const std::string& name) {
    const auto macro = macros_.find(name);
    if (macro == macros_.end()) return nullptr;
    if (const auto known = leads_.find(name); known != leads_.end()) return known->second ? &macro->second : nullptr;
    std::vector<std::string> words{name};
    std::set<std::string> seen{name};
    bool found = false;
    for (std::size_t i = 0; i < words.size() && i < kMostWordsFollowed && !found; ++i) {
      const auto named = macros_.find(words[i]);
      if (named == macros_.end()) continue;
      const std::string& body = named->second.body;
      for (std::size_t at = 0; at < body.size() && !found;) {
        const std::size_t end = std::max(skip_word(body, at), skip_literal(body, at));
        const std::string word = body.substr(at, end - at);
        found = word == kKernelWord;
        if (end > at && seen.insert(word).second) words.push_back(word);
        at = std::max(end, at + 1);
      }
    }
    leads_[name] = found;
    return found ? &macro->second : nullptr;
  }

  // Code with the macros expanded that lead to a kernel, but for those that are being expanded.
  std::string expanded(const std::string& code) {
    std::string out;
    for (std::size_t at = 0; at < code.size();) {
      const std::size_t word_end = skip_word(code, at);
      std::size_t end = std::max({word_end, skip_literal(code, at), at + 1});
      const std::string name = code.substr(at, word_end - at);
      const Macro* macro = name.empty() || active_.count(name) != 0 ? nullptr : kernel_macro(name);
      if (macro != nullptr && macro->takes_arguments) {
        end = after_parentheses(code, word_end);
        if (end == word_end) macro = nullptr;  // the name alone is no use of it
      }
      const std::string use = code.substr(at, end - at);
      const auto whole = macro == nullptr ? std::nullopt : expansion(*macro, name, use);
      out +=
          whole ? *whole + std::string(static_cast<std::size_t>(std::count(use.begin(), use.end(), '\n')), '\n') : use;
      at = end;
    }
    return out;
  }

  // What a use of the macro stands for; nothing where it is too long.
  std::optional<std::string> expansion(const Macro& macro, const std::string& name, const std::string& use) {
    if (added_ > kLongestExpansion || active_.size() > kDeepestExpansion) return std::nullopt;
    std::vector<std::string> arguments;
    if (macro.takes_arguments) {
      const std::size_t open = use.find('(');
      arguments = arguments_of(use.substr(open + 1, use.size() - open - 2));
    }
    const std::string body = substituted(macro, arguments);
    added_ += body.size() + name.size();
    active_.insert(name);
    std::string whole = expanded(body);
    active_.erase(name);
    const bool fits = added_ <= kLongestExpansion;
    if (active_.empty()) added_ = 0;
    return fits ? std::optional(std::move(whole)) : std::nullopt;
  }

  // What stands between the commas of an argument list, without comments, on one line.
  static std::vector<std::string> arguments_of(const std::string& list) {
    std::vector<std::string> arguments(1);
    int depth = 0;
    for (std::size_t at = 0; at < list.size();) {
      const std::size_t end = std::max(skip_literal(list, at), at + 1);
      if (list[at] == '(') ++depth;
      if (list[at] == ')') --depth;
      if (list[at] == ',' && depth == 0)
        arguments.emplace_back();
      else
        arguments.back() += list.substr(at, end - at);
      at = end;
    }
    for (std::string& argument : arguments) argument = without_comments(argument);
    return arguments;
  }

  static std::string substituted(const Macro& macro, const std::vector<std::string>& arguments) {
    std::string out;
    for (std::size_t at = 0; at < macro.body.size();) {
      const std::size_t end = std::max({skip_word(macro.body, at), skip_literal(macro.body, at), at + 1});
      const std::string word = macro.body.substr(at, end - at);
      at = end;
      if (word == "#" && macro.body.compare(at, 1, "#") == 0) {  // pastes what stands on both sides
        out = base::trim(out);
        at = std::min(macro.body.find_first_not_of(' ', at + 1), macro.body.size());
        continue;
      }
      const auto& names = macro.parameters;
      const auto parameter = std::find(names.begin(), names.end(), word == "__VA_ARGS__" ? "..." : word);
      const auto index = static_cast<std::size_t>(parameter - names.begin());
      if (parameter == names.end())
        out += word;
      else if (word == "__VA_ARGS__")
        for (std::size_t i = index; i < arguments.size(); ++i) out += (i > index ? ", " : "") + arguments[i];
      else if (index < arguments.size())
        out += arguments[index];
    }
    return out;
  }

  const std::string& text_;
  std::string out_;
  std::vector<Conditional> open_;
  std::map<std::string, NameState> known_;
  std::map<std::string, Macro> macros_;  // of several definitions that may hold, one that leads to a kernel
  std::map<std::string, bool> leads_;    // what kernel_macro() has found since the last definition
  std::set<std::string> active_;         // names that are being expanded
  std::size_t added_ = 0;                // characters, by the use that is being expanded
};

}  // namespace

std::string preprocessed(const std::string& text) { return Preprocessor(text).run(); }

}  // namespace hone::source
