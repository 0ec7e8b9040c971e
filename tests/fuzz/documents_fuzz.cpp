// Saved documents that were truncated, hand-edited or made up: refused with an error that says what to do, or read; and
// what was read is written and read again without a change. The first byte chooses the document.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "model/kept_ceilings.hpp"
#include "model/profile.hpp"
#include "model/variant.hpp"

namespace {

void require(bool kept) {
  if (!kept) std::abort();
}

template <class Document>
void check(hone::base::Result<Document> (*parse)(const std::string&, const std::string&), const std::string& text) {
  const auto first = parse(text, "fuzz");
  if (!first) {
    require(!first.error().expected.empty() && !first.error().found.empty() && !first.error().remedy.empty());
    return;
  }
  const std::string written = to_json(*first);
  const auto second = parse(written, "fuzz");
  require(second.ok());
  require(to_json(*second) == written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'p': check(&hone::model::parse_profile, text); break;
    case 'c': check(&hone::model::parse_comparison, text); break;
    case 'v': check(&hone::model::parse_variant, text); break;
    case 'k': check(&hone::model::parse_kept_ceilings, text); break;
    default: break;
  }
  return 0;
}
