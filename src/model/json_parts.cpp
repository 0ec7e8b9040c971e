#include "model/json_parts.hpp"

namespace hone::model {

Json json_of(const Quantiles& q) {
  return Json::object({{"p20", q.p20}, {"p50", q.p50}, {"p80", q.p80}, {"samples", q.samples}});
}

Json json_of(const Settings& settings) {
  Json object = Json::object();
  for (const auto& [name, value] : settings) object.add(name, value);
  return object;
}

Json json_of(const std::vector<std::string>& texts) {
  return Json::list(texts, [](const std::string& text) { return Json(text); });
}

Json json_of(const Comparison& c) {
  const auto samples = [](const std::vector<double>& values) {
    return Json::list(values, [](double value) { return Json(value); });
  };
  return Json::object({{"ratio", c.ratio},
                       {"ci_low", c.ci_low},
                       {"ci_high", c.ci_high},
                       {"verdict", word(c.verdict)},
                       {"baseline_ms", json_of(c.baseline_ms)},
                       {"candidate_ms", json_of(c.candidate_ms)},
                       {"wall_ratio", c.wall_ratio},
                       {"pairs", c.pairs},
                       {"discarded", c.discarded},
                       {"reason", c.reason},
                       {"baseline_samples_ns", samples(c.baseline_samples_ns)},
                       {"candidate_samples_ns", samples(c.candidate_samples_ns)}});
}

Json json_of(const SettingsFunction& function) {
  return Json::object(
      {{"x_name", function.x_name},
       {"reason", function.reason},
       {"worst_slowdown_pct", function.worst_slowdown_pct},
       {"rules", Json::list(function.rules, [](const SettingsRule& rule) {
          return Json::object({{"from_x", rule.from_x}, {"settings", json_of(rule.settings)}, {"reason", rule.reason}});
        })}});
}

Json json_of(const std::map<std::string, SettingsFunction>& by_pass) {
  Json object = Json::object();
  for (const auto& [pass, function] : by_pass) object.add(pass, json_of(function));
  return object;
}

Json json_of(const ResultRow& row) {
  return Json::object({{"x_value", x_value_json(row.x_value)},
                       {"mode", row.mode},
                       {"metric", row.metric},
                       {"unit", row.unit},
                       {"ratio", row.ratio},
                       {"ci_low", row.ci_low},
                       {"ci_high", row.ci_high},
                       {"verdict", word(row.verdict)},
                       {"baseline", json_of(row.baseline)},
                       {"candidate", json_of(row.candidate)}});
}

Json json_of(const GuardrailCheck& check) {
  return Json::object({{"check", check.check},
                       {"threshold", check.threshold},
                       {"interval", check.interval},
                       {"status", check.status},
                       {"detail", check.detail}});
}

Quantiles read_quantiles(const JsonFields& fields) {
  Quantiles q;
  q.p20 = fields.not_negative("p20");
  q.p50 = fields.not_negative("p50");
  q.p80 = fields.not_negative("p80");
  q.samples = fields.count_or("samples", 0);
  if (!(q.p20 <= q.p50 && q.p50 <= q.p80))
    fields.refuse("p50", "quantiles in order, p20 <= p50 <= p80",
                  shortest(q.p20) + ", " + shortest(q.p50) + ", " + shortest(q.p80));
  return q;
}

namespace {

void check_interval(const JsonFields& fields, double ratio, double low, double high) {
  if (!(low <= high))
    fields.refuse("ci_low", "an interval, ci_low <= ci_high", shortest(low) + " to " + shortest(high));
  if (ratio < 0) fields.refuse("ratio", "a ratio of times, not negative", shortest(ratio));
}

}  // namespace

Comparison read_comparison(const JsonFields& fields) {
  Comparison c;
  c.ratio = fields.number("ratio");
  c.ci_low = fields.number("ci_low");
  c.ci_high = fields.number("ci_high");
  check_interval(fields, c.ratio, c.ci_low, c.ci_high);
  c.verdict = fields.word<Verdict>("verdict");
  if (fields.has("baseline_ms")) c.baseline_ms = read_quantiles(fields.object("baseline_ms"));
  if (fields.has("candidate_ms")) c.candidate_ms = read_quantiles(fields.object("candidate_ms"));
  c.wall_ratio = fields.number_or("wall_ratio", 0);
  c.pairs = fields.count_or("pairs", 0);
  c.discarded = fields.count_or("discarded", 0);
  c.reason = fields.text_or("reason", "");
  c.baseline_samples_ns = fields.numbers("baseline_samples_ns");
  c.candidate_samples_ns = fields.numbers("candidate_samples_ns");
  return c;
}

namespace {

SettingsFunction read_settings_function(const JsonFields& fields) {
  SettingsFunction function;
  function.x_name = fields.text_or("x_name", "");
  function.reason = fields.text_or("reason", "");
  function.worst_slowdown_pct = fields.number_or("worst_slowdown_pct", 0);
  for (const JsonFields& rule : fields.objects("rules")) {
    function.rules.push_back({rule.integer("from_x"), rule.integers("settings"), rule.text_or("reason", "")});
    const std::size_t count = function.rules.size();
    const bool ascending = count == 1 || function.rules[count - 2].from_x < function.rules[count - 1].from_x;
    if (!ascending) rule.refuse("from_x", "rules in ascending order", std::to_string(function.rules.back().from_x));
  }
  if (function.rules.empty())
    fields.refuse("rules", "at least one rule", "none");
  else if (function.rules.front().from_x != 0)
    fields.refuse("rules[0].from_x", "0, so that every size has settings", std::to_string(function.rules[0].from_x));
  return function;
}

}  // namespace

std::map<std::string, SettingsFunction> read_settings_by_pass(const JsonFields& fields, const std::string& name) {
  std::map<std::string, SettingsFunction> by_pass;
  for (const auto& [pass, function] : fields.named_objects(name)) by_pass[pass] = read_settings_function(function);
  return by_pass;
}

ResultRow read_result_row(const JsonFields& fields) {
  ResultRow row;
  row.x_value = fields.x_value();
  row.mode = fields.text("mode");
  row.metric = fields.text("metric");
  row.unit = fields.text_or("unit", row.metric == "memory" ? "MB" : "ms");
  row.ratio = fields.number("ratio");
  row.ci_low = fields.number("ci_low");
  row.ci_high = fields.number("ci_high");
  check_interval(fields, row.ratio, row.ci_low, row.ci_high);
  row.verdict = fields.word<Verdict>("verdict");
  if (fields.has("baseline")) row.baseline = read_quantiles(fields.object("baseline"));
  if (fields.has("candidate")) row.candidate = read_quantiles(fields.object("candidate"));
  return row;
}

GuardrailCheck read_guardrail(const JsonFields& fields) {
  GuardrailCheck check;
  check.check = fields.text("check");
  check.threshold = fields.text_or("threshold", "");
  check.interval = fields.text_or("interval", "");
  check.status = fields.text("status");
  check.detail = fields.text_or("detail", "");
  if (check.status != "pass" && check.status != "fail" && check.status != "unresolved")
    fields.refuse("status", "one of pass, fail, unresolved", "'" + check.status.substr(0, 80) + "'");
  return check;
}

}  // namespace hone::model
