// Variants as files (hone.variant/1): what optimize writes, finalize reads, and a person may edit.
#include "model/json_parts.hpp"

namespace hone::model {

std::string to_json(const Variant& variant) {
  return Json::object({{"schema", kVariantSchema},
                       {"id", variant.id},
                       {"parent", variant.parent},
                       {"strategy", variant.strategy},
                       {"title", variant.title},
                       {"settings", json_of(variant.settings)},
                       {"edits", Json::list(variant.edits,
                                            [](const SourceEdit& edit) {
                                              return Json::object({{"file", edit.file}, {"content", edit.content}});
                                            })}})
      .dump();
}

base::Result<Variant> parse_variant(const std::string& json, const std::string& where) {
  const std::string remedy = "run 'hone optimize KERNEL' again, or choose another variant with --variant N";
  HONE_TRY(tree, parse_json(json, where, remedy));
  JsonFault fault;
  const JsonFields document(&*tree, "", fault);
  const std::string schema = document.text("schema");
  if (!fault.any() && schema != kVariantSchema)
    document.refuse("schema", kVariantSchema, "'" + schema.substr(0, 80) + "'");
  if (fault.any()) return fault.error(where, remedy);

  Variant variant;
  variant.id = document.text("id");
  variant.parent = document.text_or("parent", "");
  variant.strategy = document.text_or("strategy", "");
  variant.title = document.text_or("title", "");
  variant.settings = read_settings_by_pass(document, "settings");
  if (document.has("edits"))
    for (const JsonFields& edit : document.objects("edits"))
      variant.edits.push_back({edit.text("file"), edit.text("content")});
  if (!fault.any() && variant.id.empty()) document.refuse("id", "the variant's name, such as v1", "an empty text");
  if (fault.any()) return fault.error(where, remedy);
  return variant;
}

}  // namespace hone::model
