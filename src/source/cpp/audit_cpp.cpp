#include "source/cpp/audit_cpp.hpp"

#include <algorithm>
#include <set>

#include "base/files.hpp"
#include "source/cpp/element_accesses.hpp"
#include "source/cpp/preprocessor.hpp"
#include "source/cpp/unknown_tokens.hpp"
#include "source/open_tasks.hpp"
#include "source/sha256.hpp"
#include "source/source_text.hpp"
#include "source/syntax/tree.hpp"
#include "source/triton/module/python.hpp"

namespace hone::source {

namespace {

constexpr std::size_t kMostProblems = 20;

class CppReader {
 public:
  CppReader(std::string path, const std::string& text, ClusterDimensions clusters, CppLanguage language)
      : path_(std::move(path)), language_(language), clusters_(std::move(clusters)) {
    op_.language = language == CppLanguage::cuda ? "cuda" : "c++";
    op_.op = base::file_name(path_);
    op_.op = op_.op.substr(0, op_.op.rfind('.'));
    op_.files.push_back({path_, sha256_hex(text), count_lines(text)});
  }

  model::AuditedOp read(const SyntaxTree& tree) {
    names_ = defined_names(tree.root());
    std::size_t problems = 0;
    std::uint32_t skip_until = 0;
    for (Node node : tree.root().descendants()) {
      if ((node.is(Kind::error) || node.missing()) && node.start() >= skip_until && problems < kMostProblems) {
        ++problems;
        skip_until = node.end();
        op_.problems.push_back(
            {path_, node.line(), 0, "not understood: " + collapse_white_space(to_utf8(node.text().substr(0, 80)))});
      }
      if (node.is(Kind::function_definition)) read_function(node);
      if (node.is(Kind::call_expression)) read_launch(node);
      if (node.is(Kind::comment)) read_comment(node);
    }
    for (model::CudaLaunchFact& launch : op_.cuda_launches) {
      launch.kernel_is_known = std::any_of(op_.cpp_kernels.begin(), op_.cpp_kernels.end(),
                                           [&](const auto& k) { return k.name == launch.kernel; });
    }
    return std::move(op_);
  }

 private:
  static Node declarator_of(Node node) {
    Node at = node.child(Field::declarator);
    while (at && !at.is(Kind::function_declarator)) {
      const Node inner = at.child(Field::declarator);
      at = inner ? inner : at.first_named_child();
    }
    return at;
  }

  void read_function(Node definition) {
    bool global = false;
    model::CppKernelFact kernel;
    const Node declarator = declarator_of(definition);
    for (Node child : definition.all_children()) {
      if (child == declarator || child.is(Kind::compound_statement)) break;
      if (child.is(Kind::cuda_global) || child.text() == "__global__") global = true;
      if (child.is(Kind::launch_bounds)) {
        for (Node bound : child.children()) kernel.launch_bounds.push_back(text_of(bound));
      }
    }
    const bool cuda = language_ == CppLanguage::cuda;
    if (global != cuda || !declarator) return;
    kernel.name = text_of(cpp_name_of(declarator.child(Field::declarator)));
    kernel.file = path_;
    kernel.line = declarator.line();
    kernel.end_line = definition.end_line();
    if (definition.parent().is(Kind::template_declaration))
      kernel.template_parameters = text_of(definition.parent().child(Field::parameters));
    for (const auto& [line, dimensions] : clusters_) {
      if (line >= definition.line() && line <= declarator.line()) kernel.cluster_dims = dimensions;
    }
    for (Node parameter : declarator.child(Field::parameters).children()) read_parameter(parameter, kernel);
    read_body(definition.child(Field::body), kernel);
    read_element_accesses(definition, language_, names_, kernel);
    const bool walks = std::any_of(kernel.accesses.begin(), kernel.accesses.end(),
                                   [](const model::ElementAccess& access) { return access.loop_depth > 0; });
    if (cuda || walks) op_.cpp_kernels.push_back(std::move(kernel));
  }

  static void read_parameter(Node parameter, model::CppKernelFact& kernel) {
    if (!parameter.is(Kind::parameter_declaration) && !parameter.is(Kind::optional_parameter_declaration)) return;
    model::CppParameter fact;
    fact.type = text_of(parameter.child(Field::type));
    fact.name = text_of(cpp_name_of(parameter.child(Field::declarator)));
    for (Node node : parameter.descendants()) {
      if (node.is(Kind::pointer_declarator) || node.is(Kind::array_declarator)) fact.pointer = true;
      const std::string_view text = node.text();
      if (node.is(Kind::type_qualifier) && text == "const") fact.is_const = true;
      if (text == "__restrict__" || text == "__restrict" || text == "restrict") fact.restricted = true;
    }
    kernel.params.push_back(std::move(fact));
  }

