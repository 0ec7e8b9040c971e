#include "repository/liger/operators.hpp"

#include <algorithm>

namespace hone::repository::liger {

namespace {

constexpr double kFloat = 4;  // statistics and partial results are kept in float32

double cells(const Shape& s) { return static_cast<double>(s.at("rows")) * static_cast<double>(s.at("columns")); }
double rows(const Shape& s) { return static_cast<double>(s.at("rows")); }
double columns(const Shape& s) { return static_cast<double>(s.at("columns")); }

bool forward(const std::string& pass) { return pass == "forward"; }

// y = x / rms(x) * w, one statistic a row; backward reads both and writes dx, dw.
Traffic rms_norm(const std::string& pass, const Shape& s, double e) {
  if (forward(pass)) return {e * (cells(s) + columns(s)), e * cells(s) + kFloat * rows(s), 4 * cells(s)};
  return {e * (2 * cells(s) + columns(s)) + kFloat * rows(s), e * (cells(s) + columns(s)), 9 * cells(s)};
}
Traffic layer_norm(const std::string& pass, const Shape& s, double e) {
  if (forward(pass)) return {e * (cells(s) + 2 * columns(s)), e * (cells(s) + 2 * rows(s)), 7 * cells(s)};
  return {e * (2 * cells(s) + columns(s) + 2 * rows(s)), e * (cells(s) + 2 * columns(s)), 13 * cells(s)};
}
Traffic fused_add_rms_norm(const std::string& pass, const Shape& s, double e) {
  if (forward(pass)) return {e * (2 * cells(s) + columns(s)), 2 * e * cells(s) + kFloat * rows(s), 5 * cells(s)};
  return {e * (3 * cells(s) + columns(s)) + kFloat * rows(s), e * (cells(s) + columns(s)), 10 * cells(s)};
}
Traffic modulated_rms_norm(const std::string& pass, const Shape& s, double e) {
  Traffic t = rms_norm(pass, s, e);
  t.bytes_read += 2 * e * columns(s);
  if (!forward(pass)) t.bytes_written += 2 * e * columns(s);
  t.flops += 2 * cells(s);
  return t;
}
Traffic poly_norm(const std::string& pass, const Shape& s, double e) {
  if (forward(pass)) return {e * cells(s), e * cells(s) + 3 * kFloat * rows(s), 16 * cells(s)};
  return {2 * e * cells(s) + 3 * kFloat * rows(s), e * cells(s), 32 * cells(s)};
}
Traffic dyt(const std::string& pass, const Shape& s, double e) {
  if (forward(pass)) return {e * (cells(s) + 2 * columns(s)), e * cells(s), 12 * cells(s)};
  return {e * (2 * cells(s) + columns(s)), e * (cells(s) + 2 * columns(s)), 20 * cells(s)};
}
Traffic gated(const std::string& pass, const Shape& s, double e) {
  if (forward(pass)) return {2 * e * cells(s), e * cells(s), 10 * cells(s)};
  return {3 * e * cells(s), 2 * e * cells(s), 20 * cells(s)};
}
Traffic element_wise(const std::string& pass, const Shape& s, double e) {
  if (forward(pass)) return {e * cells(s), e * cells(s), 2 * cells(s)};
  return {2 * e * cells(s), e * cells(s), 3 * cells(s)};
}
Traffic softmax(const std::string& pass, const Shape& s, double e) {
  if (forward(pass)) return {e * cells(s), e * cells(s), 8 * cells(s)};
  return {2 * e * cells(s), e * cells(s), 4 * cells(s)};
}
// The gradient takes the logits' place in forward; backward has nothing to do where the loss is the last layer.
Traffic cross_entropy(const std::string&, const Shape& s, double e) {
  return {e * cells(s) + 8 * rows(s), e * cells(s), 10 * cells(s)};
}
Traffic divergence(const std::string& pass, const Shape& s, double e) {
  if (forward(pass)) return {2 * e * cells(s), e * cells(s), 16 * cells(s)};
  return {0, 0, 0};
}
Traffic kl_div(const std::string& pass, const Shape& s, double e) {
  if (forward(pass)) return {2 * e * cells(s), kFloat * rows(s), 10 * cells(s)};
  return {e * cells(s), e * cells(s), 2 * cells(s)};
}
Traffic fused_linear_cross_entropy(const std::string&, const Shape& s, double e) {
  const double h = static_cast<double>(s.at("hidden"));
  const double operands = e * (rows(s) * h + columns(s) * h);
  return {operands, operands, 6 * rows(s) * columns(s) * h};
}
Traffic fused_linear_jsd(const std::string&, const Shape& s, double e) {
  const double h = static_cast<double>(s.at("hidden")), student = e * (rows(s) + columns(s)) * h / 2,
               teacher = 2 * student;
  return {student + teacher, student, (6 * h / 2 + 2 * h) * rows(s) * columns(s)};
}
Traffic group_norm(const std::string& pass, const Shape& s, double e) {
  const double n = cells(s) * static_cast<double>(s.at("batch"));
  if (forward(pass)) return {e * n, e * n, 8 * n};
  return {2 * e * n, e * n, 13 * n};
}
Traffic rope(const std::string&, const Shape& s, double e) {
  const double n = cells(s) * 1.25;  // a key head for four query heads
  return {e * (n + 2 * rows(s) * 128), e * n, 4 * n};
}
Traffic grpo_loss(const std::string& pass, const Shape& s, double e) {
  const double n = cells(s) * static_cast<double>(s.at("batch"));
  if (forward(pass)) return {e * n, 3 * kFloat * n / columns(s), 6 * n};
  return {e * n, e * n, 5 * n};
}
Traffic embedding(const std::string& pass, const Shape& s, double e) {
  if (forward(pass)) return {e * cells(s) + 8 * rows(s), e * cells(s), 0};
  const double table = e * static_cast<double>(s.at("vocabulary")) * columns(s);
  return {e * cells(s) + 8 * rows(s), table, cells(s)};
}

const std::vector<std::string> kBoth = {"forward", "backward", "full"}, kOne = {"forward", "full"};
const std::vector<std::int64_t> kHidden = {1024, 2048, 4096, 8192, 16384}, kIntermediate = {4096, 8192, 14336},
                                kVocabulary = {32000, 128256, 152064};
constexpr std::int64_t kTokens = 16384, kLossTokens = 4096;

}  // namespace

Shape OperatorFacts::at(std::int64_t x, std::int64_t rows_asked) const {
  Shape shape = others;
  shape["columns"] = x;
  if (rows_asked > 0) shape["rows"] = rows_asked;
  return shape;
}

const std::vector<OperatorFacts>& operators() {
  const std::map<std::string, std::string> casting = {{"casting_mode", "llama"}, {"in_place", "true"}};
  const std::map<std::string, std::vector<std::string>> casts = {{"casting_mode", {"llama", "gemma", "none"}},
                                                                 {"in_place", {"true", "false"}}};
  static const std::vector<OperatorFacts> table = {
      {"rms_norm", "hidden_size", kHidden, {{"rows", kTokens}}, kBoth, casting, casts, rms_norm},
      {"layer_norm", "hidden_size", kHidden, {{"rows", kTokens}}, kBoth, {}, {}, layer_norm},
      {"fused_add_rms_norm", "hidden_size", kHidden, {{"rows", kTokens}}, kBoth, casting, casts, fused_add_rms_norm},
      {"modulated_rms_norm", "hidden_size", kHidden, {{"rows", kTokens}}, kBoth, {}, {}, modulated_rms_norm},
      {"poly_norm", "hidden_size", kHidden, {{"rows", kTokens}}, kBoth, {}, {}, poly_norm},
      {"dyt", "hidden_size", kHidden, {{"rows", kTokens}}, kBoth, {}, {}, dyt},
      {"swiglu", "intermediate_size", kIntermediate, {{"rows", kTokens}}, kBoth, {}, {}, gated},
      {"geglu", "intermediate_size", kIntermediate, {{"rows", kTokens}}, kBoth, {}, {}, gated},
      {"relu_squared", "intermediate_size", kIntermediate, {{"rows", kTokens}}, kBoth, {}, {}, element_wise},
      {"softmax", "columns", kHidden, {{"rows", kTokens}}, kBoth, {}, {}, softmax},
      {"sparsemax", "columns", kHidden, {{"rows", kTokens}}, kBoth, {}, {}, softmax},
      {"cross_entropy", "vocab_size", kVocabulary, {{"rows", kLossTokens}}, kOne, {}, {}, cross_entropy},
      {"fused_linear_cross_entropy",
       "vocab_size",
       {32000, 128256},
       {{"rows", kLossTokens}, {"hidden", 4096}},
       kOne,
       {},
       {},
       fused_linear_cross_entropy},
      {"fused_linear_jsd",
       "vocab_size",
       {32000, 128256},
       {{"rows", 2048}, {"hidden", 4096}},
       kOne,
       {},
       {},
       fused_linear_jsd},
      {"kl_div", "vocab_size", kVocabulary, {{"rows", kLossTokens}}, kBoth, {}, {}, kl_div},
      {"jsd", "vocab_size", {32000, 128256}, {{"rows", kLossTokens}}, kOne, {}, {}, divergence},
      {"tvd", "vocab_size", kVocabulary, {{"rows", kLossTokens}}, kOne, {}, {}, divergence},
      {"group_norm", "channels", {32, 64, 128}, {{"rows", 4096}, {"batch", 64}}, kBoth, {}, {}, group_norm},
      {"rope", "hidden_size", {2048, 4096, 8192}, {{"rows", 8192}}, kBoth, {}, {}, rope},
      {"grpo_loss", "vocab_size", {32000, 128256}, {{"rows", 1024}, {"batch", 8}}, kBoth, {}, {}, grpo_loss},
      {"embedding", "hidden_size", {1024, 4096}, {{"rows", kTokens}, {"vocabulary", 128256}}, kBoth, {}, {}, embedding},
  };
  return table;
}

const OperatorFacts* find_operator(const std::string& op) {
  const auto& all = operators();
  const auto found = std::find_if(all.begin(), all.end(), [&](const OperatorFacts& facts) { return facts.op == op; });
  return found == all.end() ? nullptr : &*found;
}

std::vector<Shape> gate_shapes(const OperatorFacts& facts, bool wide, bool interpreted) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs = {{5, 127}, {3, 1000}};
  if (wide) pairs = {{1, 1}, {1, 31}, {7, 64}, {5, 127}, {13, 1000}, {3, 1025}, {2, 4096}};
  if (wide && !interpreted)
    pairs.insert(pairs.end(), {{1031, 1024}, {4099, 4096}, {257, 8191}, {3, 16384}, {2, 40000}});
  if (interpreted && !wide) pairs = {{3, 127}};
  std::vector<Shape> shapes;
  for (auto [rows_of, columns_of] : pairs) {
    if (facts.op == "rope") columns_of = 128 * std::max<std::int64_t>(1, columns_of / 128);
    if (facts.op == "group_norm") columns_of = 4 * std::max<std::int64_t>(1, columns_of % 16);
    Shape shape = facts.at(columns_of, rows_of);
    for (auto& [name, extent] : shape)
      if (name == "batch" || name == "vocabulary" || name == "hidden")
        extent = name == "batch" ? 2 : name == "hidden" ? 64 : 101;
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

}  // namespace hone::repository::liger
