#include "cli/commands/counters_command.hpp"

#include <ostream>

#include "base/files.hpp"
#include "cli/print_error.hpp"
#include "counters/ncu_csv.hpp"
#include "diagnose/launch.hpp"
#include "model/json_value.hpp"
#include "model/profile_fields.hpp"
#include "render/format.hpp"
#include "render/plots/roofline.hpp"
#include "render/table.hpp"
#include "render/terminal/style.hpp"

namespace hone::cli {

namespace {

using diagnose::KernelDiagnosis;
using model::CounterSummary;
using model::Json;

constexpr std::size_t kStepsShown = 3;
constexpr std::size_t kLongestNameShown = 72;

std::string shortened(const std::string& name) {
  return name.size() <= kLongestNameShown ? name : name.substr(0, kLongestNameShown - 3) + "...";
}

std::string share(const std::optional<double>& pct) { return pct ? render::percent(*pct) : "-"; }
std::string whole(const std::optional<double>& value) { return value ? diagnose::quantity(*value) : "-"; }
std::string figure(const std::optional<double>& value) { return render::figure_or(value, "-"); }

std::string document(const counters::Capture& capture, const std::vector<KernelDiagnosis>& diagnoses,
                     const model::Ceilings& ceilings, const std::vector<std::string>& pictures) {
  Json kernels = Json::array();
  for (std::size_t i = 0; i < capture.kernels.size(); ++i) {
    Json kernel = model::json_of(capture.kernels[i]);
    kernel.add("bottleneck", model::json_of(diagnoses[i].bottleneck));
    kernel.add("share_of_ceiling_pct", Json(diagnoses[i].share_of_ceiling_pct));
    kernel.add("gain", diagnoses[i].gain);
    kernel.add("strategy_order", model::json_of(diagnoses[i].strategy_order));
    kernels.push(std::move(kernel));
  }
  return Json::object({{"schema", kCountersSchema},
                       {"page", capture.page},
                       {"launches", capture.launches},
                       {"device", Json::object({{"name", capture.device_name},
                                                {"compute_capability", capture.compute_capability}})},
                       {"ceilings", ceilings.by_name.empty() ? Json() : model::json_of(ceilings)},
                       {"kernels", std::move(kernels)},
                       {"pictures", pictures},
                       {"notes", capture.notes}})
      .dump();
}

render::Table overview(const counters::Capture& capture, const std::vector<KernelDiagnosis>& diagnoses) {
  using render::Align;
  render::Table table({{"#", Align::right},
                       {"kernel"},
                       {"us", Align::right},
                       {"occupancy", Align::right, 3},
                       {"compute", Align::right, 2},
                       {"memory", Align::right, 1},
                       {"of ceiling", Align::right},
                       {"class"}});
  for (std::size_t i = 0; i < capture.kernels.size(); ++i) {
    const CounterSummary& kernel = capture.kernels[i];
    const KernelDiagnosis& diagnosis = diagnoses[i];
    table.add_row(
        {std::to_string(i + 1), shortened(kernel.name), figure(kernel.duration_us), share(kernel.occupancy_pct),
         share(kernel.compute_throughput_pct), share(kernel.memory_throughput_pct),
         diagnose::known(diagnosis.share_of_ceiling_pct) ? render::percent(diagnosis.share_of_ceiling_pct) : "-",
         model::word(diagnosis.bottleneck.cls)},
        kernel.owner.empty() ? render::Ink::plain : render::Ink::dim);
  }
  return table;
}

void print_wrapped(const std::string& label, const std::string& text, const render::Style& style, std::ostream& out) {
  constexpr std::size_t kLabel = 12;
  out << render::labelled(label, text, style, kLabel);
}

std::string launch_line(const CounterSummary& kernel) {
  std::string text = "grid " + (kernel.grid.empty() ? "-" : kernel.grid) + ", block " +
                     (kernel.block.empty() ? "-" : kernel.block) + ", " + whole(kernel.registers_per_thread) +
                     " registers a thread, " + whole(kernel.spills) + " spills, " + figure(kernel.waves_per_sm) +
                     " waves";
  if (kernel.sm_clock_ghz) text += ", SM clock " + render::figure(*kernel.sm_clock_ghz) + " GHz";
  return text;
}

void print_kernel(std::size_t number, const CounterSummary& kernel, const KernelDiagnosis& diagnosis,
                  const render::Style& style, std::ostream& out) {
  out << '\n'
      << style.paint(std::to_string(number) + "  " + render::printable(shortened(kernel.name)), render::Ink::bold);
  if (!kernel.owner.empty()) out << "  (" << kernel.owner << ")";
  out << '\n';
  if (!kernel.note.empty()) print_wrapped("launches", kernel.note, style, out);
  print_wrapped("launch", launch_line(kernel), style, out);
  print_wrapped("occupancy",
                share(kernel.occupancy_pct) + " achieved, " + share(kernel.theoretical_occupancy_pct) + " theoretical" +
                    (kernel.occupancy_limiter.empty() ? "" : ", limited by " + kernel.occupancy_limiter),
                style, out);
  print_wrapped("caches",
                "L1 hit rate " + share(kernel.l1_hit_rate_pct) + ", L2 hit rate " + share(kernel.l2_hit_rate_pct) +
                    ", L2 throughput " + share(kernel.l2_throughput_pct),
                style, out);
  std::string stalls;
  for (const model::Stall& stall : kernel.stalls) {
    const std::string meaning = diagnose::stall_meaning(stall.reason);
    stalls += (stalls.empty() ? "" : "; ") + stall.reason + " " + render::percent(stall.pct) +
              (meaning.empty() ? "" : " (" + meaning + ")");
  }
  print_wrapped("stalls", stalls.empty() ? "not in this capture" : stalls, style, out);
  const model::Bottleneck& bottleneck = diagnosis.bottleneck;
  print_wrapped("class",
                std::string(model::word(bottleneck.cls)) + ", confidence " + model::word(bottleneck.confidence) +
                    " (the plain rule: " + bottleneck.plain_rule_class + "). " + bottleneck.reasoning,
                style, out);
  for (const model::EvidenceRow& row : bottleneck.evidence)
    print_wrapped("evidence", row.signal + ": " + row.observation + " -> " + row.supports, style, out);
  print_wrapped("to gain", diagnosis.gain, style, out);
  for (std::size_t i = 0; i < std::min(kStepsShown, diagnosis.strategy_order.size()); ++i)
    print_wrapped(i == 0 ? "try" : "then",
                  diagnosis.strategy_order[i].title + ": " + diagnosis.strategy_order[i].reason, style, out);
  if (!bottleneck.refutation.empty()) print_wrapped("refuted by", bottleneck.refutation, style, out);
}

// Writes roofline.svg and stalls_N.svg, N as in the table; gives the paths.
base::Result<std::vector<std::string>> write_pictures(const counters::Capture& capture,
                                                      const std::vector<KernelDiagnosis>& diagnoses,
                                                      const std::string& folder, base::FileSystem& files) {
  std::vector<render::CapturedPlace> places;
  for (std::size_t i = 0; i < capture.kernels.size(); ++i)
    places.push_back({capture.kernels[i].name, capture.kernels[i].compute_throughput_pct.value_or(diagnose::kUnknown),
                      diagnoses[i].memory_pct, diagnose::known(diagnoses[i].share_of_ceiling_pct)});
  std::vector<std::pair<std::string, std::string>> pictures{{"roofline.svg", render::capture_roofline(places)}};
  for (std::size_t i = 0; i < capture.kernels.size(); ++i)
    pictures.emplace_back("stalls_" + std::to_string(i + 1) + ".svg", render::stall_bar(capture.kernels[i]));
  std::vector<std::string> written;
  for (const auto& [name, svg] : pictures) {
    if (svg.empty()) continue;  // the capture has no such counters
    written.push_back(base::join(folder, name));
    HONE_PROPAGATE(files.write_atomically(written.back(), svg));
  }
  return written;
}

}  // namespace

namespace {

// A file that the command line names: where it can not be read, the command line asks for what there is not.
base::Result<std::string> read_named(base::FileSystem& files, const std::string& path) {
  auto text = files.read(path);
  if (text) return text;
  base::Error error = text.error();
  error.kind = base::ErrorKind::usage;
  return error;
}

}  // namespace

base::Result<ReadCeilings> read_ceilings(const std::string& json, const std::string& where) {
  const std::string remedy = "give a saved profile.json, or a document such as {\"copy_bytes_per_s\": 4.27e12}";
  auto tree = model::parse_json(json, where, remedy);
  if (!tree) {
    base::Error error = tree.error();
    error.kind = base::ErrorKind::usage;  // the file was named on the command line
    return error;
  }
  const Json* object = &*tree;
  ReadCeilings read;
  if (const Json* device = object->find("device")) {
    object = device;
    const auto word = [&](const char* name) {
      const Json* member = device->find(name);
      return member && member->text() ? *member->text() : std::string();
    };
    read.device = word("name"), read.compute_capability = word("compute_capability");
    if (const std::string kind = word("kind"); !kind.empty() && kind != "cuda")
      return base::Error{base::ErrorKind::usage, "ceilings of the GPU that was captured",
                         "those of " + (read.device.empty() ? "no GPU" : read.device) + " (" + kind + ")", where,
                         "give a profile that was taken on that GPU, or leave --ceilings out"};
  }
  if (const Json* ceilings = object->find("ceilings")) object = ceilings;
  model::Ceilings found;
  found.source = model::Source::recorded;
  if (object->members() == nullptr)
    return base::Error{base::ErrorKind::usage, "an object of ceilings by name", "something else", where, remedy};
  for (const Json::Member& member : *object->members()) {
    const bool rate_or_time = member.name.ends_with("_per_s") || member.name.ends_with("_ns");
    if (!rate_or_time || member.value.is_null()) continue;
    const std::optional<double> value = member.value.number();
    if (!value || !(*value > 0))
      return base::Error{base::ErrorKind::usage, "a number over 0 for " + member.name, model::shown(member.value),
                         where, remedy};
    found.by_name[member.name] = {*value, *value, *value, 1};
  }
  if (found.by_name.count("copy_bytes_per_s") == 0)
    return base::Error{base::ErrorKind::usage, "the ceiling copy_bytes_per_s", "no such member", where, remedy};
  read.ceilings = std::move(found);
  return read;
}

int run_counters(const CountersOptions& options, std::ostream& out, std::ostream& err) {
  base::SystemFiles files;
  auto text = read_named(files, options.file);
  if (!text) return print_error(text.error(), options.json, out, err);
  auto capture = counters::read_ncu_csv(*text, options.file);
  if (!capture) return print_error(capture.error(), options.json, out, err);

  model::DeviceInfo device;
  device.kind = "cuda";
  device.name = capture->device_name;
  device.compute_capability = capture->compute_capability;
  if (!options.ceilings_file.empty()) {
    auto ceilings_text = read_named(files, options.ceilings_file);
    if (!ceilings_text) return print_error(ceilings_text.error(), options.json, out, err);
    auto ceilings = read_ceilings(*ceilings_text, options.ceilings_file);
    if (!ceilings) return print_error(ceilings.error(), options.json, out, err);
    device.ceilings = std::move(ceilings->ceilings);
    const auto differ = [](const std::string& a, const std::string& b) { return !a.empty() && !b.empty() && a != b; };
    if (differ(ceilings->device, capture->device_name) ||
        differ(ceilings->compute_capability, capture->compute_capability))
      capture->notes.push_back(
          "the ceilings are those of " + (ceilings->device.empty() ? "another GPU" : ceilings->device) +
          ", the capture is of " +
          (capture->device_name.empty() ? "compute capability " + capture->compute_capability : capture->device_name) +
          ": shares of a ceiling are not this device's");
  }
  std::vector<KernelDiagnosis> diagnoses;
  for (const CounterSummary& kernel : capture->kernels) diagnoses.push_back(diagnose::diagnose_kernel(kernel, device));
  std::vector<std::string> pictures;
  if (!options.svg_folder.empty()) {
    auto written = write_pictures(*capture, diagnoses, options.svg_folder, files);
    if (!written) return print_error(written.error(), options.json, out, err);
    pictures = std::move(*written);
  }
  if (options.json) {
    out << document(*capture, diagnoses, device.ceilings, pictures) << '\n';
    return 0;
  }
  const render::Style& style = options.style;
  out << overview(*capture, diagnoses).terminal(style);
  for (std::size_t i = 0; i < capture->kernels.size(); ++i)
    print_kernel(i + 1, capture->kernels[i], diagnoses[i], style, out);
  for (const std::string& note : capture->notes) out << '\n' << "note: " << render::printable(note);
  if (!capture->notes.empty()) out << '\n';
  if (!options.svg_folder.empty())
    out << '\n' << "pictures: " << (pictures.empty() ? "none, the capture has no counters for them" : "") << '\n';
  for (const std::string& path : pictures) out << "  " << render::printable(path) << '\n';
  return 0;
}

}  // namespace hone::cli
