// The table of hone bench: its rows, measured, and as text and JSON.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/device_info.hpp"
#include "model/profile.hpp"
#include "model/timing.hpp"
#include "render/terminal/style.hpp"
#include "repository/described.hpp"
#include "repository/liger/providers.hpp"
#include "repository/timed.hpp"
#include "stages/ports.hpp"

namespace hone::cli {

struct BenchRow {
  std::string kernel, mode, dtype, shape, x_value, provider, missing;  // missing: why this provider has no figures
  std::string untrusted;  // why its figures, if there are any, can not be trusted
  model::Quantiles device_ms, wall_ms;
  bool few = false;  // fewer samples than asked for: of a slow baseline, or of a kernel that takes seconds
  double bytes = 0, flops = 0, share_of_ceiling = 0;
  model::PairedShare paired;  // of share_of_ceiling
  bool own = false;           // of the kernel itself: what the others are held against
};

bool of_python(const std::string& provider);  // one that a python has: "liger", "torch"

// Adds a row for each size, mode and provider; all providers of a size and mode are interleaved. Other load costs a row its
// trust, and no row that follows. `python`: runs the providers of a python beside the built-in kernels; none for the kernels
// of another repository. Errors: a provider's first fault that is none of the machine's, a stop by the user.
base::Result<void> bench_kernel(const repository::Described& kernel, repository::Timed& timed,
                                const model::Request& request, const std::vector<std::string>& providers,
                                repository::liger::PythonProviders* python, stages::Progress& progress,
                                std::vector<BenchRow>& rows);

void print_bench(std::ostream& out, const std::vector<BenchRow>& rows, const model::Ceilings& ceilings,
                 const render::Style& style);
std::string bench_json(const std::vector<BenchRow>& rows, const model::Ceilings& ceilings);  // hone.bench/1
// The rows that can not be trusted with the reason, each once for all of its providers.
std::vector<std::string> untrusted_rows(const std::vector<BenchRow>& rows);

}  // namespace hone::cli
