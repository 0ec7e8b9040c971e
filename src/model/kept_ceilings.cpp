#include "model/kept_ceilings.hpp"

#include "base/hash.hpp"
#include "model/device_fields.hpp"

namespace hone::model {

namespace {

std::string hash_of(const Json& content) { return base::content_hash(content.dump_line()); }

struct HashedCeilings {
  KeptCeilings content;
};

template <class Archive>
void fields(Archive& archive, of<HashedCeilings> auto& hashed) {
  if constexpr (Archive::reads) {
    std::string hash;
    archive.required("content_hash", hash);
    const Json* content = archive.object().find("content");
    archive.check(content != nullptr && hash == hash_of(*content), "content_hash", "the hash of the content",
                  [] { return "another"; });
  } else {
    archive.written("content_hash", hash_of(json_of(hashed.content)));
  }
  archive.required("content", hashed.content);
}

}  // namespace

void fields(auto& archive, of<KeptCeilings> auto& kept) {
  archive.required("device", kept.device);
  archive.required("measured_by", kept.measured_by);
  archive.optional("quick", kept.quick);
  archive.optional("cache_looks", kept.cache_looks);
  archive.required("ceilings", kept.ceilings);
  for (const auto& [name, ceiling] : kept.ceilings.by_name)
    archive.check(ceiling.p20 > 0, "ceilings", "rates and times above 0", [name = name] { return name + " with 0"; });
}

std::string to_json(const KeptCeilings& kept) { return write_document(kCeilingsSchema, HashedCeilings{kept}).dump(); }

base::Result<KeptCeilings> parse_kept_ceilings(const std::string& json, const std::string& where) {
  HONE_TRY(hashed, parse_document<HashedCeilings>(json, kCeilingsSchema, where,
                                                  "remove the file: the ceilings are measured anew"));
  return std::move(hashed->content);
}

}  // namespace hone::model
