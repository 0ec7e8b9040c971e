// The manual page, made from the tables of flags.hpp and environment.hpp.
#pragma once

#include <string>

namespace hone::cli {

std::string manual_page();  // roff, man(7)

}  // namespace hone::cli
