// Look-ups in a profile that several outputs need: the terminal, Markdown, HTML and plots show the same numbers.
#pragma once

#include <string>
#include <vector>

#include "model/profile.hpp"

namespace hone::render {

// The provider this profile is about ("hone", "liger"), and those it is compared with, in the order they first appear.
std::string own_provider(const model::Profile& profile);
std::vector<std::string> other_providers(const model::Profile& profile);

// The rows of one origin as a profile of their own: the measured ones (origin ""), or those recorded at one place, whose
// providers bear their bare names there.
model::Profile of_origin(const model::Profile& profile, const std::string& origin);
// Where recorded rows are from, each once, in the order of the rows.
std::vector<std::string> recorded_origins(const model::Profile& profile);

const model::BaselineRow* find_row(const model::Profile& profile, const std::string& x_value, const std::string& mode,
                                   const std::string& provider, const std::string& metric);
const model::Headroom* find_headroom(const model::Profile& profile, const std::string& x_value,
                                     const std::string& mode);
const model::NoiseFloor* find_noise(const model::Profile& profile, const std::string& x_value, const std::string& mode);

struct Point {
  std::string x_value, mode;
};
// Every (x value, mode) that has a row of `metric`, each once, in the order of the rows.
std::vector<Point> points_of(const model::Profile& profile, const std::string& metric);

// "BLOCK_ROW=4, num_threads=2"; "as shipped" where there are none.
std::string settings_text(const model::Settings& settings);
// "hidden_size 4096" with the x name; the value alone where the x axis has no name.
std::string x_text(const std::string& x_name, const std::string& x_value);

}  // namespace hone::render
