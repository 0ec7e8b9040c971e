#include "source/triton/rewrite/rewrite.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "source/audit.hpp"
#include "source/edit.hpp"
#include "source/triton/rewrite/plans.hpp"
#include "source/triton/rewrite/size_table.hpp"
#include "source/triton/rewrite/subject.hpp"

namespace hone::source::rewrite {

namespace {

struct Entry {
  Rewrite rewrite;
  Planner plan;
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = {
      {{"settings-function",
        "parameter-sweep",
        "Settings by size in place of calculate_settings",
        "operators whose launches take BLOCK_SIZE and num_warps from calculate_settings(size)",
        {{"num_warps", {"8", "4", "2", "16", "32", "1"}, "warps of each program", true},
         {"BLOCK_SIZE", {}, "elements of a row that a program holds at once, a power of two", true},
         {"num_stages", {"3", "1", "2", "4", "5"}, "stages of pipelined loops", true}}},
       plan_settings_function},
      {{"programs-per-sm",
        "grid-sizing",
        "Several programs on each SM",
        "launches whose grid is the number of multiprocessors",
        {{"programs_per_sm", {"2", "3", "4", "6", "8"}, "programs for each SM; 1 is the original", true}}},
       plan_programs_per_sm},
      {{"block-row",
        "rows-per-program",
        "Several rows for each program",
        "row kernels without loops, launched on a grid of rows",
        {{"BLOCK_ROW", {"4", "2", "8", "16"}, "rows of each program"}}},
       plan_block_row},
      {{"cache-policy",
        "streaming-stores",
        "Cache policy of loads and stores",
        "kernels that load or store tiles: what a program reads once, what all programs read, what is written",
        {{"streamed_loads", {"evict_first", ".cg"}, "loads of what this program reads once and no other program reads"},
         {"reused_loads", {"evict_last", ".ca"}, "loads of what every program reads, weights for instance"},
         {"stores", {"evict_first", ".cs", ".cg", ".wt"}, "stores of tiles"}}},
       plan_cache_policy},
      {{"loop-stages",
        "prefetch",
        "Software pipelining of loops",
        "innermost counting loops that load, and store to what they load at most at the same place",
        {{"num_stages", {"4", "3", "5", "2"}, "turns in flight; Triton acts on loops that say so themselves"}}},
       plan_loop_stages},
      {{"loop-unrolling",
        "unrolling",
        "Unrolled loops",
        "innermost counting loops; static where the bounds are compile-time constants",
        {{"unroll", {"2", "4", "static"}, "turns joined into one, or all of them"}}},
       plan_loop_unrolling},
      {{"hoisted-loads",
        "redundant-work",
        "Loads moved out of loops",
        "loads in a loop whose address, mask and memory stay the same",
        {}},
       plan_hoisted_loads},
      {{"shared-math",
        "redundant-work",
        "Repeated exp, sigmoid and the like computed once",
        "kernels that compute one of them twice of the same operands",
        {}},
       plan_shared_math},
      {{"partial-sum",
        "grid-sizing",
        "Partial results summed by a kernel of the operator's own",
        "float32 buffers that a launch fills, summed over their rows and converted by the framework",
        {}},
       plan_partial_sum},
      {{"wide-offsets",
        "correctness",
        "64-bit offsets",
        "kernels that multiply a 32-bit program index by a stride",
        {}},
       plan_wide_offsets},
  };
  return all;
}

const Entry* find_entry(const std::string& name) {
  for (const Entry& entry : entries()) {
    if (name == entry.rewrite.name) return &entry;
  }
  return nullptr;
}

// Where the header goes: behind a byte order mark, a `#!` line and a coding line, before everything else.
std::size_t header_place(const std::string& text) {
  std::size_t at = text.compare(0, 3, "\xEF\xBB\xBF") == 0 ? 3 : 0;
  for (int line = 0; line < 2; ++line) {
    const std::size_t end = text.find('\n', at);
    const std::string content = text.substr(at, end == std::string::npos ? std::string::npos : end - at);
    const bool special = base::starts_with(content, "#!") ||
                         (base::starts_with(content, "#") && content.find("coding") != std::string::npos);
    if (!special || end == std::string::npos) break;
    at = end + 1;
  }
  return at;
}

std::string header_text(const std::string& header, const std::vector<std::string>& notes, bool crlf) {
  std::vector<std::string> lines = wrapped(one_line(header), "# ", 116);
  lines.emplace_back("# What differs from the original, everything else is as it was:");
  for (const std::string& note : notes) {
    std::vector<std::string> more = wrapped(one_line(note), "#   ", 116);
    if (!more.empty()) more.front()[2] = '-';
    lines.insert(lines.end(), more.begin(), more.end());
  }
  std::string text;
  for (const std::string& line : lines) text += line + (crlf ? "\r\n" : "\n");
  return text + (crlf ? "\r\n" : "\n");
}

base::Result<Plan> plan_for(base::FileSystem& files, const std::string& path, const std::string& text,
                            const Entry& entry, const std::vector<Request>& requests) {
  HONE_TRY(subject, Subject::read(files, path, text));
  return entry.plan(**subject, entry.rewrite, requests);
}

}  // namespace

const char* word(Pass pass) {
  switch (pass) {
    case Pass::forward: return "forward";
    case Pass::backward: return "backward";
    case Pass::any: break;
  }
  return "any";
}

const std::vector<Rewrite>& rewrites() {
  static const std::vector<Rewrite> all = [] {
    std::vector<Rewrite> list;
    for (const Entry& entry : entries()) list.push_back(entry.rewrite);
    return list;
  }();
  return all;
}

const Rewrite* find_rewrite(const std::string& name) {
  const Entry* entry = find_entry(name);
  return entry == nullptr ? nullptr : &rewrites()[static_cast<std::size_t>(entry - entries().data())];
}

std::vector<Finding> survey(base::FileSystem& files, const std::string& path, const std::string& text) {
  std::vector<Finding> findings;
  auto subject = Subject::read(files, path, text);
  for (const Entry& entry : entries()) {
    Finding finding;
    finding.rewrite = find_rewrite(entry.rewrite.name);
    std::string reason = subject ? "" : subject.error().found;
    for (const Knob& knob : entry.rewrite.knobs) {
      if (!subject || knob.values.empty()) {
        if (subject) finding.knobs.push_back(knob);
        continue;
      }
      Request request;
      request.rewrite = entry.rewrite.name;
      request.values[knob.name] = knob.values.front();
      const auto plan = entry.plan(**subject, entry.rewrite, {request});
      if (!plan) {
        if (reason.empty()) reason = plan.error().found;
        continue;
      }
      finding.knobs.push_back(knob);
      for (const Site& site : plan->sites) {
        const bool known = std::any_of(finding.sites.begin(), finding.sites.end(), [&](const Site& other) {
          return other.line == site.line && other.kernel == site.kernel && other.what == site.what;
        });
        if (!known) finding.sites.push_back(site);
      }
    }
    if (subject && entry.rewrite.knobs.empty()) {
      Request request;
      request.rewrite = entry.rewrite.name;
      const auto plan = entry.plan(**subject, entry.rewrite, {request});
      if (plan) finding.sites = plan->sites;
      if (!plan) reason = plan.error().found;
    }
    if (finding.sites.empty()) {
      finding.reason = reason.empty() ? "nothing to change" : reason;
      finding.knobs.clear();
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

base::Result<Variant> compose(base::FileSystem& files, const std::string& path, const std::string& text,
                              const std::vector<Request>& requests, const std::string& header) {
  if (requests.empty())
    return base::Error{base::ErrorKind::usage, "at least one rewrite", "none", path, "name one of rewrites()"};
  Variant variant;
  variant.text = text;
  std::vector<std::string> notes;
  for (std::size_t first = 0; first < requests.size();) {
    std::size_t end = first;
    while (end < requests.size() && requests[end].rewrite == requests[first].rewrite) ++end;
    const Entry* entry = find_entry(requests[first].rewrite);
    if (entry == nullptr) {
      return base::Error{base::ErrorKind::usage, "the name of a rewrite", "'" + requests[first].rewrite + "'", path,
                         "name one of rewrites()"};
    }
    const std::vector<Request> group(requests.begin() + static_cast<std::ptrdiff_t>(first),
                                     requests.begin() + static_cast<std::ptrdiff_t>(end));
    HONE_TRY(plan, plan_for(files, path, variant.text, *entry, group));
    HONE_TRY(changed, apply(variant.text, std::move(plan->replacements), path));
    variant.text = std::move(*changed);
    variant.touched.insert(variant.touched.end(), plan->sites.begin(), plan->sites.end());
    notes.insert(notes.end(), plan->notes.begin(), plan->notes.end());
    first = end;
  }
  const std::size_t place = header_place(variant.text);
  const bool crlf = text.find("\r\n") != std::string::npos;
  HONE_TRY(edited, edit_and_audit(files, path, variant.text, {{place, place, header_text(header, notes, crlf)}}));
  if (!edited->facts.problems.empty()) {
    // The parser lets pass some texts that are no Python (a line indented by itself); an edit can bring that to light.
    return base::Error{base::ErrorKind::usage, "a rewritten text without syntax errors", edited->facts.problems[0].what,
                       path + ":" + std::to_string(edited->facts.problems[0].line),
                       "see whether Python itself reads the original; nothing was changed"};
  }
  variant.text = std::move(edited->text);
  variant.facts = std::move(edited->facts);
  return variant;
}

}  // namespace hone::source::rewrite
