#include "model/kept_ceilings.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/hash.hpp"
#include "model/device_fields.hpp"

namespace hone::model {

namespace {

constexpr std::int64_t kLeastCacheBytes = std::int64_t{16} << 10, kMostCacheBytes = std::int64_t{64} << 30;
constexpr double kMostTime_ns = 1e9;  // of a launch or an access to memory
// A check of the copy is all that a later run measures; what stands beside it must fit it. The fastest matrix units do some
// 300 operations in the time of one copied byte, a server's cores 50; a cache is read 10 times as fast as memory.
constexpr double kMostBytesPerCopied = 20, kMostOperationsPerCopied = 4000;

// From where to where the values of a ceiling are believed beside a copy at this rate (0: not known).
std::pair<double, double> believed(const std::string& name, double copy) {
  if (name.ends_with("_ns")) return {0, kMostTime_ns};
  if (!(copy > 0)) return {0, std::numeric_limits<double>::max()};
  return {copy / kMostBytesPerCopied,
          copy * (name.ends_with("_flops_per_s") ? kMostOperationsPerCopied : kMostBytesPerCopied)};
}

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
  const double copy = std::max(kept.ceilings.p50("copy_bytes_per_s"), kept.ceilings.p50("copy_streaming_bytes_per_s"));
  for (const auto& [name, ceiling] : kept.ceilings.by_name) {
    // Clang takes no structured binding into a lambda.
    const auto low = ceiling.p20, high = ceiling.p80;
    const auto shown_with = [&name = name](double value) { return name + " with " + shortest(value); };
    archive.check(low > 0, "ceilings", "rates and times above 0", [&] { return shown_with(low); });
    const std::pair<double, double> range = believed(name, copy);
    archive.check(range.first <= low && high <= range.second, "ceilings",
                  "values from " + shortest(range.first) + " to " + shortest(range.second) + " for " + name,
                  [&] { return shown_with(low < range.first ? low : high); });
  }
  const std::int64_t cache = kept.ceilings.effective_last_level_cache_bytes;
  archive.check(cache == 0 || (cache >= kLeastCacheBytes && cache <= kMostCacheBytes), "ceilings",
                "a last-level cache of 16 KiB to 64 GiB", [&] { return std::to_string(cache) + " bytes"; });
}

std::string to_json(const KeptCeilings& kept) { return write_document(kCeilingsSchema, HashedCeilings{kept}).dump(); }

base::Result<KeptCeilings> parse_kept_ceilings(const std::string& json, const std::string& where) {
  HONE_TRY(hashed, parse_document<HashedCeilings>(json, kCeilingsSchema, where,
                                                  "remove the file: the ceilings are measured anew"));
  return std::move(hashed->content);
}

}  // namespace hone::model
