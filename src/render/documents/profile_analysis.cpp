// Blocks 5 to 7 of profile.md: class and evidence, configuration, opportunities and strategy order.
#include "base/text.hpp"
#include "render/documents/profile_blocks.hpp"
#include "render/format.hpp"
#include "render/plots/roofline.hpp"
#include "render/profile_view.hpp"

namespace hone::render {

namespace {

using model::BottleneckClass;
using model::Parameter;
using model::Profile;

std::string live_text(const Parameter& parameter) {
  std::string text = model::word(parameter.live);
  if (!parameter.live_evidence.empty()) return text + ": " + parameter.live_evidence;
  return text +
         (parameter.live == model::Liveness::unknown ? ": its machine code was not compared" : ": no proof recorded");
}

// Defaults and habits that are often stated wrongly, only where a parameter of this kernel makes them matter.
std::vector<std::string> corrections(const Profile& profile) {
  std::vector<std::string> notes;
  bool triton_default = false, dead_stages = false;
  for (const Parameter& parameter : profile.configuration.parameters) {
    const bool launch_option = parameter.name == "num_warps" || parameter.name == "num_stages";
    triton_default = triton_default || (launch_option && parameter.how_set == model::HowSet::default_value);
    dead_stages = dead_stages || (parameter.name == "num_stages" && parameter.live == model::Liveness::dead);
  }
  if (triton_default) notes.push_back("Triton's defaults on NVIDIA are num_warps 4 and num_stages 3, not 1.");
  if (dead_stages)
    notes.push_back(
        "num_stages pipelines the loads of a loop; a kernel without a loop over its row compiles to the same code for "
        "every value, so it is left out of the sweep.");
  return notes;
}

std::string places(const std::vector<model::Location>& locations) {
  std::vector<std::string> parts;
  for (const model::Location& place : locations)
    parts.push_back(markdown_code(place.file + (place.line > 0 ? ":" + std::to_string(place.line) : "")));
  return known(base::join_text(parts, ", "), "no single place in the source");
}

}  // namespace

void write_bottleneck(Markdown& page, const Profile& profile) {
  const model::Bottleneck& found = profile.bottleneck;
  page.heading(2, "5. Bottleneck Classification");
  page.facts(
      {{"Class", std::string(model::word(found.cls)) + (found.limiter.empty() ? "" : ", limited by " + found.limiter)},
       {"Confidence", model::word(found.confidence)},
       {"Plain rule", known(found.plain_rule_class, "not recorded")}});
  page.paragraph(
      "The plain rule calls a kernel memory-bound over 60 % memory and under 40 % compute throughput, compute-bound "
      "for the "
      "mirror, balanced with both from 30 to 60 %; it leaves much of the plane without a word, so it is shown and not "
      "used.");
  Table passes({{"Pass"}, {"Class"}, {"Limited by"}});
  for (const model::ClassOfPass& pass : found.by_pass)
    passes.add_row({pass.mode, model::word(pass.cls), known(pass.limiter, "not known")});
  page.table(passes);
  if (!roofline(profile).empty()) page.formatted(std::string("![Roofline](") + kRooflineName + ")");
  page.heading(3, "Evidence");
  Table evidence({{"Signal"}, {"Observation"}, {"Supports"}, {"Source"}});
  for (const model::EvidenceRow& row : found.evidence)
    evidence.add_row({row.signal, row.observation, row.supports, model::word(row.source)});
  page.table(evidence);
  page.heading(3, "Reasoning");
  page.paragraph(known(found.reasoning, "No reasoning was recorded."));
  bool latency = found.cls == BottleneckClass::latency_bound;
  for (const model::ClassOfPass& pass : found.by_pass) latency = latency || pass.cls == BottleneckClass::latency_bound;
  if (latency)
    page.paragraph(
        "Low memory and low compute throughput together are not a balance: the units wait. More work in flight helps, "
        "less work does not.");
  page.paragraph("What would refute it: " + sentence(known(found.refutation, "not stated")));
}

void write_configuration(Markdown& page, const Profile& profile) {
  const model::Configuration& configuration = profile.configuration;
  page.heading(2, "6. Current Configuration Analysis");
  if (configuration.parameters.empty())
    page.paragraph("No parameter was found: the kernel has no knob that hone knows.");
  Table table({{"Parameter"}, {"Current Value"}, {"How Set"}, {"Live"}, {"Notes"}});
  for (const Parameter& parameter : configuration.parameters)
    table.add_row({markdown_code(parameter.name), known(parameter.value, "not known"), model::word(parameter.how_set),
                   live_text(parameter), known(parameter.notes, "no notes")});
  page.table(table);
  page.bullets(corrections(profile));
  const model::MemoryAccess& memory = configuration.memory_access;
  page.heading(3, "Memory access patterns");
  page.facts(
      {{"Stride and coalescing", known(memory.stride_pattern, "not known: the source was not analysed")},
       {"Cache modifiers", known(memory.cache_modifiers, "none found")},
       {"In-place operations", known(memory.in_place, "none found")},
       {"Saved against recomputed", known(memory.saved_vs_recomputed, "not known: the source was not analysed")}});
  const model::ComputePatterns& compute = configuration.compute;
  page.heading(3, "Compute patterns");
  page.facts({{"Precision-sensitive operations", known(compute.precision_ops, "none found")},
              {"Casting mode", known(compute.casting_mode, "the kernel has none")},
              {"Algorithm", known(compute.algorithm, "not known: the source was not analysed")},
              {"Compile-time parameters", known(compute.constexpr_parameters, "none found")}});
}

void write_opportunities(Markdown& page, const Profile& profile) {
  page.heading(2, "7. Identified Optimization Opportunities");
  if (profile.opportunities.empty())
    page.paragraph("None: no pass has enough headroom above its roofline bound to show an improvement over the noise.");
  int number = 0;
  for (const model::Opportunity& one : profile.opportunities) {
    page.heading(4, std::to_string(++number) + ". " + one.title);
    page.formatted("- Where: " + places(one.locations) +
                   "\n- Costs today: " + markdown_text(sentence(known(one.detail, "not measured"))) + "\n- At most: " +
                   (one.bound_pct > 0 ? percent(one.bound_pct) + " of the time of the pass." : "not known.") +
                   "\n- Risk: " + markdown_text(sentence(known(one.risk, "none stated"))) +
                   "\n- Taken up by: " + (one.strategy.empty() ? "no strategy" : markdown_code(one.strategy)) + ".");
  }
  page.heading(3, "Recommended Strategy Order");
  if (profile.strategy_order.empty()) page.paragraph("None: there is nothing to gain that could be measured here.");
  if (!profile.plan_note.empty()) page.paragraph(sentence(profile.plan_note));
  std::vector<std::string> steps;
  bool streaming = false;
  for (const model::StrategyStep& step : profile.strategy_order) {
    steps.push_back("**" + markdown_text(step.title) + "** (" + markdown_code(step.strategy) + "). " +
                    markdown_text(sentence(known(step.reason, "no reason recorded"))) +
                    " Bound on gain: " + markdown_text(sentence(known(step.bound, "not known"))) +
                    " Risk: " + markdown_text(sentence(known(step.risk, "none stated"))));
    streaming = streaming || step.strategy.find("streaming") != std::string::npos ||
                step.strategy.find("cache") != std::string::npos;
  }
  page.numbered(steps);
  if (streaming)
    page.paragraph(
        "Streaming and evict-first hints can lose, where the next reader would have found the data in a cache: they "
        "are "
        "measured both ways and kept only when they win.");
  page.heading(3, "Estimated Iterations");
  page.paragraph(count_of(profile.estimated_iterations.variants, "variant") + ": " +
                 sentence(known(profile.estimated_iterations.rationale, "no rationale recorded")));
}

}  // namespace hone::render
