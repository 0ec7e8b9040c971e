// Fields of the answers that the worker and the test processes write, one JSON object a line. A missing field, or one of another
// type, gives `otherwise`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/json_value.hpp"

namespace hone::repository::python {

using model::Json;

// Of one line; null where it is no JSON.
Json answer_in(const std::string& line);

const Json& member(const Json& object, const char* name);       // null where there is none
const Json::Array& list(const Json& object, const char* name);  // empty where there is none
// The worker writes what is not finite as null, which is infinity here.
double number(const Json& object, const char* name, double otherwise = 0);
std::int64_t integer(const Json& object, const char* name, std::int64_t otherwise = 0);
std::string text(const Json& object, const char* name);
bool flag(const Json& object, const char* name, bool otherwise = false);
std::vector<std::string> texts(const Json& object, const char* name);

// The last three lines of a process's output, for a message.
std::string last_lines(const std::string& output);

}  // namespace hone::repository::python
