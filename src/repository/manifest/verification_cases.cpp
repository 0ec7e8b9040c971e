#include "repository/manifest/verification_cases.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace hone::repository::manifest {

namespace {

const std::vector<std::int64_t> kSmokeX = {1, 17, 128, 257, 1000},
                                kFullX = {1, 2, 17, 31, 64, 127, 128, 257, 1000, 1024, 4099}, kFree = {3, 1, 17, 33};
// Elements of all tensors of a case: a reference in one thread takes some 10 ns for each.
constexpr std::int64_t kMostOfSmoke = std::int64_t{1} << 20, kMostOfFull = std::int64_t{1} << 24;

bool small_enough(const Manifest& manifest, const ProblemSizes& problem, std::int64_t most) {
  auto tensors = tensors_of(manifest, problem);
  if (!tensors) return false;
  std::int64_t elements = 0;
  for (const kernels::TensorSpec& tensor : *tensors) elements += tensor.rows * tensor.row_stride;
  return elements <= most;
}

const std::vector<std::int64_t>& stated_or(const Manifest& manifest, const std::string& name,
                                           const std::vector<std::int64_t>& otherwise) {
  const auto stated = manifest.verify.find(name);
  return stated != manifest.verify.end() ? stated->second.values : otherwise;
}

// So many that each of the values of x, and each that is stated, has its turn.
std::size_t turns_of(const Manifest& manifest, const std::vector<std::int64_t>& x_values) {
  std::size_t turns = x_values.size();
  for (const auto& [name, stated] : manifest.verify) turns = std::max(turns, stated.values.size());
  return turns;
}

std::map<std::string, std::int64_t> free_sizes(const Manifest& manifest, std::size_t turn) {
  std::map<std::string, std::int64_t> free;
  for (std::size_t i = 0; i < manifest.symbols.size(); ++i) {
    const SizeSymbol& symbol = manifest.symbols[i];
    const std::vector<std::int64_t>& values = stated_or(manifest, symbol.name, kFree);
    if (!symbol.derived) free[symbol.name] = values[(turn + i) % values.size()];
  }
  return free;
}

// The problem of an x with the free sizes of a turn, or of the next that can be; nothing where the kernel runs none of them.
std::optional<ProblemSizes> small_problem(const Manifest& manifest, std::int64_t x, const DTypeDecl& dtype,
                                          std::size_t turn, std::int64_t most) {
  constexpr std::size_t kTries = 8;
  for (std::size_t attempt = 0; attempt <= kTries; ++attempt) {
    auto problem = attempt < kTries ? problem_at(manifest, x, dtype, free_sizes(manifest, turn + attempt))
                                    : problem_at(manifest, x, dtype);
    if (problem && small_enough(manifest, *problem, most)) return *problem;
  }
  return std::nullopt;
}

// Why no problem with this value can be tried; nothing where one can, or where 'valid' leaves it out.
std::optional<base::Error> why_untried(const Manifest& manifest, const std::string& name, std::int64_t value) {
  const std::vector<std::int64_t>& x_values = stated_or(manifest, manifest.x_name, kFullX);
  std::optional<base::Error> why;
  for (std::size_t turn = 0; turn < turns_of(manifest, x_values); ++turn) {
    std::map<std::string, std::int64_t> free = free_sizes(manifest, turn);
    free[name] = value;
    const std::int64_t x = name == manifest.x_name ? value : x_values[turn % x_values.size()];
    const auto problem = sizes_at(manifest, x, manifest.dtypes.front(), free);
    const auto valid = problem && manifest.valid ? manifest.valid->whole({problem->sizes, {}}) : std::int64_t{1};
    if (!problem || !valid)
      why = !problem ? problem.error() : valid.error();
    else if (*valid == 0 || small_enough(manifest, *problem, kMostOfFull))
      return std::nullopt;
    else
      why = base::Error{
          base::ErrorKind::usage,
          fmt::format("values of '{}' that can be tried: at most {} elements of all tensors", name, kMostOfFull),
          fmt::format("{}: more elements", value), at(manifest.path, manifest.verify.at(name).place),
          "choose a smaller one"};
  }
  return why;
}

}  // namespace

base::Result<void> every_verify_value_is_tried(const Manifest& manifest) {
  // What is too much at the manifest's own sizes is said of them, when a session is opened.
  const auto own = problem_at(manifest, manifest.sizes.front(), manifest.dtypes.front());
  if (!own || !tensors_of(manifest, *own)) return {};
  std::int64_t largest = 0;  // where two are too much together, it is the larger one's fault
  base::Result<void> tried;
  for (const auto& [name, stated] : manifest.verify)
    for (const std::int64_t value : stated.values)
      if (auto why = value > largest ? why_untried(manifest, name, value) : std::nullopt) {
        tried = std::move(*why);
        largest = value;
      }
  return tried;
}

std::string label_of(const Manifest& manifest, const ProblemSizes& problem) {
  std::string label = fmt::format("{}={}", manifest.x_name, problem.x);
  for (const SizeSymbol& symbol : manifest.symbols)
    if (!symbol.derived) label += fmt::format(" {}={}", symbol.name, problem.sizes.at(symbol.name));
  return label + " " + problem.dtype->name;
}

std::vector<ProblemSizes> verification_problems(const Manifest& manifest, launch::Extent extent,
                                                const std::vector<const DTypeDecl*>& dtypes,
                                                const std::vector<std::int64_t>& sizes) {
  const bool full = extent == launch::Extent::full;
  const std::int64_t most = full ? kMostOfFull : kMostOfSmoke;
  const std::vector<std::int64_t>& values = stated_or(manifest, manifest.x_name, full ? kFullX : kSmokeX);
  std::vector<ProblemSizes> problems;
  const auto add = [&](std::optional<ProblemSizes> problem) {
    const auto is_same = [&](const ProblemSizes& known) {
      return known.dtype == problem->dtype && known.sizes == problem->sizes;
    };
    if (problem && std::none_of(problems.begin(), problems.end(), is_same)) problems.push_back(std::move(*problem));
  };
  for (const DTypeDecl* dtype : dtypes) {
    for (std::size_t turn = 0; turn < turns_of(manifest, values); ++turn)
      add(small_problem(manifest, values[turn % values.size()], *dtype, turn, most));
    // The sizes that are measured, as they are where that is not too much to compute.
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      auto own = problem_at(manifest, sizes[i], *dtype);
      if (own && full && small_enough(manifest, *own, most))
        add(std::move(*own));
      else
        add(small_problem(manifest, sizes[i], *dtype, i, most));
    }
  }
  return problems;
}

}  // namespace hone::repository::manifest
