#include "repository/manifest/counter_pass.hpp"

#include <charconv>

#include "repository/manifest/manifest_session.hpp"
#include "repository/manifest/read_manifest.hpp"

namespace hone::repository::manifest {

namespace {

constexpr std::size_t kWords = 7;
constexpr int kMostLaunches = 1000;

template <class Number>
bool read_number(const std::string& word, Number& number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size();
}

}  // namespace

std::vector<std::string> CounterPass::words() const {
  return {manifest, kernel, dtype, x_value, scope, std::to_string(seed), std::to_string(launches)};
}

std::optional<CounterPass> CounterPass::parse(const std::vector<std::string>& words) {
  if (words.size() != kWords) return std::nullopt;
  CounterPass pass{words[0], words[1], words[2], words[3], words[4], 0, 0};
  if (!read_number(words[5], pass.seed) || !read_number(words[6], pass.launches)) return std::nullopt;
  if (pass.launches < 1 || pass.launches > kMostLaunches) return std::nullopt;
  return pass;
}

base::Result<void> run_counter_pass(const ManifestContext& context, const CounterPass& pass) {
  auto manifest = load_manifest(context.files, pass.manifest);
  if (!manifest) return manifest.error();
  model::Request request;
  request.kernel = pass.kernel;
  request.dtype = pass.dtype;
  request.sizes = {pass.x_value};
  request.scope = pass.scope;
  request.seed = pass.seed;
  ManifestRepository repository(context, std::move(*manifest));
  auto session = repository.open(request);
  if (!session) return session.error();
  return dynamic_cast<ManifestSession&>(**session).run_passes(pass.launches);
}

}  // namespace hone::repository::manifest
