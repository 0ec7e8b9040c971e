#include "model/kept_ceilings.hpp"

#include "base/hash.hpp"
#include "model/json_parts.hpp"

namespace hone::model {

std::string to_json(const KeptCeilings& kept) {
  Json content = Json::object({{"device", kept.device},
                               {"measured_by", kept.measured_by},
                               {"quick", kept.quick},
                               {"cache_looks", kept.cache_looks},
                               {"ceilings", json_of(kept.ceilings)}});
  const std::string hash = base::content_hash(content.dump_line());
  return Json::object({{"schema", kCeilingsSchema}, {"content_hash", hash}, {"content", std::move(content)}}).dump();
}

base::Result<KeptCeilings> parse_kept_ceilings(const std::string& json, const std::string& where) {
  const std::string remedy = "remove the file: the ceilings are measured anew";
  HONE_TRY(tree, parse_json(json, where, remedy));
  JsonFault fault;
  const JsonFields document(&*tree, "", fault);
  if (const std::string schema = document.text("schema"); schema != kCeilingsSchema)
    document.refuse("schema", kCeilingsSchema, "'" + schema.substr(0, 80) + "'");
  const Json* content = tree->find("content");
  if (content == nullptr || document.text("content_hash") != base::content_hash(content->dump_line()))
    document.refuse("content_hash", "the hash of the content", "another");
  if (fault.any()) return fault.error(where, remedy);
  const JsonFields fields = document.object("content");
  KeptCeilings kept;
  kept.device = fields.text("device");
  kept.measured_by = fields.text("measured_by");
  kept.quick = fields.boolean_or("quick", false);
  kept.cache_looks = fields.count_or("cache_looks", 0);
  kept.ceilings = read_ceilings(fields.object("ceilings"));
  for (const auto& [name, ceiling] : kept.ceilings.by_name)
    if (!(ceiling.p20 > 0)) fields.refuse("ceilings", "rates and times above 0", name + " with 0");
  if (fault.any()) return fault.error(where, remedy);
  return kept;
}

}  // namespace hone::model
