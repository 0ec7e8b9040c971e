// What must be there before a kernel can be run and measured, found or not.
#pragma once

#include <string>

namespace hone::repository {

struct PreflightCheck {
  std::string name, found, remedy;  // remedy only where it did not pass
  bool passed = true;
  bool required = true;  // a failed one that is not required is a note
};

}  // namespace hone::repository
