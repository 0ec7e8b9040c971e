// See option_cover.hpp.
#include "kernels/catalog/option_cover.hpp"

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <string>

namespace kernels {
namespace {

using Choice = std::vector<int>;  // an index of a value for each option

struct Space {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> values;
};

Space space_of(const Operation& operation) {
  Space space;
  for (const OptionSpec& spec : operation.options()) {
    space.names.push_back(spec.name);
    if (!spec.values.empty()) {
      space.values.push_back(spec.values);
    } else {
      space.values.push_back(spec.trials.empty() ? std::vector<std::string>{"0", "1"} : spec.trials);
    }
  }
  return space;
}

Options options_of(const Space& space, const Choice& choice) {
  Options options;
  for (std::size_t i = 0; i < choice.size(); ++i) options[space.names[i]] = space.values[i][std::size_t(choice[i])];
  return options;
}

// (option, value) pairs of `strength` options: what is to be covered.
using Tuple = std::vector<std::pair<int, int>>;

void add_tuples(const Space& space, int strength, int first, Tuple& so_far, std::set<Tuple>& all) {
  if (strength == 0) {
    all.insert(so_far);
    return;
  }
  for (int option = first; option + strength <= int(space.names.size()); ++option) {
    for (int value = 0; value < int(space.values[std::size_t(option)].size()); ++value) {
      so_far.emplace_back(option, value);
      add_tuples(space, strength - 1, option + 1, so_far, all);
      so_far.pop_back();
    }
  }
}

bool covers(const Choice& choice, const Tuple& tuple) {
  return std::all_of(tuple.begin(), tuple.end(),
                     [&](const auto& part) { return choice[std::size_t(part.first)] == part.second; });
}

// Whether the operation takes these options together.
bool is_valid(const Operation& operation, const Options& options) {
  return operation.check({8, 8, operation.depth_for(8, 8), operation.dtypes().front(), options}).empty();
}

// A choice that holds the tuple and is valid, looked for among a fixed number of random ones; nothing where there is none.
std::optional<Choice> valid_choice(const Operation& operation, const Space& space, const Tuple& tuple) {
  std::minstd_rand random(7);
  for (int attempt = 0; attempt < 256; ++attempt) {
    Choice choice;
    for (const auto& values : space.values) choice.push_back(int(random() % values.size()));
    for (const auto& [option, value] : tuple) choice[std::size_t(option)] = value;
    if (is_valid(operation, options_of(space, choice))) return choice;
  }
  return std::nullopt;
}

// A choice that holds the first open tuple, its other options set one after the other to what covers most of the rest.
Choice best_choice(const Space& space, const std::set<Tuple>& open) {
  Choice choice(space.names.size(), -1);
  for (const auto& [option, value] : *open.begin()) choice[std::size_t(option)] = value;
  for (std::size_t option = 0; option < choice.size(); ++option) {
    if (choice[option] >= 0) continue;
    long most = -1;
    int best = 0;
    for (int value = 0; value < int(space.values[option].size()); ++value) {
      choice[option] = value;
      const long possible = std::count_if(open.begin(), open.end(), [&](const Tuple& tuple) {
        return std::all_of(tuple.begin(), tuple.end(),
                           [&](const auto& part) {
                             const int chosen = choice[std::size_t(part.first)];
                             return chosen == part.second || chosen < 0;
                           }) &&
               std::any_of(tuple.begin(), tuple.end(), [&](const auto& part) { return part.first == int(option); });
      });
      if (possible > most) most = possible, best = value;
    }
    choice[option] = best;
  }
  return choice;
}

}  // namespace

std::vector<Options> option_cover(const Operation& operation, int strength, std::size_t most) {
  const Space space = space_of(operation);
  std::size_t combinations = 1;
  for (const auto& values : space.values) combinations *= values.size();
  const int count = int(space.names.size());
  std::set<Tuple> open;
  Tuple none;
  add_tuples(space, combinations <= most ? count : std::min(strength, count), 0, none, open);
  std::vector<Options> cover;
  Choice choice(space.names.size(), 0);
  while (true) {
    cover.push_back(options_of(space, choice));
    std::erase_if(open, [&](const Tuple& tuple) { return covers(choice, tuple); });
    if (open.empty()) return cover;
    choice = best_choice(space, open);
    while (!is_valid(operation, options_of(space, choice))) {
      if (const auto other = valid_choice(operation, space, *open.begin())) {
        choice = *other;
        break;
      }
      open.erase(open.begin());  // options that exclude each other
      if (open.empty()) return cover;
      choice = best_choice(space, open);
    }
  }
}

}  // namespace kernels
