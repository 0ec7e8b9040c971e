// The passes of a manifest: launches, arguments, roles, traffic, reference; and the knobs they are built with.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "repository/document/expression_parser.hpp"
#include "repository/manifest/manifest_reader.hpp"
#include "repository/manifest/problem.hpp"

namespace hone::repository::manifest {

namespace {

constexpr std::int64_t kLargestKnob = std::int64_t{1} << 31;
constexpr std::size_t kMostKnobs = 16, kMostLaunches = 64;

}  // namespace

void ManifestReader::name_passes() {
  const Node* passes = top_.table("pass");
  if (!passes || !passes->find("forward")) {
    reading_.fail(passes ? top_.place("pass") : top_.place(), "[pass.forward], how the kernel is launched",
                  passes ? "no pass of that name" : "nothing", "add [pass.forward] with its launch");
    return;
  }
  for (const char* name : {"forward", "backward"})
    if (passes->find(name)) {
      PassDecl pass;
      pass.name = name;
      manifest_.passes.push_back(std::move(pass));
    }
  for (const Node::Member& member : passes->members)
    if (!manifest_.find_pass(member.name))
      reading_.fail(member.place, "a pass: forward or backward", "'" + member.name + "'",
                    nearest_remedy(member.name, {"forward", "backward"}));
}

void ManifestReader::read_knobs() {
  const Node* knobs = top_.table("knob");
  if (!knobs) return;
  if (knobs->members.size() > kMostKnobs)
    reading_.fail(top_.place("knob"), fmt::format("at most {} knobs", kMostKnobs),
                  std::to_string(knobs->members.size()), "make constants of those that matter least");
  for (const Node::Member& member : knobs->members)
    if (!reading_.error) read_knob(member);
}

void ManifestReader::read_knob(const Node::Member& member) {
  claim(member.name, member.place, "a knob");
  if (!is_macro_name(member.name))
    reading_.fail(member.place,
                  "a knob, which becomes a macro, with a name of two characters or more that is no keyword",
                  "'" + member.name + "'", "choose a longer name, such as ROWS");
  TableReader table(reading_, member.value, "[knob." + member.name + "]");
  KnobDecl knob;
  knob.name = member.name;
  knob.place = member.place;
  table.required("values", "the values to try");
  knob.values = table.wholes("values", -kLargestKnob, kLargestKnob);
  knob.help = table.text("help");
  knob.strategy = table.text("strategy", "parameter-sweep");
  std::vector<std::string> all;
  for (const PassDecl& pass : manifest_.passes) all.push_back(pass.name);
  knob.passes = table.has("passes") ? table.texts("passes") : all;
  for (const std::string& pass : knob.passes)
    if (!base::contains(all, pass))
      reading_.fail(table.place("passes"), "passes of this manifest: " + base::join_text(all, ", "), "'" + pass + "'",
                    nearest_remedy(pass, all));
  const Node* value = table.required("value", "the value in force: a number, or one for each pass");
  if (reading_.error) return;
  if (value->kind == Node::Kind::table) {
    TableReader by_pass(reading_, *value, "'value' of [knob." + member.name + "]");
    for (const std::string& pass : knob.passes) {
      by_pass.required(pass, "the value in force in it");
      knob.current[pass] = by_pass.whole(pass, -kLargestKnob, kLargestKnob, 0);
    }
    by_pass.finish();
  } else {
    const std::int64_t current = table.whole("value", -kLargestKnob, kLargestKnob, 0);
    for (const std::string& pass : knob.passes) knob.current[pass] = current;
  }
  for (const auto& [pass, current] : knob.current)
    if (!reading_.error && std::find(knob.values.begin(), knob.values.end(), current) == knob.values.end())
      reading_.fail(value->place, "a value in force that is among 'values'", std::to_string(current),
                    "add it to 'values', or correct it");
  knob.valid = table.expression("valid");
  table.finish();
  manifest_.knobs.push_back(std::move(knob));
}

std::vector<std::string> ManifestReader::names_of(const std::string& pass) const {
  std::vector<std::string> names = manifest_.size_names();
  for (const KnobDecl* knob : manifest_.knobs_of(pass)) names.push_back(knob->name);
  return names;
}

void ManifestReader::read_passes() {
  const Node* passes = top_.table("pass");
  for (PassDecl& pass : manifest_.passes) {
    std::int64_t combinations = 1;
    for (const KnobDecl* knob : manifest_.knobs_of(pass.name)) {
      check(knob->valid, names_of(pass.name));
      combinations *= static_cast<std::int64_t>(knob->values.size());
      if (combinations > kMostCombinations)
        reading_.fail(knob->place,
                      fmt::format("at most {} combinations of the knobs of {}", kMostCombinations, pass.name), "more",
                      "leave values out, or limit knobs to a pass with 'passes'");
      if (reading_.error) return;
    }
    auto read = read_pass(pass.name, passes->find(pass.name)->value);
    if (!read || reading_.error) return;
    pass = std::move(*read);
  }
  check_tensors_used();
}

std::optional<PassDecl> ManifestReader::read_pass(const std::string& name, const Node& node) {
  const std::string what = "[pass." + name + "]";
  TableReader table(reading_, node, what);
  PassDecl pass;
  pass.name = name;
  const Node* launch = table.required("launch", "the launches, as [[pass." + name + ".launch]]");
  if (reading_.error) return std::nullopt;
  if (launch->kind == Node::Kind::array) {
    if (launch->items.empty() || launch->items.size() > kMostLaunches)
      table.wrong_kind("launch", *launch, fmt::format("1 to {} launches", kMostLaunches));
    for (std::size_t i = 0; i < launch->items.size() && !reading_.error; ++i)
      pass.launches.push_back(read_launch(launch->items[i], pass, fmt::format("launch {} of {}", i + 1, what)));
  } else {
    pass.launches.push_back(read_launch(*launch, pass, "the launch of " + what));
  }
  if (reading_.error) return std::nullopt;
  read_roles(table, pass);
  pass.bytes_read = table.expression("bytes_read");
  pass.bytes_written = table.expression("bytes_written");
  pass.flops = table.expression("flops");
  pass.matrix_flops = table.expression("matrix_flops");
  for (const auto* traffic : {&pass.bytes_read, &pass.bytes_written, &pass.flops, &pass.matrix_flops}) {
    std::vector<std::string> known = manifest_.size_names();
    known.emplace_back("dtype_bytes");
    check(*traffic, known);
  }
  pass.valid = table.expression("valid");
  check(pass.valid, names_of(name));
  read_reference(table, pass);
  table.finish();
  return pass;
}

LaunchDecl ManifestReader::read_launch(const Node& node, const PassDecl& pass, const std::string& what) {
  TableReader table(reading_, node, what);
  LaunchDecl launch;
  launch.entry = table.identifier("entry", "the extern \"C\" function to launch");
  table.required("grid", "the number of programs (blocks), such as \"ceil_div(rows, ROWS)\"");
  const bool cuda = manifest_.language == Language::cuda;
  launch.grid = table.expressions("grid", cuda ? 3 : 1);
  if (cuda) {
    table.required("block", "the number of threads of a block");
    launch.block = table.expressions("block", 3);
    if (auto shared = table.expression("shared")) launch.shared_bytes = std::move(*shared);
    check(launch.shared_bytes, names_of(pass.name));
  } else {
    if (auto workers = table.expression("workers")) launch.workers = std::move(*workers);
    check(launch.workers, names_of(pass.name));
  }
  for (const auto* list : {&launch.grid, &launch.block})
    for (const Expression& extent : *list) check(extent, names_of(pass.name));
  launch.place = table.place("arguments");
  launch.arguments = read_arguments(table, names_of(pass.name));
  table.finish();
  return launch;
}

std::vector<ArgumentDecl> ManifestReader::read_arguments(TableReader& table, const std::vector<std::string>& numbers) {
  std::vector<ArgumentDecl> arguments;
  const Node* node = table.required("arguments", "the arguments in the order of the function's parameters");
  if (!node) return arguments;
  if (node->kind != Node::Kind::array) table.wrong_kind("arguments", *node, "an array of texts");
  for (const Node& item : node->items) {
    auto argument = read_argument(table, item, numbers);
    if (!argument) return arguments;
    arguments.push_back(std::move(*argument));
  }
  return arguments;
}

std::optional<ArgumentDecl> ManifestReader::read_argument(TableReader& table, const Node& node,
                                                          const std::vector<std::string>& numbers) {
  if (node.kind != Node::Kind::text) {
    table.wrong_kind("arguments", node, "texts: a tensor, a size, a scalar, or \"int32 EXPRESSION\"");
    return std::nullopt;
  }
  ArgumentDecl argument;
  std::string text = base::trim(node.text);
  if (manifest_.find_tensor(text)) {
    argument.tensor = text;
    return argument;
  }
  std::size_t skipped = node.text.find_first_not_of(" \t");
  if (skipped == std::string::npos) skipped = 0;
  bool typed = false;
  for (const auto& [type_word, type] :
       {std::pair{"int32 ", ScalarType::int32}, {"int64 ", ScalarType::int64}, {"fp32 ", ScalarType::fp32}})
    if (base::starts_with(text, type_word)) {
      const std::string rest = text.substr(std::string(type_word).size());
      skipped += text.size() - base::trim(rest).size();
      text = base::trim(rest);
      argument.type = type;
      typed = true;
      break;
    }
  Place place = node.text_place;
  place.column += static_cast<int>(skipped);
  auto value = Expression::parse(text, {reading_.file, place, "'arguments' of " + table.what()});
  if (!value) {
    reading_.fail(value.error());
    return std::nullopt;
  }
  std::vector<std::string> known = numbers;
  for (const ScalarDecl& scalar : manifest_.scalars) {
    known.push_back(scalar.name);
    if (!typed && scalar.name == text) argument.type = scalar.type;
  }
  for (const TensorDecl& tensor : manifest_.tensors) known.push_back(tensor.name);
  check(*value, known);
  for (const std::string& name : value->names())
    if (manifest_.find_tensor(name))
      reading_.fail(place, "a tensor alone, or an expression of numbers", "'" + text + "'",
                    "pass the tensor by its name alone");
  argument.value = std::move(*value);
  return argument;
}

void ManifestReader::read_roles(TableReader& table, PassDecl& pass) {
  const PassDecl* forward = pass.name == "backward" ? manifest_.find_pass("forward") : nullptr;
  for (const LaunchDecl& launch : pass.launches)
    for (const ArgumentDecl& argument : launch.arguments) {
      if (argument.tensor.empty()) continue;
      Role role = manifest_.find_tensor(argument.tensor)->role;
      // What forward left is there for backward to read.
      if (forward && (role == Role::output || role == Role::inout))
        if (const auto written = forward->roles.find(argument.tensor); written != forward->roles.end())
          role = Role::input;
      pass.roles[argument.tensor] = role;
    }
  if (const Node* roles = table.table("roles")) {
    TableReader given(reading_, *roles, "'roles' of [pass." + pass.name + "]");
    for (auto& [tensor, role] : pass.roles)
      if (given.has(tensor))
        if (const auto parsed = parse_role(given.choice(tensor, {"input", "output", "inout", "scratch"}, ""));
            parsed && !reading_.error)
          role = *parsed;
    given.finish();
  }
  const bool writes = std::any_of(pass.roles.begin(), pass.roles.end(), [](const auto& entry) {
    return entry.second == Role::output || entry.second == Role::inout;
  });
  if (!writes)
    reading_.fail(table.place(), "a pass that writes a tensor, so that its result can be compared",
                  "no argument with the role output or inout", "correct the roles of its tensors");
  for (const auto& [tensor, role] : pass.roles)
    if (role == Role::scratch)
      for (const Expression& extent : manifest_.find_tensor(tensor)->shape) check(extent, names_of(pass.name));
    else
      for (const Expression& extent : manifest_.find_tensor(tensor)->shape) check(extent, manifest_.size_names());
}

void ManifestReader::read_reference(TableReader& table, PassDecl& pass) {
  const Node* node = table.table("reference");
  if (!node) return;
  if (manifest_.reference.empty())
    reading_.fail(table.place("reference"), "the file of the reference, as 'reference' at the top of the manifest",
                  "none", "add reference = \"FILE.cpp\"");
  TableReader reference(reading_, *node, "[pass." + pass.name + ".reference]");
  ReferenceDecl decl;
  decl.function = reference.identifier("function", "the extern \"C\" function of the reference");
  decl.place = reference.place(reference.has("arguments") ? "arguments" : "function");
  if (reference.has("arguments") || pass.launches.size() != 1) {
    decl.arguments = read_arguments(reference, manifest_.size_names());
  } else {
    for (const ArgumentDecl& argument : pass.launches.front().arguments)
      if (argument.tensor.empty() || pass.roles.at(argument.tensor) != Role::scratch)
        decl.arguments.push_back(argument);
    std::vector<std::string> known = manifest_.size_names();
    for (const ScalarDecl& scalar : manifest_.scalars) known.push_back(scalar.name);
    for (const ArgumentDecl& argument : decl.arguments)
      if (argument.tensor.empty() && !argument.value.check_names(known))
        reading_.fail(reference.place(), "'arguments' of [pass." + pass.name + ".reference]",
                      "a launch whose arguments depend on knobs", "write the reference's own arguments");
  }
  for (const ArgumentDecl& argument : decl.arguments)
    if (!argument.tensor.empty() &&
        (!pass.roles.count(argument.tensor) || pass.roles.at(argument.tensor) == Role::scratch))
      reading_.fail(reference.place("arguments"), "tensors that the pass reads or writes", "'" + argument.tensor + "'",
                    "leave it out");
  for (const auto& [tensor, role] : pass.roles) {
    const bool written = role == Role::output || role == Role::inout;
    const bool given = std::any_of(decl.arguments.begin(), decl.arguments.end(),
                                   [&, name = tensor](const ArgumentDecl& a) { return a.tensor == name; });
    if (written && !given)
      reading_.fail(reference.place(), "a reference that computes every output of the pass",
                    "none for '" + tensor + "'", "add it to the reference's arguments");
  }
  reference.finish();
  pass.reference = std::move(decl);
}

void ManifestReader::check_tensors_used() {
  for (const TensorDecl& tensor : manifest_.tensors) {
    const bool used = std::any_of(manifest_.passes.begin(), manifest_.passes.end(),
                                  [&](const PassDecl& pass) { return pass.roles.count(tensor.name) > 0; });
    if (!used)
      reading_.fail(tensor.place, "a tensor that a launch has among its arguments", "'" + tensor.name + "' in none",
                    "add it to the arguments, or leave the tensor out");
  }
}

}  // namespace hone::repository::manifest
