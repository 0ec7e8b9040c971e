#include "repository/manifest/verification_cases.hpp"

#include <optional>

#include <fmt/format.h>

namespace hone::repository::manifest {

namespace {

constexpr std::int64_t kSmokeX[] = {1, 17, 128, 257, 1000};
constexpr std::int64_t kFullX[] = {1, 2, 17, 31, 64, 127, 128, 257, 1000, 1024, 4099};
constexpr std::int64_t kFree[] = {3, 1, 17, 33};
// Elements of all tensors of a case: a reference in one thread takes some 10 ns for each.
constexpr std::int64_t kMostOfSmoke = std::int64_t{1} << 20, kMostOfFull = std::int64_t{1} << 24;

bool small_enough(const Manifest& manifest, const ProblemSizes& problem, std::int64_t most) {
  auto tensors = tensors_of(manifest, problem);
  if (!tensors) return false;
  std::int64_t elements = 0;
  for (const kernels::TensorSpec& tensor : *tensors) elements += tensor.rows * tensor.row_stride;
  return elements <= most;
}

// The problem of an x with small free sizes, the n-th choice of them; nothing where the kernel runs none of the choices.
std::optional<ProblemSizes> small_problem(const Manifest& manifest, std::int64_t x, const DTypeDecl& dtype,
                                          std::size_t n, std::int64_t most) {
  constexpr std::size_t kTries = 8;
  for (std::size_t attempt = 0; attempt < kTries; ++attempt) {
    std::map<std::string, std::int64_t> free;
    for (std::size_t i = 0; i < manifest.symbols.size(); ++i) {
      const SizeSymbol& symbol = manifest.symbols[i];
      if (symbol.derived) continue;
      const auto stated = manifest.verify.find(symbol.name);
      const std::size_t turn = n + attempt + i;
      free[symbol.name] = stated != manifest.verify.end() ? stated->second[turn % stated->second.size()]
                                                          : kFree[turn % std::size(kFree)];
    }
    auto problem = problem_at(manifest, x, dtype, free);
    if (problem && small_enough(manifest, *problem, most)) return *problem;
  }
  auto problem = problem_at(manifest, x, dtype);
  if (problem && small_enough(manifest, *problem, most)) return *problem;
  return std::nullopt;
}

}  // namespace

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
  std::vector<std::int64_t> values;
  if (const auto stated = manifest.verify.find(manifest.x_name); stated != manifest.verify.end())
    values = stated->second;
  else if (full)
    values.assign(std::begin(kFullX), std::end(kFullX));
  else
    values.assign(std::begin(kSmokeX), std::end(kSmokeX));
  std::vector<ProblemSizes> problems;
  for (const DTypeDecl* dtype : dtypes) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (auto problem = small_problem(manifest, values[i], *dtype, i, most)) problems.push_back(std::move(*problem));
    // The sizes that are measured, as they are where that is not too much to compute.
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      auto own = problem_at(manifest, sizes[i], *dtype);
      if (own && full && small_enough(manifest, *own, most))
        problems.push_back(std::move(*own));
      else if (auto problem = small_problem(manifest, sizes[i], *dtype, i, most))
        problems.push_back(std::move(*problem));
    }
  }
  return problems;
}

}  // namespace hone::repository::manifest
