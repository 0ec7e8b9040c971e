// Every rewrite on every operation of the pinned liger-kernel package: applies where the table says and nowhere else, and
// what it gives is the original but for its spans, parses, and audits to the launches it should have.
//
// With HONE_VARIANTS_DIR set, the variants are also written there, for checks that run them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/files.hpp"
#include "source/audit.hpp"
#include "source/triton/rewrite/rewrite.hpp"
#include "tests/source/triton/rewrite_requests.hpp"

namespace {

namespace fs = std::filesystem;
namespace rewrite = hone::source::rewrite;

const fs::path kOps = fs::path(HONE_SOURCE_DIR) / ".deps/liger-kernel/liger_kernel/ops";

using hone::tests::TableRow;

std::vector<TableRow> table() { return hone::tests::rewrite_table(); }

std::string read_text(const std::string& path) {
  hone::base::SystemFiles files;
  return files.read(path).value();
}

std::string path_of(const std::string& op) { return (kOps / (op + ".py")).string(); }

// Lines of `before` that are not in `after`, and lines that `after` adds, by the longest common run of lines.
std::pair<int, int> changed_lines(const std::string& before, const std::string& after) {
  const std::vector<std::string> a = hone::tests::split(before, '\n'), b = hone::tests::split(after, '\n');
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1, 0));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;)
      common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  }
  return {static_cast<int>(a.size()) - common[0][0], static_cast<int>(b.size()) - common[0][0]};
}

int comment_lines(const std::string& text) {
  int count = 0;
  for (const std::string& line : hone::tests::split(text, '\n')) {
    const std::size_t first = line.find_first_not_of(" \t");
    count += first != std::string::npos && line[first] == '#' ? 1 : 0;
  }
  return count;
}

// What must stay: kernels, autograd functions with their parameters, host functions by which others call.
std::string public_face(const hone::model::AuditedOp& op) {
  std::string face;
  for (const auto& kernel : op.jit_kernels) face += "kernel " + kernel.name + "\n";
  for (const auto& function : op.autograd_functions) {
    face += "function " + function.name;
    for (const auto* method : {&function.forward, &function.backward}) {
      if (!*method) continue;
      face += " (";
      for (const auto& parameter : (*method)->params)
        face += parameter.name + "=" + parameter.default_value.value_or("") + ",";
      face += ")";
    }
    face += "\n";
  }
  return face;
}

const hone::model::KernelFact& kernel_named(const hone::model::AuditedOp& op, const std::string& name) {
  for (const auto& kernel : op.jit_kernels) {
    if (kernel.name == name) return kernel;
  }
  static const hone::model::KernelFact none;
  ADD_FAILURE() << "no kernel " << name;
  return none;
}

int hints(const hone::model::KernelFact& kernel, const std::string& value) {
  return static_cast<int>(std::count_if(kernel.cache_hints.begin(), kernel.cache_hints.end(),
                                        [&](const auto& hint) { return hint.value == value; }));
}

int loops_with(const hone::model::KernelFact& kernel, const std::string& text) {
  return static_cast<int>(std::count_if(kernel.loops.begin(), kernel.loops.end(),
                                        [&](const auto& loop) { return loop.iter.find(text) != std::string::npos; }));
}

// The fact that a rewrite is for, in the audit of what it gave. `before` is the original.
void expect_intended_facts(const rewrite::Request& request, const rewrite::Site& site,
                           const hone::model::AuditedOp& before, const hone::model::AuditedOp& after) {
  const auto launches = [&](const auto& holds) {
    bool any = false;
    for (const auto& launch : after.launches) {
      if (launch.kernel != site.kernel || launch.in_function != site.function) continue;
      any = true;
      EXPECT_TRUE(holds(launch)) << site.kernel << " at line " << launch.line;
    }
    EXPECT_TRUE(any) << site.kernel << " in " << site.function;
  };
  if (request.rewrite == "programs-per-sm") {
    launches([](const auto& launch) { return launch.grid_resolved.find("n_programs") != std::string::npos; });
    return;
  }
  if (request.rewrite == "settings-function") {
    if (request.pass != rewrite::Pass::any && request.pass != site.pass) return;
    launches([](const auto& launch) { return launch.num_warps.source == "heuristic-helper"; });
    return;
  }
  if (request.rewrite == "partial-sum") {
    EXPECT_EQ(after.launches.size(), before.launches.size() + 1);
    EXPECT_EQ(after.jit_kernels.size(), before.jit_kernels.size() + 1);
    return;
  }
  const auto &kernel = kernel_named(after, site.kernel), &original = kernel_named(before, site.kernel);
  if (request.rewrite == "block-row") {
    EXPECT_NE(std::find(kernel.constexpr_params.begin(), kernel.constexpr_params.end(), "BLOCK_ROW"),
              kernel.constexpr_params.end());
    for (const auto& reduction : kernel.reductions)
      EXPECT_TRUE(reduction.axis == "1" || reduction.axis == "positional:1") << reduction.text;
    EXPECT_EQ(kernel.load_lines.size(), original.load_lines.size());
    EXPECT_TRUE(std::all_of(kernel.accesses.begin(), kernel.accesses.end(),
                            [](const auto& a) { return a.masked || !a.store; }));
  } else if (request.rewrite == "cache-policy") {
    int more = 0;
    for (const auto& [knob, value] : request.values) more += hints(kernel, value) - hints(original, value);
    EXPECT_GT(more, 0) << site.kernel;
  } else if (request.rewrite == "loop-stages") {
    EXPECT_GT(loops_with(kernel, "num_stages=" + request.values.at("num_stages")), 0);
    EXPECT_EQ(kernel.loops.size(), original.loops.size());
  } else if (request.rewrite == "loop-unrolling") {
    EXPECT_GT(loops_with(kernel, "loop_unroll_factor=") + loops_with(kernel, "static_range"), 0);
  } else if (request.rewrite == "shared-math") {
    EXPECT_LT(kernel.precision_ops.size(), original.precision_ops.size());
  } else if (request.rewrite == "wide-offsets") {
    EXPECT_FALSE(original.int32_offset_lines.empty());
    EXPECT_TRUE(kernel.int32_offset_lines.empty()) << site.kernel;
  } else {
    ADD_FAILURE() << "no fact is checked for " << request.rewrite;
  }
}

