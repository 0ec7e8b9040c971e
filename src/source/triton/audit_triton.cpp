#include "source/triton/audit_triton.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "source/sha256.hpp"
#include "source/source_text.hpp"
#include "source/triton/host/autograd_facts.hpp"
#include "source/triton/host/comment_facts.hpp"
#include "source/triton/host/in_place.hpp"
#include "source/triton/kernel/row_mode.hpp"
#include "source/triton/kernel/tier.hpp"
#include "source/triton/launch/launch_facts.hpp"
#include "source/triton/launch/setting_source.hpp"

namespace hone::source {

namespace {

constexpr std::size_t kMostProblems = 20;  // of one file; a file of another language would give thousands

template <class T>
void append(std::vector<T>& all, std::vector<T> more) {
  for (T& item : more) all.push_back(std::move(item));
}

void read_problems(const Module& module, model::AuditedOp& op) {
  std::size_t found = 0;
  std::uint32_t skip_until = 0;
  for (Node node : module.tree().root().descendants()) {
    const bool wrong = node.is(Kind::error) || node.missing();
    if (!wrong || node.start() < skip_until || ++found > kMostProblems) continue;
    skip_until = node.end();
    const std::string& text = module.tree().text();
    const std::size_t line_start = text.rfind('\n', node.start() == 0 ? 0 : node.start() - 1);
    const int column =
        static_cast<int>(node.start() - (line_start == std::string::npos || node.start() == 0 ? 0 : line_start + 1)) +
        1;
    std::string what = node.missing() ? "something is missing here"
                                      : "not Python: " + collapse_white_space(to_utf8(node.text().substr(0, 80)));
    op.problems.push_back({module.path(), node.line(), column, std::move(what)});
  }
  if (module.tree().root().is(Kind::error) && found == 0)
    op.problems.push_back({module.path(), 1, 1, "the file as a whole is not Python"});
}

}  // namespace

bool has_triton(const model::AuditedOp& op) {
  return !op.jit_kernels.empty() || !op.launches.empty() || !op.indirect_launches.empty() ||
         !op.autograd_functions.empty();
}

std::vector<const Module*> companion_modules(ModuleSet& modules, const Module& primary) {
  std::vector<const Module*> found;
  std::string stem = base::file_name(primary.path());
  stem = stem.substr(0, stem.rfind('.'));
  const std::string folder = base::parent(primary.path());
  for (int scope = kNoFunction; scope < static_cast<int>(primary.functions().size()); ++scope) {
    for (Node call : primary.calls(scope)) {
      for (const FunctionRef& kernel : launched_kernels(modules, primary, call, scope)) {
        const Module* module = kernel.module;
        if (module == &primary || base::parent(module->path()) != folder) continue;
        if (base::file_name(module->path()).rfind(stem + "_", 0) != 0) continue;
        if (std::find(found.begin(), found.end(), module) == found.end()) found.push_back(module);
      }
    }
  }
  return found;
}

model::AuditedOp audit_triton(ModuleSet& modules, const std::string& name, const std::vector<const Module*>& own) {
  model::AuditedOp op;
  op.op = name;
  op.language = "triton";
  KernelCatalog catalog(modules);
  std::vector<Launch> launches;
  for (const Module* module : own) {
    op.files.push_back({module->path(), sha256_hex(module->bytes()), count_lines(module->bytes())});
    read_problems(*module, op);
    std::vector<std::pair<int, model::KernelFact>> kernels;
    for (int i = 0; i < static_cast<int>(module->functions().size()); ++i) {
      if (is_jit(*module, module->functions()[static_cast<std::size_t>(i)]))
        op.jit_kernels.push_back(catalog.facts({module, i}));
    }
    append(launches, read_launches(modules, catalog, *module));
    append(op.indirect_launches, read_indirect_launches(modules, *module, own));
    append(op.autograd_functions, read_autograd_functions(*module));
    append(op.todo_comments, read_todo_comments(*module));
    append(op.commented_out_autotune, read_commented_autotune(*module));
  }
  for (const Launch& launch : launches) op.launches.push_back(launch.fact);
  op.in_place = read_in_place(modules, catalog, own, launches, op.autograd_functions);
  op.row_mode = read_row_mode(own, op.jit_kernels, op.launches, op.todo_comments);
  read_tier(modules, catalog, own, launches, op);
  for (const Launch& launch : launches)
    op.launched.push_back(launch.kernel ? catalog.facts(launch.kernel) : model::KernelFact{});
  return op;
}

}  // namespace hone::source
