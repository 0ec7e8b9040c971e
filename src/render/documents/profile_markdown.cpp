#include "render/documents/profile_markdown.hpp"

#include "base/text.hpp"
#include "render/documents/profile_blocks.hpp"
#include "render/format.hpp"

namespace hone::render {

namespace {

using model::DeviceInfo;
using model::Profile;

std::string located(const model::Located& file, const std::string& what) {
  if (file.path.empty()) return "none: " + known(file.note, "this repository names no " + what);
  std::string text = markdown_code(file.path) + (file.exists ? ", found" : ", not found");
  if (!file.note.empty()) text += "; " + file.note;
  return text;
}

void write_head(Markdown& page, const Profile& profile) {
  page.heading(1, profile.kernel + ": optimization profile");
  page.formatted(
      "**" + markdown_text(known(profile.summary, "No summary: the profile was saved before its diagnosis.")) + "**");
  page.facts({{"Kernel", profile.kernel + (profile.request.dtype.empty() ? "" : ", " + profile.request.dtype)},
              {"Stage", "profile"},
              {"Date", profile.created},
              {"hone", profile.hone_version + " (" + known(profile.hone_commit, "commit not known") + ")"},
              {"Command", profile.command.empty() ? "" : markdown_code(profile.command)},
              {"Device", profile.device.name}});
}

void write_identity(Markdown& page, const Profile& profile) {
  const model::Identity& identity = profile.identity;
  page.heading(2, "1. Kernel Identity");
  page.facts({{"Kernel Name", identity.kernel},
              {"Repository", identity.repository},
              {"Source File", located(identity.source_file, "source file")},
              {"Benchmark Script", located(identity.benchmark_script, "benchmark script")},
              {"Test File", located(identity.test_file, "test file")},
              {"Source Hash", identity.source_hash},
              {"Tier Classification",
               std::to_string(identity.tier) + ", " + known(identity.tier_description, "no reason recorded")}});
  page.paragraph(
      "The tier is what the source suggests before anything is measured; the class in block 5 is what was found.");
}

std::string caches(const DeviceInfo& device) {
  std::vector<std::string> parts;
  for (const model::Cache& cache : device.caches) {
    std::string part = "L" + std::to_string(cache.level) + " " + bytes(static_cast<double>(cache.bytes));
    if (cache.shared_by_cores > 1) part += " shared by " + std::to_string(cache.shared_by_cores);
    parts.push_back(part);
  }
  return known(base::join_text(parts, ", "), "the system does not tell");
}

std::string match(const DeviceInfo& device) {
  if (device.target_gpu == "auto" || device.target_gpu.empty()) return "yes: no particular target was asked for";
  if (device.hardware_match) return "yes: " + device.architecture + " is what was asked for";
  return "no: " + device.target_gpu + " was asked for and " + device.architecture +
         " is here; every number below is of " + device.name + " and has to be measured again on the target";
}

std::string effective_cache(const DeviceInfo& device) {
  const std::int64_t size = device.ceilings.effective_last_level_cache_bytes;
  if (size > 0) return bytes(static_cast<double>(size)) + ", measured";
  return "not measured, the reported one is used";
}

void write_ceilings(Markdown& page, const model::Ceilings& ceilings) {
  page.heading(3, "Ceilings");
  if (ceilings.by_name.empty()) {
    page.paragraph("No ceiling was measured" +
                   (ceilings.notes.empty() ? std::string(": the reason was not recorded.") : std::string(".")));
  } else {
    Table table({{"Ceiling"}, {"Median", Align::right}, {"p20 to p80", Align::right}, {"Samples", Align::right}});
    for (const std::string& name : ceilings_in_order(ceilings)) {
      const model::Ceiling& ceiling = ceilings.by_name.at(name);
      table.add_row({ceiling_title(name), ceiling_value(name, ceiling.p50),
                     ceiling_value(name, ceiling.p20) + " to " + ceiling_value(name, ceiling.p80),
                     std::to_string(ceiling.samples)});
    }
    page.table(table);
    page.paragraph("Source: " + std::string(model::word(ceilings.source)) +
                   (ceilings.measured_at.empty() ? "" : ", " + ceilings.measured_at) +
                   ". Copy bandwidth counts the bytes read and the bytes written. Headroom is taken against the "
                   "medians, not against a data sheet.");
  }
  page.bullets(ceilings.notes);
}

void write_device(Markdown& page, const Profile& profile) {
  const DeviceInfo& device = profile.device;
  const bool cuda = device.kind == "cuda";
  page.heading(2, "2. GPU Information");
  if (!cuda)
    page.paragraph("The device of this profile is a " + std::string(device.kind == "cpu" ? "CPU" : device.kind) + ".");
  std::vector<std::pair<std::string, std::string>> rows = {
      {cuda ? "GPU Name" : "Device Name", device.name},
      {"Architecture",
       device.architecture + (cuda ? ", compute capability " + known(device.compute_capability, "not known") : "")},
      {cuda ? "SM Count" : "Cores", device.sm_count > 0 ? std::to_string(device.sm_count) : "the system does not tell"},
      {"Total Memory", device.total_memory_bytes > 0 ? bytes(static_cast<double>(device.total_memory_bytes))
                                                     : "the system does not tell"},
      {"Caches", caches(device) + (device.caches.empty() ? "" : ", as reported")},
      {"Last-level cache, effective", effective_cache(device)}};
  if (cuda) {
    const auto number = [](std::int64_t value) {
      return value > 0 ? std::to_string(value) : std::string("the driver does not tell");
    };
    rows.insert(rows.end(),
                {{"Shared Memory per Block", device.shared_memory_per_block_bytes > 0
                                                 ? bytes(static_cast<double>(device.shared_memory_per_block_bytes))
                                                 : "the driver does not tell"},
                 {"Registers per SM", number(device.registers_per_sm)},
                 {"Threads per SM", number(device.max_threads_per_sm)}});
  } else {
    rows.push_back({"Vector Extensions", known(base::join_text(device.isa, ", "), "none found")});
  }
  rows.insert(rows.end(), {{"Target GPU", known(device.target_gpu, "auto")},
                           {"Hardware Match", match(device)},
                           {"Clock", device.clock_mhz > 0 ? figure(device.clock_mhz, 4) + " MHz, as sampled"
                                                          : "the device does not tell"},
                           {cuda ? "Driver" : "System", known(device.driver, "not known")},
                           {"Compiler", known(device.compiler, "not known")}});
  page.facts(rows);
  write_ceilings(page, device.ceilings);
}

}  // namespace

std::string profile_markdown(const Profile& profile) {
  Markdown page;
  write_head(page, profile);
  write_identity(page, profile);
  write_device(page, profile);
  write_baseline(page, profile);
  write_counters(page, profile);
  write_bottleneck(page, profile);
  write_configuration(page, profile);
  write_opportunities(page, profile);
  return page.str();
}

}  // namespace hone::render
