#include "cli/completions.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/flags.hpp"

namespace hone::cli {

namespace {

using Names = std::vector<std::string>;

Names values_of(const Flag& flag) { return flag.choices.empty() ? flag.suggestions : flag.choices; }

// A shell's word in single quotes.
std::string single_quoted(const std::string& text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// What a menu of flags has room for: the help up to its first semicolon or colon.
std::string short_help(const Flag& flag) {
  return flag.help.substr(0, std::min(flag.help.find(';'), flag.help.find(": ")));
}

Names both_names(const Flag& flag) {
  Names names;
  if (flag.letter) names.push_back(std::string("-") + flag.letter);
  names.push_back(flag.name);
  return names;
}

// --- bash

// Readline splits the line at '=' and ':' too, and replaces only what stands behind the last of them. Nothing typed is evaluated.
constexpr const char* kBashHead = R"bash(# Completions of hone for bash, printed by 'hone completions bash'.
_hone_plain() {  # a word as typed, without its quotes: nothing in it is run
  local word=$1
  case $word in
    [\"\']*) word=${word:1}; word=${word%[\"\']} ;;
    *) word=${word//\\/} ;;
  esac
  printf '%s' "${word/#\~\//$HOME/}"
}

_hone_words() {  # adds the words behind the first one that begin with it
  local start=$1 word
  shift
  for word in "$@"; do
    [[ $word == "$start"* ]] && COMPREPLY+=("$word")
  done
}

_hone_list() {  # the same for the last item of a comma separated list
  local last=${1##*,} word
  local before=${1%"$last"}
  shift
  for word in "$@"; do
    [[ $word == "$last"* ]] && COMPREPLY+=("$before$word")
  done
}

_hone_files() {  # $1: f or d; readline quotes what it inserts
  compopt -o filenames
  mapfile -t COMPREPLY < <(compgen "-$1" -- "$(_hone_plain "$2")")
}

_hone_kernels() {
  local names=() repo=()
  [[ -n $hone_repo ]] && repo=(--repo "$(_hone_plain "$hone_repo")")
  mapfile -t names < <("$(_hone_plain "${words[0]}")" list --names "${repo[@]}" 2>/dev/null)
  _hone_words "$1" "${names[@]}"
}
)bash";

constexpr const char* kBashTail = R"bash(
_hone() {
  COMPREPLY=()
  local words=() i
  for ((i = 0; i <= COMP_CWORD; i++)); do
    if ((i > 1)) && [[ ${COMP_WORDS[i]} == [=:]* || ${words[-1]} == *[=:] ]]; then
      words[-1]+=${COMP_WORDS[i]}
    else
      words+=("${COMP_WORDS[i]}")
    fi
  done
  local last=$((${#words[@]} - 1))
  local current=${words[last]} command=${words[1]} hone_repo="" flag="" arguments=0
  if ((last == 1)); then
    _hone_words "$current" $_hone_commands
    return 0
  fi
  for ((i = 2; i < last; i++)); do
    case ${words[i]} in
      --repo=*) hone_repo=${words[i]#*=} ;;
      --repo) hone_repo=${words[i + 1]} && ((i++)) ;;
      -*) _hone_takes_value "${words[i]}" && ((i++)) ;;
      *) ((arguments++)) ;;
    esac
  done
  if ((i > last)); then
    flag=${words[last - 1]}
  elif [[ $current == --*=* ]]; then
    flag=${current%%=*}
    current=${current#*=}
  fi
  if [[ -n $flag ]]; then
    _hone_value "$flag" "$current"
    [[ $current == *:* ]] && COMPREPLY=("${COMPREPLY[@]#"${current%:*}:"}")
  elif [[ $current == -* ]]; then
    _hone_words "$current" $(_hone_flags "$command")
  else
    _hone_argument "$command" "$current" "$arguments"
  fi
  return 0
}
complete -F _hone hone
)bash";

std::string bash_offer(Offer offer, const std::string& typed) {
  switch (offer) {
    case Offer::kernels: return "_hone_kernels " + typed;
    case Offer::files: return "_hone_files f " + typed;
    case Offer::folders: return "_hone_files d " + typed;
    case Offer::nothing: break;
  }
  return "";
}

std::string bash_script() {
  Names commands, with_value;
  std::string flags, values, arguments;
  for (const CommandSpec& command : all_commands()) {
    commands.push_back(command.name);
    Names names;
    for (const std::string& name : command.flags)
      for (const std::string& spelled : both_names(*find_flag(name))) names.push_back(spelled);
    flags += fmt::format("    {}) echo {} ;;\n", command.name, single_quoted(base::join_text(names, " ")));
    if (!command.words.empty())
      arguments += fmt::format("    {}) (($3 == 0)) && _hone_words \"$2\" {} ;;\n", command.name,
                               base::join_text(command.words, " "));
    else if (command.offer != Offer::nothing)
      arguments += fmt::format("    {}) {} ;;\n", command.name, bash_offer(command.offer, "\"$2\""));
  }
  for (const Flag& flag : all_flags()) {
    if (flag.kind == FlagKind::boolean) continue;
    with_value.push_back(flag.name);
    const Names known = values_of(flag);
    if (!known.empty())
      values += fmt::format("    {}) {} \"$2\" {} ;;\n", flag.name,
                            flag.kind == FlagKind::list ? "_hone_list" : "_hone_words", base::join_text(known, " "));
    else if (flag.offer != Offer::nothing)
      values += fmt::format("    {}) {} ;;\n", flag.name, bash_offer(flag.offer, "\"$2\""));
  }
  return kBashHead + fmt::format("\n_hone_commands={}\n\n", single_quoted(base::join_text(commands, " "))) +
         "_hone_flags() {\n  case $1 in\n" + flags + "  esac\n}\n\n_hone_takes_value() {\n  case $1 in\n    " +
         base::join_text(with_value, "|") + ") return 0 ;;\n  esac\n  return 1\n}\n\n_hone_value() {\n  case $1 in\n" +
         values + "  esac\n}\n\n_hone_argument() {\n  case $1 in\n" + arguments + "  esac\n}\n" + kBashTail;
}

// --- zsh

// Text between the brackets of a specification of _arguments.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (char c : text) out += c == '[' || c == ']' || c == ':' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out;
}

std::string zsh_offer(Offer offer) {
  switch (offer) {
    case Offer::kernels: return "_hone_kernels";
    case Offer::files: return "_files";
    case Offer::folders: return "_files -/";
    case Offer::nothing: break;
  }
  return " ";
}

std::string zsh_flag(const Flag& flag) {
  std::string tail = "[" + zsh_text(short_help(flag)) + "]";
  if (flag.kind != FlagKind::boolean) {
    const Names known = values_of(flag);
    Names escaped;
    for (const std::string& value : known) escaped.push_back(zsh_text(value));
    const std::string words = base::join_text(escaped, " ");
    tail += ":" + zsh_text(flag.value_name) + ":" +
            (known.empty()                 ? zsh_offer(flag.offer)
             : flag.kind == FlagKind::list ? "_sequence compadd - " + words
                                           : "(" + words + ")");
  }
  const std::string equals = flag.kind == FlagKind::boolean ? "" : "=";
  if (!flag.letter) return single_quoted((flag.kind == FlagKind::pair ? "*" : "") + flag.name + equals + tail);
  return single_quoted(fmt::format("(-{0} {1})", flag.letter, flag.name)) +
         fmt::format("{{-{},{}}}", flag.letter, flag.name) + single_quoted(tail);
}

std::string zsh_script() {
  std::string text =
      "#compdef hone\n# Completions of hone for zsh, printed by 'hone completions zsh'.\n\n_hone_kernels() {\n"
      "  local -a names repo\n"
      "  [[ -n ${opt_args[--repo]} ]] && repo=(--repo \"${(Q)opt_args[--repo]}\")\n"
      "  names=(${(f)\"$(\"${(Q)hone_program}\" list --names $repo 2>/dev/null)\"})\n"
      "  compadd -a names\n}\n\n_hone() {\n  local -a commands\n  local hone_program=$words[1] command=$words[2]\n"
      "  local curcontext=$curcontext state line\n  typeset -A opt_args\n  commands=(\n";
  for (const CommandSpec& command : all_commands())
    text += "    " + single_quoted(command.name + ":" + zsh_text(command.summary)) + "\n";
  text +=
      "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    return\n  fi\n  shift words\n"
      "  ((CURRENT--))\n  case $command in\n";
  for (const CommandSpec& command : all_commands()) {
    text += "    " + command.name + ")\n      _arguments -s";
    for (const std::string& name : command.flags) text += " \\\n        " + zsh_flag(*find_flag(name));
    if (!command.words.empty())
      text += " \\\n        " + single_quoted("1:word:(" + base::join_text(command.words, " ") + ")");
    else if (command.offer != Offer::nothing)
      text += " \\\n        " + single_quoted("*:argument:" + zsh_offer(command.offer));
    text += "\n      ;;\n";
  }
  return text +
         "  esac\n}\n\nif [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n  _hone \"$@\"\nelse\n"
         "  compdef _hone hone\nfi\n";
}

// --- fish

std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "'";
}

std::string fish_offer(Offer offer) {
  switch (offer) {
    case Offer::kernels: return " -a '(__hone_kernels)'";
    case Offer::files:
    case Offer::folders: return " -F";
    case Offer::nothing: break;
  }
  return "";
}

std::string fish_script() {
  std::string text =
      "# Completions of hone for fish, printed by 'hone completions fish'.\n\nfunction __hone_kernels\n"
      "  set -l words (commandline -opc)\n  set -l repo\n  for i in (seq 2 (count $words))\n"
      "    string match -q -- '--repo=*' $words[$i]; and set repo $words[$i]\n"
      "    test \"$words[$i]\" = --repo; and test $i -lt (count $words); and set repo --repo=$words[(math $i + 1)]\n"
      "  end\n  $words[1] list --names $repo 2>/dev/null\nend\n\ncomplete -c hone -f\n";
  for (const CommandSpec& command : all_commands()) {
    text += fmt::format("complete -c hone -n __fish_use_subcommand -a {} -d {}\n", command.name,
                        fish_quoted(command.summary));
    const std::string seen = fmt::format("complete -c hone -n '__fish_seen_subcommand_from {}'", command.name);
    if (!command.words.empty())
      text += seen + " -a " + fish_quoted(base::join_text(command.words, " ")) + "\n";
    else if (command.offer != Offer::nothing)
      text += seen + fish_offer(command.offer) + "\n";
    for (const std::string& name : command.flags) {
      const Flag& flag = *find_flag(name);
      text += seen + (flag.letter ? fmt::format(" -s {}", flag.letter) : "") + " -l " + name.substr(2);
      const Names known = values_of(flag);
      if (flag.kind != FlagKind::boolean)
        text += known.empty() ? " -r" + fish_offer(flag.offer) : " -x -a " + fish_quoted(base::join_text(known, " "));
      text += " -d " + fish_quoted(short_help(flag)) + "\n";
    }
  }
  return text;
}

}  // namespace

base::Result<std::string> completion_script(const std::string& shell) {
  if (shell == "bash") return bash_script();
  if (shell == "zsh") return zsh_script();
  if (shell == "fish") return fish_script();
  return base::Error{base::ErrorKind::usage, "a shell: bash, zsh or fish", "'" + shell + "'", "hone completions",
                     "choose one of them"};
}

}  // namespace hone::cli
