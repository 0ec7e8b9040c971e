// Every rewrite of the table on real Liger kernels, through Triton's interpreter on the CPU: outputs and gradients are those
// of the original, and a variant with one mistake in it is caught.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "repository/liger/operators.hpp"
#include "repository/python/scripts.hpp"
#include "repository/python/worker.hpp"
#include "source/triton/rewrite/rewrite.hpp"
#include "tests/repository/liger/checkout_copy.hpp"
#include "tests/source/triton/rewrite_requests.hpp"

namespace hone::repository::liger {
namespace {

namespace rewrite = source::rewrite;
using python::CaseSpec;
using python::CheckedTensor;
using python::CheckReply;
using python::Worker;
using tests::TableRow;

std::string leaf(const std::string& op) { return op.substr(op.rfind('/') + 1); }

// Operators of the table that the worker can call, each with its rows.
std::vector<std::string> called_operators() {
  std::vector<std::string> names;
  for (const TableRow& row : tests::rewrite_table()) {
    if (find_operator(leaf(row.op)) != nullptr && std::find(names.begin(), names.end(), row.op) == names.end())
      names.push_back(row.op);
  }
  return names;
}

// What the interpreter can not run as it stands, and why. The texts of these are checked, and compiled where there is a GPU.
const std::set<std::string> kNotInterpreted = {
    "dyt",  // it is autotuned, which times kernels on a device, and asks the device for its multiprocessors
};
// Variants whose change lies in a kernel that no accepted size reaches: softmax over more than 65536 columns is refused.
bool is_out_of_reach(const std::string& op, const std::string& name) {
  return op == "softmax" && (name == "loop-stages" || name == "loop-unrolling");
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  return at == std::string::npos ? "" : text.replace(at, from.size(), to);
}

// The text with one mistake of the kind its rewrite could make: rows left out, a block too small, a turn left out, a store
// lost. Several to try, since not each place is reached by each shape. None reads or writes beyond the tensors.
std::vector<std::string> mistakes(const std::string& name, const std::string& text) {
  std::vector<std::string> found;
  const auto add = [&](const std::string& made) {
    if (!made.empty()) found.push_back(made);
  };
  if (name == "programs-per-sm")
    add(replaced(text, "math.ceil(n_rows / n_programs)", "math.ceil(n_rows / (2 * n_programs))"));
  if (name == "settings-function")
    add(replaced(text, "    BLOCK_SIZE, num_warps = calculate_settings(n)\n",
                 "    BLOCK_SIZE, num_warps = calculate_settings(n)\n    BLOCK_SIZE //= 4\n"));
  if (name == "partial-sum") add(replaced(text, "range(0, n_rows, BLOCK_ROWS)", "range(1, n_rows, BLOCK_ROWS)"));
  if (name == "wide-offsets") add(replaced(text, ".to(tl.int64)", ".to(tl.int64) * 0"));
  if (name == "shared-math") add(replaced(text, "shared_1 = ", "shared_1 = 1.5 * "));
  std::size_t start = 0;
  for (const std::string& line : tests::split(text, '\n')) {
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    std::string changed;
    if (name == "cache-policy" && line.find("tl.store(") == indent && line.find(".cs\")") != std::string::npos)
      changed = line.substr(0, indent) + "pass";
    if (name == "block-row" && line.find("row_mask") == indent) changed = line + " - 1";
    const bool loop =
        line.find("num_stages=") != std::string::npos || line.find("loop_unroll_factor=") != std::string::npos;
    if (name.rfind("loop-", 0) == 0 && loop) changed = replaced(line, ", ", " + 1, ");
    if (!changed.empty()) found.push_back(text.substr(0, start) + changed + text.substr(start + line.size()));
    start += line.size() + 1;
  }
  return found;
}

class RewrittenOperator : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (python_with_triton().empty())
      GTEST_SKIP() << "no python with torch and triton: tools/fetch_python.sh installs it";
    ASSERT_TRUE(copy.complete()) << "the liger-kernel sources are fetched by ./dev";
    folder = copy.scratch() + "/rewrites";
    ASSERT_TRUE(files.create_directories(folder));
    ASSERT_TRUE(python::unpack(files, python::scripts(), folder + "/worker"));
    op = GetParam();
    path = copy.path() + "/src/liger_kernel/ops/" + op + ".py";
    text = files.read(path).value();
    start();
  }

  void start() {
    worker.reset();
    python::WorkerSetup setup;
    setup.python = python_with_triton();
    setup.script = folder + "/worker/hone_worker.py";
    setup.device = "cpu";
    setup.source = copy.path() + "/src";
    setup.description = find_operator(leaf(op));
    setup.module = "liger_kernel.ops." + op;
    std::replace(setup.module.begin(), setup.module.end(), '/', '.');
    auto started = Worker::start(processes, setup);
    ASSERT_TRUE(started) << started.error().found;
    worker = std::move(*started);
    ASSERT_TRUE(worker->load("v0", ""));
  }

