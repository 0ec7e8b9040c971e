#include "render/terminal/audit_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "render/table.hpp"
#include "render/terminal/style.hpp"

namespace hone::render {

namespace {

constexpr std::size_t kIndent = 2;

std::string plural(std::size_t count, const char* word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

// The shared table style, indented below the operation's name. `dropped`: the titles that a narrow terminal leaves out, in order.
class Block {
 public:
  explicit Block(const std::vector<std::string>& head, const std::vector<std::string>& dropped = {})
      : table_(columns_of(head, dropped)) {}
  void add(std::vector<std::string> row) { table_.add_row(std::move(row)); }

  std::string text(std::size_t width) const {
    if (table_.empty()) return "";
    std::string indented = "  ";
    const std::string plain = table_.terminal(Style{false, width - kIndent});
    for (std::size_t i = 0; i < plain.size(); ++i) {
      indented += plain[i];
      if (plain[i] == '\n' && i + 1 < plain.size()) indented += "  ";
    }
    return indented;
  }

 private:
  static std::vector<Column> columns_of(const std::vector<std::string>& head, const std::vector<std::string>& dropped) {
    std::vector<Column> columns;
    for (const std::string& title : head)
      columns.push_back(
          {title, Align::left, static_cast<int>(dropped.end() - std::find(dropped.begin(), dropped.end(), title))});
    return columns;
  }
  Table table_;
};

// A line of prose in the width of the terminal; what is wrapped stands two columns further in.
std::string fitted(const std::string& line, std::size_t width) {
  if (display_width(line) <= width) return line;
  const std::string indent(std::min(line.find_first_not_of(' '), width / 2), ' ');
  std::string made;
  for (const std::string& part : wrap(line, width - indent.size() - kIndent))
    made += (made.empty() ? indent : "\n" + indent + std::string(kIndent, ' ')) + part;
  return made;
}

// "a, b", or "-" where there is nothing.
class Texts {
 public:
  void add(const std::string& text) { text_ += (text_.empty() ? "" : ", ") + text; }
  std::string text() const { return text_.empty() ? "-" : text_; }

 private:
  std::string text_;
};

std::string list_of(const std::vector<int>& lines) {
  std::string text;
  for (const int line : lines) text += (text.empty() ? "" : ",") + std::to_string(line);
  return text.empty() ? "-" : text;
}

std::string setting_cell(const model::SettingSource& setting) {
  std::string text = setting.text.value_or("");
  const std::size_t equals = setting.passed_as == "star_kwargs" ? text.find(" = ") : std::string::npos;
  if (equals != std::string::npos) text = text.substr(equals + 3);
  return text.empty() ? setting.source : text + " (" + setting.source + ")";
}

std::string kernel_table(const model::AuditedOp& op, std::size_t width) {
  Block table({"kernel", "lines", "loads", "stores", "reductions", "loops", "precision", "notes"},
              {"precision", "loops", "reductions", "stores", "loads"});
  for (const model::KernelFact& kernel : op.jit_kernels) {
    std::string notes;
    const auto note = [&](bool holds, const std::string& text) {
      if (holds) notes += (notes.empty() ? "" : ", ") + text;
    };
    note(kernel.is_device_helper, "device helper");
    note(!kernel.dot_lines.empty(), "matrix product");
    if (kernel.autotune)
      note(true,
           kernel.autotune->n_configs ? fmt::format("autotune: {} configs", *kernel.autotune->n_configs) : "autotune");
    note(kernel.heuristics, "heuristics");
    note(!kernel.atomics.empty(), "atomics");
    note(!kernel.cache_hints.empty(), plural(kernel.cache_hints.size(), "cache hint"));
    note(!kernel.int32_offset_lines.empty(), "32-bit offsets at " + list_of(kernel.int32_offset_lines));
    for (const std::string& unused : kernel.unused_params) note(true, "never reads " + unused);
    table.add({kernel.name, fmt::format("{}-{}", kernel.line, kernel.end_line),
               std::to_string(kernel.load_lines.size() + kernel.descriptor_load_lines.size()),
               std::to_string(kernel.store_lines.size() + kernel.descriptor_store_lines.size()),
               std::to_string(kernel.reductions.size()), std::to_string(kernel.loops.size()),
               std::to_string(kernel.precision_ops.size()), notes});
  }
  return table.text(width);
}

std::string kernel_details(const model::AuditedOp& op) {
  std::string text;
  for (const model::KernelFact& kernel : op.jit_kernels) {
    text += fmt::format("  {}\n", kernel.name);
    for (const model::LoopFact& loop : kernel.loops) {
      text += fmt::format("    line {:>4}  {} {} in {}  [{}, depth {}]\n", loop.line, loop.stmt,
                          loop.target.value_or(""), loop.iter, loop.kind, loop.depth);
    }
    for (const model::ReductionFact& reduction : kernel.reductions) {
      text += fmt::format("    line {:>4}  {} {} axis {}\n", reduction.line, reduction.kind, reduction.op,
                          reduction.axis.value_or("not given"));
    }
    for (const model::CacheHint& hint : kernel.cache_hints) {
      text += fmt::format("    line {:>4}  {} {} = {}\n", hint.keyword_line, hint.call, hint.keyword, hint.value);
    }
    if (!kernel.float32_cast_lines.empty())
      text += fmt::format("    float32 casts at {}\n", list_of(kernel.float32_cast_lines));
  }
  return text;
}

std::string launch_table(const model::AuditedOp& op, std::size_t width) {
  Block table({"line", "launch", "grid", "num_warps", "num_stages", "tiles"}, {"num_stages", "num_warps"});
  for (const model::LaunchFact& launch : op.launches) {
    std::string tiles;
    for (const model::SettingSource& block : launch.block_sources)
      tiles += (tiles.empty() ? "" : ", ") + block.param + "=" + setting_cell(block);
    std::string stages = setting_cell(launch.num_stages);
    if (launch.num_stages_live == model::Liveness::dead) stages += ", dead";
    std::string grid =
        launch.grid_resolved.size() > 34 ? launch.grid_resolved.substr(0, 31) + "..." : launch.grid_resolved;
    table.add({std::to_string(launch.line), launch.kernel, grid, setting_cell(launch.num_warps), stages, tiles});
  }
  return table.text(width);
}

std::string autograd_lines(const model::AuditedOp& op) {
  std::string text;
  for (const model::AutogradFact& function : op.autograd_functions) {
    text += fmt::format("  autograd {} (line {})", function.name, function.line);
    for (const model::SavedTensors& saved : function.save_for_backward) {
      std::string names;
      for (const std::string& name : saved.args) names += (names.empty() ? "" : ", ") + name;
      text += fmt::format("; saves {} (line {})", names, saved.line);
    }
    if (function.backward && !function.backward_is_staticmethod) text += "; backward is no static method";
    text += "\n";
  }
  for (const model::IndirectLaunch& indirect : op.indirect_launches) {
    text += fmt::format("  line {}: launches through {} of {}\n", indirect.line, indirect.callee, indirect.callee_file);
  }
  const model::InPlaceFact& in_place = op.in_place;
  for (const model::InPlaceEvidence& evidence : in_place.evidence)
    text += fmt::format("  in place, line {}: {} ({})\n", evidence.line, evidence.what, evidence.text);
  for (const model::CommentedAutotune& comment : op.commented_out_autotune) {
    text += fmt::format("  commented-out autotune at lines {}-{}\n", comment.line, comment.end_line);
  }
  for (const model::TodoComment& todo : op.todo_comments)
    text += fmt::format("  {}:{}: {}\n", todo.file, todo.line, todo.text);
  return text;
}

std::string advice_lines(const model::AuditedOp& op) {
  if (op.opportunities.empty()) return "";
  std::string text = "  opportunities, from source alone (nothing was measured):\n";
  for (const model::Opportunity& opportunity : op.opportunities) {
    std::string places;
    for (const model::Location& place : opportunity.locations)
      places += (places.empty() ? "" : ", ") + std::to_string(place.line);
    text +=
        fmt::format("    {} [{}]{}\n", opportunity.title, opportunity.strategy, places.empty() ? "" : " at " + places);
  }
  return text;
}

// Lanes that a tile rounded up to a power of two leaves idle for a row of each length.
std::string masked_lines(const model::AuditedOp& op) {
  std::string text;
  for (const model::LaunchFact& launch : op.launches) {
    for (const model::SettingSource& block : launch.block_sources) {
      if (!block.rounded_up || block.rounded_up->masked.empty()) continue;
      const model::RoundedUp& rounded = *block.rounded_up;
      const bool counts = block.param.rfind("pad_n_", 0) == 0 || block.param.find("POW2") != std::string::npos;
      if (counts) continue;  // heads, experts: no rows of such lengths
      std::string line = fmt::format("    {} of {}{}:", block.param, rounded.of,
                                     rounded.largest ? fmt::format(", at most {}", *rounded.largest) : std::string());
      for (const model::MaskedLanes& lanes : rounded.masked)
        line += fmt::format(" {}: {:.0f} %;", lanes.size, lanes.pct);
      line.back() = '\n';
      if (text.find(line) == std::string::npos) text += line;
    }
  }
  return text.empty() ? "" : "  lanes masked off by tiles rounded up to a power of two\n" + text;
}

std::string preflight_line(const model::Preflight& preflight) {
  if (!preflight.applies) return "";
  std::string rows;
  for (const auto& [name, count] : preflight.csv_rows) rows += fmt::format(", {} recorded {} rows", count, name);
  return fmt::format("  pre-flight: benchmark {}, test {}{}\n",
                     preflight.benchmark_exists ? preflight.benchmark_script : "missing",
                     preflight.test_exists ? preflight.test_file : "missing", rows);
}

std::string cpp_kernel_table(const model::AuditedOp& op, std::size_t width) {
  Block table({"kernel", "lines", "loads", "stores", "sums", "loops", "vectors", "notes"},
              {"loops", "sums", "vectors"});
  for (const model::CppKernelFact& kernel : op.cpp_kernels) {
    Texts notes, vectors;
    for (const std::string& bound : kernel.launch_bounds) notes.add("launch bound " + bound);
    for (const model::CudaSharedArray& array : kernel.shared_arrays)
      notes.add("shared " + array.type + " " + array.name + array.extent);
    if (!kernel.barrier_lines.empty()) notes.add(plural(kernel.barrier_lines.size(), "barrier"));
    if (!kernel.atomics.empty()) notes.add(plural(kernel.atomics.size(), "atomic"));
    for (const std::string& macro : kernel.free_macros) notes.add("constant " + macro);
    for (const std::string& vector : kernel.vector_types) vectors.add(vector);
    const auto stores = static_cast<std::size_t>(
        std::count_if(kernel.accesses.begin(), kernel.accesses.end(), [](const auto& access) { return access.store; }));
    table.add({kernel.name, fmt::format("{}-{}", kernel.line, kernel.end_line),
               std::to_string(kernel.accesses.size() - stores), std::to_string(stores),
               std::to_string(kernel.accumulations.size()), std::to_string(kernel.loops.size()), vectors.text(),
               notes.text()});
  }
  return table.text(width);
}

std::string cpp_details(const model::AuditedOp& op) {
  std::string text;
  for (const model::CppKernelFact& kernel : op.cpp_kernels) {
    text += fmt::format("  {}\n", kernel.name);
    for (const model::LoopFact& loop : kernel.loops)
      text += fmt::format("    line {:>4}  {} {}  [depth {}]\n", loop.line, loop.stmt, loop.iter, loop.depth);
    for (const model::ReductionFact& sum : kernel.accumulations)
      text += fmt::format("    line {:>4}  {} over {}: {}\n", sum.line, sum.op, sum.axis.value_or("a loop"), sum.text);
    for (const model::ElementAccess& access : kernel.accesses)
      text += fmt::format("    line {:>4}  {} {}[{}]  [step {}]\n", access.line, access.store ? "store" : "load",
                          access.base, access.index, model::word(access.step));
  }
  return text;
}

std::string cpp_block(const model::AuditedOp& op, const AuditTableOptions& options) {
  Block launches({"line", "launch", "grid", "block", "shared bytes", "stream"}, {"stream", "shared bytes"});
  for (const model::CudaLaunchFact& launch : op.cuda_launches)
    launches.add({std::to_string(launch.line), launch.kernel + launch.template_arguments, launch.grid, launch.block,
                  launch.shared_bytes, launch.stream});
  return cpp_kernel_table(op, options.width) + (options.verbose ? cpp_details(op) : "") + launches.text(options.width);
}

}  // namespace

std::string audit_table(const model::Audit& audit, const AuditTableOptions& options) {
  std::string text;
  for (const model::AuditedOp& op : audit.kernels) {
    std::string files;
    for (const model::SourceFile& file : op.files) files += (files.empty() ? "" : ", ") + file.path;
    text += fmt::format("{}  ({}, {})\n", op.op, op.language, files);
    if (op.tier > 0) text += fmt::format("  tier {}: {}\n", op.tier, op.tier_reason);
    text += preflight_line(op.preflight);
    for (const model::SourceProblem& problem : op.problems)
      text += fmt::format("  {}:{}: {}\n", problem.file, problem.line, problem.what);
    if (op.language != "triton") {
      text += cpp_block(op, options) + advice_lines(op) + "\n";
      continue;
    }
    text += kernel_table(op, options.width);
    if (options.verbose) text += kernel_details(op);
    text += launch_table(op, options.width) + autograd_lines(op) + masked_lines(op) + advice_lines(op) + "\n";
  }
  text += fmt::format("{} read from source; no measurement stands behind what is said above.\n",
                      plural(audit.kernels.size(), "operation"));
  // Names and remarks come from the source: nothing in them may reach a terminal as a command.
  std::string shown;
  for (const std::string& line : base::split(text, '\n'))
    shown += (shown.empty() ? "" : "\n") + fitted(printable(line), options.width);
  return shown;
}

}  // namespace hone::render