class LigerRewrites : public ::testing::TestWithParam<TableRow> {};

TEST_P(LigerRewrites, keep_everything_but_their_spans) {
  const TableRow& row = GetParam();
  hone::base::SystemFiles files;
  const std::string path = path_of(row.op), text = read_text(path);
  std::vector<rewrite::Request> requests;
  for (const std::string& ask : row.asks) requests.push_back(hone::tests::request_from(ask));
  const auto variant = rewrite::compose(files, path, text, requests, "A variant.");
  ASSERT_TRUE(variant.ok()) << variant.error().expected << ", found: " << variant.error().found;
  EXPECT_TRUE(variant->facts.problems.empty());
  EXPECT_FALSE(variant->touched.empty());
  EXPECT_NE(variant->text, text);
  const hone::model::AuditedOp before = hone::source::audit_text(files, path, text);
  std::string face = public_face(variant->facts);
  const std::string added_kernel = "kernel _sum_rows_kernel\n";  // of partial-sum
  if (const auto at = face.find(added_kernel); at != std::string::npos) face.erase(at, added_kernel.size());
  EXPECT_EQ(face, public_face(before));
  const auto [gone, added] = changed_lines(text, variant->text);
  EXPECT_GT(added, 2);  // the header at least
  // Each place changes a few lines; a rewrite of row shapes those of a kernel.
  const bool shapes = row.asks.front().rfind("block-row", 0) == 0;
  EXPECT_LE(gone, static_cast<int>(variant->touched.size()) * (shapes ? 24 : 8))
      << "more of the original than its places";
  EXPECT_GE(comment_lines(variant->text), comment_lines(text)) << "comments are kept";
  for (const rewrite::Site& site : variant->touched) {
    for (const rewrite::Request& request : requests) {
      const bool alone = requests.size() == 1;
      if (alone) expect_intended_facts(request, site, before, variant->facts);
    }
  }
  EXPECT_EQ(variant->text.rfind("# A variant.\n# What differs from the original", 0), 0u);
  EXPECT_EQ(variant->text.find("triton.autotune(") == std::string::npos,
            text.find("triton.autotune(") == std::string::npos);
  if (const char* folder = std::getenv("HONE_VARIANTS_DIR")) {
    static std::map<std::string, int> numbers;
    std::string name = row.op;
    std::replace(name.begin(), name.end(), '/', '.');
    std::ofstream out(
        fs::path(folder) / (name + "__" + std::to_string(numbers[name]++) + "__" + requests.front().rewrite + ".py"),
        std::ios::binary);
    out << variant->text;
  }
}

std::string row_name(const ::testing::TestParamInfo<TableRow>& info) {
  std::string name = info.param.op + "_" + info.param.asks.front() + "_" + std::to_string(info.index);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Table, LigerRewrites, ::testing::ValuesIn(table()), row_name);

// The survey of every operation: the same places as the table, a reason everywhere else.
TEST(LigerSurvey, applies_where_the_table_says_and_gives_a_reason_elsewhere) {
  hone::base::SystemFiles files;
  std::map<std::string, std::set<std::string>> stated;  // op -> rewrites
  for (const TableRow& row : table()) {
    for (const std::string& ask : row.asks) stated[row.op].insert(hone::tests::request_from(ask).rewrite);
  }
  std::vector<std::string> ops;
  for (const auto& folder : {kOps, kOps / "experimental"}) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string stem = entry.path().stem().string();
      if (entry.path().extension() == ".py" && stem != "__init__")
        ops.push_back(folder == kOps ? stem : "experimental/" + stem);
    }
  }
  ASSERT_GE(ops.size(), 33u);
  std::sort(ops.begin(), ops.end());
  std::string report;
  for (const std::string& op : ops) {
    for (const rewrite::Finding& finding : rewrite::survey(files, path_of(op), read_text(path_of(op)))) {
      const bool applies = !finding.sites.empty();
      EXPECT_EQ(applies, stated[op].count(finding.rewrite->name) > 0)
          << op << ", " << finding.rewrite->name << ": " << finding.reason;
      EXPECT_NE(applies, !finding.reason.empty()) << op << ", " << finding.rewrite->name;
      report += op + " " + finding.rewrite->name + ": " +
                (applies ? std::to_string(finding.sites.size()) + " places" : finding.reason) + "\n";
    }
  }
  if (const char* folder = std::getenv("HONE_VARIANTS_DIR")) std::ofstream(fs::path(folder) / "survey.txt") << report;
}

}  // namespace
