// hone list: needs no device.
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/command.hpp"

namespace hone::cli {

int run_list(const CommandContext& context) {
  auto listed = list_kernels(context.machine, context.meant);
  if (!listed) return fail(context, listed.error());
  const std::vector<repository::KernelEntry>& entries = listed->kernels;
  if (context.meant.talk.json) {
    nlohmann::json kernels = nlohmann::json::array();
    for (const repository::KernelEntry& entry : entries)
      kernels.push_back({{"kernel", entry.name},
                         {"description", entry.description},
                         {"tier", entry.tier},
                         {"modes", entry.passes},
                         {"dtypes", entry.dtypes}});
    context.out
        << nlohmann::json{{"schema", "hone.list/1"}, {"repository", listed->repository}, {"kernels", kernels}}.dump(2)
        << "\n";
    return 0;
  }
  for (const repository::KernelEntry& entry : entries)
    context.out << fmt::format("{:<28} tier {}  {:<16} {}\n", entry.name, entry.tier,
                               base::join_text(entry.dtypes, " "),
                               entry.description.substr(0, entry.description.find('\n')));
  return 0;
}

}  // namespace hone::cli
