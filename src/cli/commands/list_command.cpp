// hone list: needs no device.
#include <ostream>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "model/json_value.hpp"
#include "render/table.hpp"

namespace hone::cli {

int run_list(const CommandContext& context) {
  auto listed = list_kernels(context.machine, context.meant);
  if (!listed) return fail(context, listed.error());
  const std::vector<repository::KernelEntry>& entries = listed->kernels;
  if (context.meant.talk.json) {
    using model::Json;
    const auto kernel_of = [](const repository::KernelEntry& entry) {
      return Json::object({{"kernel", entry.name},
                           {"description", entry.description},
                           {"tier", entry.tier},
                           {"modes", entry.passes},
                           {"dtypes", entry.dtypes}});
    };
    context.out << Json::object({{"schema", "hone.list/1"},
                                 {"repository", listed->repository},
                                 {"kernels", Json::list(entries, kernel_of)}})
                       .dump_plain(2)
                << "\n";
    return 0;
  }
  if (context.typed.has("--names")) {
    for (const repository::KernelEntry& entry : entries) context.out << entry.name << "\n";
    return 0;
  }
  render::Table table(
      {{"kernel"}, {"tier", render::Align::right, 1}, {"dtypes", render::Align::left, 2}, {"what it is"}});
  for (const repository::KernelEntry& entry : entries)
    table.add_row({entry.name, std::to_string(entry.tier), base::join_text(entry.dtypes, " "),
                   entry.description.substr(0, entry.description.find('\n'))});
  context.out << table.terminal(context.style());
  return 0;
}

}  // namespace hone::cli
