#include "repository/native/counter_pass.hpp"

#include <charconv>

#include "repository/native/native_session.hpp"

namespace hone::repository::native {

namespace {

constexpr std::size_t kFixedWords = 7;
constexpr int kMostLaunches = 1000;

template <class Number>
bool read_number(const std::string& word, Number& number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size();
}

}  // namespace

std::vector<std::string> CounterPass::words() const {
  std::vector<std::string> words = {settings_directory,      kernel, dtype, x_value, scope, std::to_string(seed),
                                    std::to_string(launches)};
  for (const auto& [name, value] : options) words.push_back(name + "=" + value);
  return words;
}

std::optional<CounterPass> CounterPass::parse(const std::vector<std::string>& words) {
  if (words.size() < kFixedWords) return std::nullopt;
  CounterPass pass;
  pass.settings_directory = words[0];
  pass.kernel = words[1];
  pass.dtype = words[2];
  pass.x_value = words[3];
  pass.scope = words[4];
  if (!read_number(words[5], pass.seed) || !read_number(words[6], pass.launches)) return std::nullopt;
  if (pass.launches < 1 || pass.launches > kMostLaunches) return std::nullopt;
  for (std::size_t i = kFixedWords; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals == std::string::npos) return std::nullopt;
    pass.options[words[i].substr(0, equals)] = words[i].substr(equals + 1);
  }
  return pass;
}

base::Result<void> run_counter_pass(NativeContext context, const CounterPass& pass) {
  context.settings_directory = pass.settings_directory;
  model::Request request;
  request.kernel = pass.kernel;
  request.dtype = pass.dtype;
  request.sizes = {pass.x_value};
  request.scope = pass.scope;
  request.seed = pass.seed;
  request.options = pass.options;
  NativeRepository repository(std::move(context));
  auto session = repository.open(request);
  if (!session) return session.error();
  return dynamic_cast<NativeSession&>(**session).run_passes(pass.launches);
}

}  // namespace hone::repository::native