  static bool is_vector_type(const std::string& name) {
    static const std::set<std::string> bases = {"char", "uchar",  "short",         "ushort",      "int",     "uint",
                                                "long", "ulong",  "longlong",      "ulonglong",   "float",   "double",
                                                "half", "__half", "__nv_bfloat16", "nv_bfloat16", "bfloat16"};
    if (name.rfind("__m128", 0) == 0 || name.rfind("__m256", 0) == 0 || name.rfind("__m512", 0) == 0) return true;
    if (name == "half2" || name == "__half2" || name == "__nv_bfloat162" || name == "nv_bfloat162") return true;
    if (name.size() < 2 || (name.back() != '2' && name.back() != '3' && name.back() != '4')) return false;
    return bases.count(name.substr(0, name.size() - 1)) > 0;
  }

  void read_body(Node body, model::CppKernelFact& kernel) {
    std::set<std::string> vectors;
    for (Node node : body.descendants()) {
      switch (node.kind()) {
        case Kind::declaration: read_declaration(node, kernel); break;
        case Kind::type_identifier:
          if (const std::string name(node.text()); is_vector_type(name) && vectors.insert(name).second)
            kernel.vector_types.push_back(name);
          break;
        case Kind::for_statement:
        case Kind::while_statement:
        case Kind::do_statement:
        case Kind::for_range_loop: read_loop(node, body, kernel); break;
        case Kind::preproc_call: read_pragma(node, kernel); break;
        case Kind::call_expression: read_call(node, kernel); break;
        default: break;
      }
    }
    for (const model::CppParameter& parameter : kernel.params) {
      if (is_vector_type(parameter.type) && vectors.insert(parameter.type).second)
        kernel.vector_types.push_back(parameter.type);
    }
  }

  static void read_declaration(Node declaration, model::CppKernelFact& kernel) {
    bool shared = false, external = false;
    for (Node child : declaration.all_children()) {
      if (child.text() == "__shared__") shared = true;
      if (child.text() == "extern") external = true;
    }
    if (!shared) return;
    for (Node child : declaration.children()) {
      if (child.field() != Field::declarator) continue;
      model::CudaSharedArray array;
      array.type = text_of(declaration.child(Field::type));
      array.name = text_of(cpp_name_of(child));
      array.line = child.line();
      array.dynamic = external;
      std::vector<std::string> extents;
      for (Node at = child; at; at = at.child(Field::declarator)) {
        if (at.is(Kind::array_declarator)) extents.push_back("[" + text_of(at.child(Field::size)) + "]");
      }
      for (auto extent = extents.rbegin(); extent != extents.rend(); ++extent) array.extent += *extent;
      kernel.shared_arrays.push_back(std::move(array));
    }
  }

  static void read_loop(Node loop, Node body, model::CppKernelFact& kernel) {
    model::LoopFact fact;
    fact.line = loop.line();
    fact.stmt = loop.is(Kind::for_statement) || loop.is(Kind::for_range_loop) ? "for"
                : loop.is(Kind::do_statement)                                 ? "do"
                                                                              : "while";
    fact.kind = fact.stmt;
    for (Node at = loop.parent(); at && !(at == body); at = at.parent()) {
      if (at.is(Kind::for_statement) || at.is(Kind::while_statement) || at.is(Kind::do_statement) ||
          at.is(Kind::for_range_loop))
        ++fact.depth;
    }
    if (loop.is(Kind::for_statement)) {
      std::string header = text_of(loop.child(Field::initializer));
      if (header.empty() || header.back() != ';') header += ';';
      fact.iter = header + " " + text_of(loop.child(Field::condition)) + "; " + text_of(loop.child(Field::update));
    } else {
      fact.iter = text_of(loop.child(Field::condition));
    }
    kernel.loops.push_back(std::move(fact));
  }

