// Checks documents against the schemas of docs/schemas: the keywords that these use, and no other, so that a schema can not
// promise what nobody looks at.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hone::test {

// What of the document is not as the schema says, each with its place; empty where all is. `name`: "profile".
std::vector<std::string> schema_faults(const std::string& name, const nlohmann::json& document);
std::vector<std::string> schema_faults(const std::string& name, const std::string& document);

// Names of all schemas, and the keywords of one that the check does not know.
std::vector<std::string> schema_names();
std::vector<std::string> unknown_keywords(const std::string& name);

// A document's own schema: "hone.profile/1" is "profile".
std::string schema_of(const nlohmann::json& document);

}  // namespace hone::test
