#include "device/no_end.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace hone::device {

namespace {

constexpr const char* kFound = "still running after ";

}  // namespace

base::Error no_end(const std::string& what, std::int64_t deadline_ns, const std::string& where) {
  return {base::ErrorKind::gate, what + " to end",
          fmt::format("{}{:g} s, and killed", kFound, 1e-9 * static_cast<double>(deadline_ns)), where,
          "look for a loop or a barrier that never ends; the run goes on without this variant"};
}

bool is_no_end(const base::Error& error) {
  return error.kind == base::ErrorKind::gate && base::starts_with(error.found, kFound);
}

}  // namespace hone::device
