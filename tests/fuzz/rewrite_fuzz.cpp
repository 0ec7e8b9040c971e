// Feeds arbitrary bytes to every rewrite of Triton operators: none may crash or hang, and what one gives must parse.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/files.hpp"
#include "source/triton/rewrite/rewrite.hpp"

namespace rewrite = hone::source::rewrite;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  hone::base::MemoryFiles files;
  for (const rewrite::Finding& finding : rewrite::survey(files, "/w/pack/kernel.py", text)) {
    if (finding.sites.empty() == finding.reason.empty()) std::abort();
    if (finding.sites.empty()) continue;
    rewrite::Request request;
    request.rewrite = finding.rewrite->name;
    for (const rewrite::Knob& knob : finding.knobs) {
      if (!knob.values.empty() && request.values.empty()) request.values[knob.name] = knob.values.front();
    }
    const auto variant = rewrite::compose(files, "/w/pack/kernel.py", text, {request}, "A variant.");
    if (variant && !variant->facts.problems.empty()) std::abort();
  }
  return 0;
}
