// Reading files that somebody else put there: never a pipe that nobody writes into, nor a device without an end.
#pragma once

#include <cstdint>
#include <string>

#include "base/files.hpp"

namespace hone::base {

// The content of a regular file of at most `most_bytes`. A pipe, a socket, a device or a larger file is an error, without
// opening it. Links are followed.
Result<std::string> read_regular(FileSystem& files, const std::string& path,
                                 std::uint64_t most_bytes = kLargestFileBytes);

}  // namespace hone::base
