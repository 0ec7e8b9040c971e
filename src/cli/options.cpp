#include "cli/options.hpp"

#include <charconv>
#include <cstdlib>

#include "base/text.hpp"

namespace hone::cli {

namespace {

std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:@%+") ==
                                          std::string::npos;
  if (plain) return word;
  std::string out = "'";
  for (char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

base::Result<std::uint64_t> whole(const Typed& typed, const std::string& flag, std::uint64_t most) {
  const std::string text = typed.text(flag);
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > most)
    return base::Error{base::ErrorKind::usage, flag + " to be a whole number from 0 to " + std::to_string(most),
                       "'" + text + "'", "command line", "give a smaller number"};
  return value;
}

}  // namespace

base::Result<Meant> interpret(const Typed& typed, const std::vector<std::string>& words, bool terminal_in,
                              bool terminal_out) {
  Meant meant;
  model::Request& request = meant.request;
  if (!typed.arguments.empty()) request.kernel = typed.arguments.front();
  request.dtype = typed.text("--dtype");
  request.sizes = typed.list("--sizes");
  request.goal = typed.text("--goal");
  request.scope = typed.text("--scope");
  request.target_gpu = typed.text("--target-gpu");
  request.quick = typed.has("--quick");
  for (const std::string& pair : typed.list("--option"))
    request.options[pair.substr(0, pair.find('='))] = pair.substr(pair.find('=') + 1);
  auto seed = whole(typed, "--seed", (std::uint64_t{1} << 53));
  if (!seed) return seed.error();
  request.seed = *seed;
  auto variants = whole(typed, "--max-variants", 1000);
  if (!variants) return variants.error();
  meant.max_variants = static_cast<int>(*variants);

  meant.device = typed.text("--device");
  meant.workspace = typed.text("--workspace");
  meant.settings_directory = typed.text("--settings");
  meant.repository_directory = typed.text("--repo");
  meant.target_metric = typed.text("--target-metric");
  meant.proposer = typed.text("--proposer");
  meant.variant = typed.text("--variant");
  meant.autonomous = typed.has("--autonomous");
  meant.fresh = typed.has("--fresh");

  meant.talk.json = typed.has("--json");
  meant.talk.verbose = typed.has("--verbose");
  const char* no_color = std::getenv("NO_COLOR");
  meant.talk.color = terminal_out && !typed.has("--no-color") && !(no_color && *no_color);
  meant.talk.interactive = terminal_in && terminal_out && !meant.talk.json;
  meant.command_line = "hone";
  for (const std::string& word : words) meant.command_line += " " + quoted(word);
  return meant;
}

}  // namespace hone::cli
