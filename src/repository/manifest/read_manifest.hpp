// From the text of a manifest to its meaning. docs/manifest.md describes the format.
#pragma once

#include <string>

#include "base/files.hpp"
#include "base/result.hpp"
#include "repository/manifest/manifest.hpp"

namespace hone::repository::manifest {

// The name of the manifest in a folder that is named instead of it.
inline constexpr const char* kManifestName = "hone.toml";

// Every error is of kind usage and says file, line and column, the key, what was expected and found, and what to do.
// `path` is for messages and for what lies beside it; nothing is read here.
base::Result<Manifest> parse_manifest(const std::string& text, const std::string& path);

// True where `path` is a *.toml file, or a folder that holds hone.toml.
bool is_manifest(base::FileSystem& files, const std::string& path);

// Reads the manifest of such a path.
base::Result<Manifest> load_manifest(base::FileSystem& files, const std::string& path);

// A path below the manifest's folder as it may be written in one: relative, without '.', '..' and empty parts.
bool stays_below(const std::string& path);

}  // namespace hone::repository::manifest
