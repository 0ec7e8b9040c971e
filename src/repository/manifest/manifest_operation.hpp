// A manifest's kernel as the engine's operation description.
#pragma once

#include <memory>

#include "repository/launch/session.hpp"
#include "repository/manifest/manifest.hpp"

namespace hone::repository::manifest {

// Reads the source, the reference and the settings file; what was read stays as it was then. `host`: a CPU that runs the reference;
// none: it is not run. Usage errors: an element type, an option or a scope that the manifest does not have, a file that is not
// there.
base::Result<std::unique_ptr<launch::Operation>> manifest_operation(const launch::Context& context,
                                                                    device::Device* host,
                                                                    std::shared_ptr<const Manifest> manifest,
                                                                    const model::Request& request);

}  // namespace hone::repository::manifest
