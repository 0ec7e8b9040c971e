#include "repository/python/description.hpp"

#include <algorithm>

namespace hone::repository::python {

using model::Json;

std::vector<std::string> OperatorDescription::modes() const {
  std::vector<std::string> names;
  for (const PassDecl& pass : passes) names.push_back(pass.name);
  names.push_back("full");
  return names;
}

std::map<std::string, std::string> OperatorDescription::default_options() const {
  std::map<std::string, std::string> chosen;
  for (const OptionDecl& option : options) chosen[option.name] = option.values.front();
  return chosen;
}

const OptionDecl* OperatorDescription::find_option(const std::string& option) const {
  const auto found =
      std::find_if(options.begin(), options.end(), [&](const auto& each) { return each.name == option; });
  return found == options.end() ? nullptr : &*found;
}

Shape OperatorDescription::at(std::int64_t x_value, const Shape& given) const {
  Shape shape = extents;
  for (const auto& [extent, value] : given) shape[extent] = value;
  shape[x] = x_value;
  return shape;
}

base::Result<CaseSpec> OperatorDescription::case_of(const Shape& shape, const std::string& dtype,
                                                    const std::map<std::string, std::string>& chosen,
                                                    std::uint64_t seed) const {
  CaseSpec spec{shape, dtype, chosen, seed, {}};
  const Scope scope{shape, {}};
  for (const InputDecl& decl : inputs) {
    InputSpec input = decl.fixed;
    for (const Expression& each : decl.shape) {
      HONE_TRY(extent, each.whole(scope));
      if (*extent < 0) return each.error("an extent of at least 0", std::to_string(*extent), "correct the expression");
      input.extents.push_back(*extent);
    }
    for (const auto& [key, each] : decl.bounds) {
      HONE_TRY(bound, each.real(scope));
      input.bounds[key] = *bound;
    }
    spec.inputs.push_back(std::move(input));
  }
  return spec;
}

Traffic OperatorDescription::traffic(const std::string& pass, const Shape& shape, double dtype_bytes) const {
  Traffic traffic;
  const auto found =
      std::find_if(passes.begin(), passes.end(), [&](const PassDecl& each) { return each.name == pass; });
  if (found == passes.end()) return traffic;
  const Scope scope{shape, {{"dtype_bytes", dtype_bytes}}};
  const auto value = [&](const std::optional<Expression>& expression) {
    auto real = expression ? expression->real(scope) : 0.0;
    return real ? *real : 0.0;
  };
  const double matrix_flops = value(found->matrix_flops);
  traffic.bytes_read = value(found->bytes_read);
  traffic.bytes_written = value(found->bytes_written);
  traffic.flops = value(found->flops) + matrix_flops;
  traffic.matrix = matrix_flops > 0;
  return traffic;
}

std::vector<Shape> OperatorDescription::gate_shapes(bool wide, bool interpreted) const {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs = {{5, 127}, {3, 1000}};
  if (wide) pairs = {{1, 1}, {1, 31}, {7, 64}, {5, 127}, {13, 1000}, {3, 1025}, {2, 4096}};
  if (wide && !interpreted)
    pairs.insert(pairs.end(), {{1031, 1024}, {4099, 4096}, {257, 8191}, {3, 16384}, {2, 40000}});
  if (interpreted && !wide) pairs = {{3, 127}};
  std::vector<Shape> shapes;
  for (const auto& [rows, columns] : pairs) {
    const Shape wished = extents.count("rows") ? at(columns, {{"rows", rows}}) : at(columns);
    Shape shape = wished;
    for (const auto& [gated, expression] : gate)
      if (auto extent = expression.whole({wished, {}})) shape[gated] = *extent;
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

namespace {

Json input_json(const InputSpec& spec) {
  Json input = Json::object({{"name", spec.name}, {"type", spec.type}, {"shape", spec.extents}});
  if (!spec.order.empty()) input.add("order", spec.order);
  input.add("distribution", spec.distribution);
  if (!spec.formula.empty()) input.add("formula", spec.formula);
  for (const auto& [name, bound] : spec.bounds) input.add(name, bound);
  input.add("gradient", spec.gradient);
  return input;
}

}  // namespace

Json description_json(const OperatorDescription& description) {
  std::vector<std::string> truths;
  for (const OptionDecl& option : description.options)
    if (option.truth) truths.push_back(option.name);
  return Json::object({{"name", description.name},
                       {"callable", description.callable},
                       {"arguments", description.arguments},
                       {"outputs", description.outputs},
                       {"loss", description.loss},
                       {"formula", description.formula},
                       {"truths", truths},
                       {"overwrites_forward", description.overwrites_forward},
                       {"overwrites_backward", description.overwrites_backward},
                       {"overwrites_gradients", description.overwrites_gradients}});
}

Json case_json(const CaseSpec& spec) {
  return Json::object({{"shape", spec.shape},
                       {"dtype", spec.dtype},
                       {"options", spec.options},
                       {"seed", spec.seed},
                       {"inputs", Json::list(spec.inputs, input_json)}});
}

}  // namespace hone::repository::python
