// The published JSON Schemas of docs/schemas, embedded, so that a binary without the tree has them too.
#pragma once

#include <vector>

namespace hone::cli {

struct Schema {
  const char* name;  // "profile"
  const char* text;
};
const std::vector<Schema>& schemas();

}  // namespace hone::cli