  static void read_pragma(Node node, model::CppKernelFact& kernel) {
    const std::string text = text_of(node);
    const std::size_t at = text.find("unroll");
    if (text.rfind("#pragma", 0) != 0 || at == std::string::npos) return;
    std::string factor = text.substr(at + 6);
    factor.erase(std::remove_if(factor.begin(), factor.end(), [](char c) { return c == ' ' || c == '(' || c == ')'; }),
                 factor.end());
    kernel.unroll_pragmas.emplace_back(std::to_string(node.line()), factor);
  }

  static void read_call(Node call, model::CppKernelFact& kernel) {
    Node callee = call.child(Field::function);
    if (callee.is(Kind::template_function)) callee = callee.child(Field::name);
    const std::string name = text_of(callee);
    const std::string last = name.substr(name.rfind(':') == std::string::npos ? 0 : name.rfind(':') + 1);
    if (last == "__syncthreads" || last == "__syncwarp" || name == "block.sync" || last == "__syncthreads_or" ||
        last == "__syncthreads_and" || last == "__syncthreads_count") {
      kernel.barrier_lines.push_back(call.line());
    } else if (last.rfind("atomic", 0) == 0 && last.size() > 6) {
      kernel.atomics.push_back({call.line(), last, {}});
    } else if (last == "__ldg" || last.rfind("__ld", 0) == 0 || last.rfind("__st", 0) == 0 ||
               last.rfind("__shfl", 0) == 0 || last.rfind("__reduce", 0) == 0 ||
               last.find("mma") != std::string::npos || last.find("memcpy_async") != std::string::npos ||
               last == "__fmaf_rn" || last == "__expf" || last == "rsqrtf" || last == "__frcp_rn" ||
               last.rfind("_mm", 0) == 0 || last == "__builtin_nontemporal_store") {
      kernel.intrinsics.push_back({call.line(), last, name});
    }
  }

  void read_launch(Node call) {
    Node configuration;
    for (Node child : call.children()) {
      if (child.is(Kind::kernel_call_syntax)) configuration = child;
    }
    if (!configuration) return;
    model::CudaLaunchFact launch;
    Node callee = call.child(Field::function);
    launch.kernel = text_of(callee);
    for (Node node : callee.descendants()) {
      if (node.is(Kind::template_argument_list)) launch.template_arguments = text_of(node);
    }
    if (callee.is(Kind::template_function)) launch.kernel = text_of(callee.child(Field::name));
    launch.kernel =
        launch.kernel.substr(launch.kernel.rfind(':') == std::string::npos ? 0 : launch.kernel.rfind(':') + 1);
    launch.file = path_;
    launch.line = call.line();
    std::vector<std::string> parts;
    for (Node part : configuration.children()) parts.push_back(text_of(part));
    parts.resize(std::max<std::size_t>(parts.size(), 4));
    launch.grid = parts[0];
    launch.block = parts[1];
    launch.shared_bytes = parts[2].empty() ? "0" : parts[2];
    launch.stream = parts[3];
    for (Node argument : call.child(Field::arguments).children()) launch.args.push_back(text_of(argument));
    for (Node at = call.parent(); at; at = at.parent()) {
      if (!at.is(Kind::function_definition)) continue;
      launch.in_function = text_of(cpp_name_of(declarator_of(at).child(Field::declarator)));
      break;
    }
    op_.cuda_launches.push_back(std::move(launch));
  }

  void read_comment(Node comment) {
    const std::string_view text = comment.text();
    const std::string tag = open_task_tag(text);
    if (tag.empty()) return;
    const auto at = static_cast<std::ptrdiff_t>(text.find(tag));
    const int line = comment.line() + static_cast<int>(std::count(text.begin(), text.begin() + at, '\n'));
    op_.todo_comments.push_back({path_, line, tag, collapse_white_space(to_utf8(text)), false, false});
  }

  std::string path_;
  CppLanguage language_;
  ClusterDimensions clusters_;
  std::set<std::string> names_;  // that the file defines
  model::AuditedOp op_;
};

}  // namespace

base::Result<model::AuditedOp> audit_cpp(const std::string& path, const std::string& text, CppLanguage language) {
  HONE_PROPAGATE(check_source_text(text, path));
  const std::string code = preprocessed(parseable(text));
  HONE_TRY(tree, parse(Language::cuda, with_unknown_tokens_blanked(code), path));
  // Cluster dimensions are read before they are blanked.
  return CppReader(path, text, language == CppLanguage::cuda ? cluster_dimensions(code) : ClusterDimensions{}, language)
      .read(**tree);
}

}  // namespace hone::source
