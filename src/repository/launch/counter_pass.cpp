#include "repository/launch/counter_pass.hpp"

#include <charconv>

#include "repository/launch/session.hpp"

namespace hone::repository::launch {

namespace {

constexpr std::size_t kFixedWords = 9;
constexpr int kMostLaunches = 1000;

template <class Number>
bool read_number(const std::string& word, Number& number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size();
}

}  // namespace

std::vector<std::string> CounterPass::words() const {
  std::vector<std::string> words = {repository,
                                    place,
                                    kernel,
                                    dtype,
                                    x_value,
                                    scope,
                                    std::to_string(seed),
                                    std::to_string(launches),
                                    std::to_string(last_level_cache_bytes)};
  for (const auto& [name, value] : options) words.push_back(name + "=" + value);
  return words;
}

std::optional<CounterPass> CounterPass::parse(const std::vector<std::string>& words) {
  if (words.size() < kFixedWords) return std::nullopt;
  CounterPass pass{words[0], words[1], words[2], words[3], words[4], words[5]};
  if (!read_number(words[6], pass.seed) || !read_number(words[7], pass.launches) ||
      !read_number(words[8], pass.last_level_cache_bytes))
    return std::nullopt;
  if (pass.launches < 1 || pass.launches > kMostLaunches) return std::nullopt;
  for (std::size_t i = kFixedWords; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals == std::string::npos) return std::nullopt;
    pass.options[words[i].substr(0, equals)] = words[i].substr(equals + 1);
  }
  return pass;
}

base::Result<void> run_counter_pass(Repository& repository, const CounterPass& pass) {
  model::Request request;
  request.kernel = pass.kernel;
  request.dtype = pass.dtype;
  request.sizes = {pass.x_value};
  request.scope = pass.scope;
  request.seed = pass.seed;
  request.options = pass.options;
  request.last_level_cache_bytes = pass.last_level_cache_bytes;
  HONE_TRY(session, repository.open(request));
  return dynamic_cast<LaunchSession&>(**session).run_passes(pass.launches);
}

}  // namespace hone::repository::launch