  // Nothing where the process did not survive it.
  std::optional<CheckReply> check(const std::string& variant, const CaseSpec& spec) {
    const std::string name = "v" + std::to_string(++number), file = folder + "/" + name + ".py";
    EXPECT_TRUE(files.write_atomically(file, variant));
    if (!worker->load(name, file)) return std::nullopt;
    auto reply = worker->check("v0", name, spec);
    if (!reply) return std::nullopt;
    (void)worker->unload(name);
    return std::move(*reply);
  }

  std::vector<CaseSpec> specs() const {
    std::vector<CaseSpec> all;
    const auto description = find_operator(leaf(op));
    for (python::Shape shape : description->gate_shapes(false, true)) {
      shape["rows"] = leaf(op) == "embedding" ? 131 : 7;   // more than a block of rows, and no multiple of one
      if (leaf(op) == "group_norm") shape["columns"] = 8;  // 60 channels take a minute here
      all.push_back(description->case_of(shape, "fp32", description->default_options(), 3).value());
    }
    return all;
  }

  // Identical, or for sums in another order no further from the formula in double precision than rounding.
  static std::string difference(const CheckReply& reply, bool same_order) {
    if (!reply.candidate_refused.empty()) return "it is refused: " + reply.candidate_refused;
    if (!reply.changed_inputs.empty()) return "it changes " + reply.changed_inputs.front();
    if (!reply.missing.empty()) return "it lacks " + reply.missing.front();
    for (const CheckedTensor& tensor : reply.tensors) {
      if (!tensor.same_form) return tensor.name + " has another form";
      if (tensor.candidate.non_finite > tensor.original.non_finite)
        return tensor.name + " has elements that are not finite";
      const double allowed = 4 * tensor.original.norm_error + 1e-6;
      if (!(tensor.candidate.norm_error <= allowed))
        return tensor.name + " is off by " + std::to_string(tensor.candidate.norm_error);
      if (same_order && !tensor.identical) return tensor.name + " is not identical";
    }
    return reply.tensors.empty() ? "nothing was compared" : "";
  }

  CheckoutCopy copy;
  base::SystemFiles files;
  base::SystemProcesses processes;
  std::unique_ptr<Worker> worker;
  std::string folder, op, path, text;
  int number = 0;
};

TEST_P(RewrittenOperator, GivesWhatTheOriginalGivesAndAMistakeIsCaught) {
  const std::vector<CaseSpec> shapes = specs();
  std::set<std::string> caught, tried;
  for (const TableRow& row : tests::rewrite_table()) {
    if (row.op != op) continue;
    std::vector<rewrite::Request> requests;
    bool same_order = true;
    for (const std::string& ask : row.asks) {
      requests.push_back(tests::request_from(ask));
      same_order =
          same_order && requests.back().rewrite != "programs-per-sm" && requests.back().rewrite != "partial-sum";
    }
    auto variant = rewrite::compose(files, path, text, requests, "A variant.");
    ASSERT_TRUE(variant) << row.asks.front() << ": " << variant.error().found;
    for (const CaseSpec& spec : shapes) {
      const auto reply = check(variant->text, spec);
      ASSERT_TRUE(reply.has_value()) << row.asks.front() << " ends the worker";
      if (!reply->original_refused.empty()) {
        ASSERT_TRUE(kNotInterpreted.count(leaf(op)) > 0) << reply->original_refused;
        GTEST_SKIP() << op << " does not run in the interpreter: " << reply->original_refused;
      }
      EXPECT_EQ(difference(*reply, same_order), "") << op << ", " << row.asks.front();
    }
    const std::string& name = requests.front().rewrite;
    tried.insert(name);
    if (caught.count(name) > 0) continue;
    const std::vector<std::string> wrong = mistakes(name, variant->text);
    EXPECT_FALSE(wrong.empty()) << name << ": no mistake to make";
    for (const std::string& each : wrong) {
      const auto reply = check(each, shapes.front());
      if (!reply) start();  // it did not survive: caught too
      if (!reply || !difference(*reply, same_order).empty()) caught.insert(name);
      if (caught.count(name) > 0) break;
    }
    EXPECT_NE(caught.count(name) > 0, is_out_of_reach(op, name)) << op << ", " << name;
  }
  EXPECT_FALSE(tried.empty());
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Liger, RewrittenOperator, testing::ValuesIn(called_operators()), name_of);

}  // namespace
}  // namespace hone::repository::liger
