// The space of the sweep: for each size the configurations that differ in machine code or launch, and their coordinates.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/variant.hpp"
#include "stages/optimize/search.hpp"
#include "stages/trial/lab.hpp"

namespace hone::stages {

// The configurations of one size, and what is learnt of them.
struct SizeSpace {
  std::string x_value;
  std::int64_t x = 0;
  model::Settings shipped;
  std::vector<model::Settings> distinct;  // [0] is the shipped one
  std::map<model::Settings, double>
      costs;  // timed: what choosing them costs against the shipped settings; infinity: they do not run
  std::map<model::Settings, double> ratios;  // as measured, screening or finals: for the heat map
  std::set<model::Settings> finalists;
  model::Settings winner;  // best of the finals; the shipped one unless another was really faster
  std::string winner_text;
};

struct PassSpace {
  std::vector<SizeSpace> sizes;  // ascending
  int planned = 0;               // (size, configuration) pairs before dead knobs are dropped
  std::vector<std::string> findings;

  std::size_t distinct_pairs() const;
};

// Compiles every configuration of `pass` at every size (a part of them in a quick run) and keeps one of each machine code and launch. `coupled`: by size, the
// knobs that an earlier pass has fixed. A pre-flight error when the shipped settings themselves do not compile.
base::Result<PassSpace> distinct_configurations(Lab& lab, const model::Variant& shipped, const std::string& pass,
                                                const std::map<std::string, model::Settings>& coupled);

// The space as the search sees it: a coordinate for each knob with more than one value, by the rank of its value, so that
// 1, 2, 4, ... are evenly spaced. `points` receives the settings behind SearchSpace::points.
SearchSpace search_space(const std::vector<SizeSpace>& sizes, std::vector<model::Settings>& points);

}  // namespace hone::stages
