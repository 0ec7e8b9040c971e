#include "base/hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hone::base {

std::string content_hash(std::string_view bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * sizeof canonical.digest);
  for (unsigned char byte : canonical.digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

}  // namespace hone::base
