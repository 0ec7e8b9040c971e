// hone schema [NAME]: the JSON Schema of a document, or the list of them.
#include <ostream>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/schemas.hpp"
#include "model/json_value.hpp"

namespace hone::cli {

namespace {

std::string title_of(const Schema& schema) {
  const auto document = model::parse_json(schema.text, schema.name, "");
  const model::Json* title = document ? document->find("title") : nullptr;
  return title != nullptr && title->text() != nullptr ? *title->text() : "";
}

int list(const CommandContext& context) {
  if (context.meant.talk.json) {
    using model::Json;
    const auto entry = [](const Schema& schema) {
      return Json::object({{"name", schema.name}, {"title", title_of(schema)}});
    };
    context.out << Json::object({{"schema", "hone.schemas/1"}, {"schemas", Json::list(schemas(), entry)}}).dump_plain(2)
                << "\n";
    return 0;
  }
  for (const Schema& schema : schemas()) context.out << fmt::format("{:<14}{}\n", schema.name, title_of(schema));
  return 0;
}

}  // namespace

int run_schema(const CommandContext& context) {
  if (context.typed.arguments.empty()) return list(context);
  std::string name = context.typed.arguments.front();
  // Also as a document spells it: "hone.profile/1".
  if (base::starts_with(name, "hone.")) name = name.substr(5, name.find('/') - 5);
  std::vector<std::string> known;
  for (const Schema& schema : schemas()) {
    known.emplace_back(schema.name);
    if (name != schema.name) continue;
    context.out << schema.text;
    return 0;
  }
  const std::vector<std::string> near = base::nearest(name, known);
  return fail(context,
              {base::ErrorKind::usage, "the name of a document: " + base::join_text(known, ", "),
               "'" + context.typed.arguments.front() + "'", "hone schema",
               near.empty() ? "'hone schema' lists them" : "did you mean " + base::join_text(near, " or ") + "?"});
}

}  // namespace hone::cli
