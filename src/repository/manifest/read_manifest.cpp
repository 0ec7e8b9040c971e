// The tables of a manifest but its passes, which are in read_passes.cpp.
#include "repository/manifest/read_manifest.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/regular_file.hpp"
#include "base/size_text.hpp"
#include "base/text.hpp"
#include "repository/document/expression_parser.hpp"
#include "repository/manifest/manifest_reader.hpp"
#include "repository/manifest/verification_cases.hpp"

namespace hone::repository::manifest {

namespace {

constexpr std::int64_t kLongestTest_s = 24 * 3600;

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool is_kernel_name(const std::string& text) {
  std::string letters = text;
  std::replace(letters.begin(), letters.end(), '-', '_');
  return is_identifier("_" + letters) && text.front() != '-';
}

}  // namespace

const char* word(Language language) { return language == Language::cuda ? "cuda" : "c++"; }

std::optional<Role> parse_role(const std::string& text) {
  if (text == "input") return Role::input;
  if (text == "output") return Role::output;
  if (text == "inout") return Role::inout;
  if (text == "scratch") return Role::scratch;
  return std::nullopt;
}

const PassDecl* Manifest::find_pass(const std::string& wanted) const {
  const auto found = std::find_if(passes.begin(), passes.end(), [&](const PassDecl& p) { return p.name == wanted; });
  return found == passes.end() ? nullptr : &*found;
}

const TensorDecl* Manifest::find_tensor(const std::string& wanted) const {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const TensorDecl& t) { return t.name == wanted; });
  return found == tensors.end() ? nullptr : &*found;
}

std::vector<const KnobDecl*> Manifest::knobs_of(const std::string& pass) const {
  std::vector<const KnobDecl*> of_pass;
  for (const KnobDecl& knob : knobs)
    if (std::find(knob.passes.begin(), knob.passes.end(), pass) != knob.passes.end()) of_pass.push_back(&knob);
  return of_pass;
}

std::vector<std::string> Manifest::size_names() const {
  std::vector<std::string> names = {x_name};
  for (const SizeSymbol& symbol : symbols) names.push_back(symbol.name);
  return names;
}

std::string Manifest::full(const std::string& relative) const { return base::join(folder, relative); }

bool stays_below(const std::string& path) {
  for (const std::string& part : base::split(path, '/'))
    if (part.empty() || part == "." || part == "..") return false;
  return path.find('\0') == std::string::npos && path.find('\n') == std::string::npos;
}

ManifestReader::ManifestReader(const Node& root, const std::string& path, std::string text)
    : reading_{path, std::nullopt}, top_(reading_, root, "the manifest") {
  manifest_.path = path;
  manifest_.folder = base::parent(path);
  manifest_.text = std::move(text);
}

base::Result<Manifest> ManifestReader::run() {
  read_head();
  if (!reading_.error) read_sizes();
  if (!reading_.error) read_dtypes();
  if (!reading_.error) read_tensors();
  if (!reading_.error) read_scalars();
  // A pass says which knobs it may use, and a knob which passes use it: passes are named first.
  if (!reading_.error) name_passes();
  if (!reading_.error) read_knobs();
  if (!reading_.error) read_passes();
  if (!reading_.error) read_test();
  // Defaults of flags may stand beside the kernel; the command line reads them, and whoever names them here means no kernel's key.
  if (!reading_.error) (void)top_.table("defaults");
  if (!reading_.error) top_.finish();
  if (!reading_.error)
    if (auto tried = every_verify_value_is_tried(manifest_); !tried) reading_.fail(tried.error());
  if (reading_.error) return *reading_.error;
  return std::move(manifest_);
}

std::string ManifestReader::path_below(const std::string& key, const std::string& text) {
  if (!reading_.error && !stays_below(text))
    reading_.fail(top_.place(key), "'" + key + "' as a path below the folder of the manifest", "'" + text + "'",
                  "write it relative to the folder, without '..'");
  return text;
}

void ManifestReader::claim(const std::string& name, const Place& place, const std::string& what) {
  static const std::set<std::string> reserved = {"eps",      "min",          "max",  "ceil_div",
                                                 "round_up", "power_of_two", "log2", "sqrt"};
  if (!is_identifier(name))
    reading_.fail(place, what + " named with letters, digits and '_'", "'" + name + "'", "correct the name");
  else if (reserved.count(name))
    reading_.fail(place, what + " with a name of its own", "'" + name + "', which expressions know already",
                  "choose another name");
  else if (const auto [known, is_new] = names_.emplace(name, what); !is_new)
    reading_.fail(place, what + " with a name of its own", "'" + name + "', which is " + known->second + " too",
                  "rename one of them");
}

void ManifestReader::read_head() {
  manifest_.name = top_.required_text("name", "the kernel's name");
  if (!reading_.error && !is_kernel_name(manifest_.name))
    reading_.fail(top_.place("name"),
                  "a name of letters, digits, '_' and '-', of which hone makes the workspace's folder",
                  "'" + manifest_.name + "'", "choose another name");
  manifest_.description = top_.text("description");
  const std::string language = top_.choice("language", {"cuda", "c++"}, "");
  manifest_.language = language == "c++" ? Language::cpp : Language::cuda;
  top_.required("tier", "1 element-wise, 2 reduction, 3 fused or complex");
  manifest_.tier = static_cast<int>(top_.whole("tier", 1, 3, 1));
  manifest_.tier_reason = top_.text("tier_reason");
  manifest_.source = path_below("source", top_.required_text("source", "the file that holds the kernel"));
  if (top_.has("reference"))
    manifest_.reference = path_below("reference", top_.required_text("reference", "a C++ file"));
  const std::string file = base::file_name(manifest_.path);
  const std::string stem = ends_with(file, ".toml") ? file.substr(0, file.size() - 5) : file;
  manifest_.settings = path_below("settings", top_.text("settings", stem + ".settings.toml"));
  if (!reading_.error && (manifest_.settings == manifest_.source || manifest_.settings == manifest_.reference ||
                          manifest_.settings == file))
    reading_.fail(top_.place("settings"), "'settings' as a file of its own, which finalize writes",
                  "'" + manifest_.settings + "'", "name another file, or leave the key out");
  manifest_.defines = top_.defines("defines");
  manifest_.deterministic = top_.truth("deterministic", true);
}

void ManifestReader::read_sizes() {
  manifest_.x_name = top_.identifier("x_name", "the size that the tables run over");
  claim(manifest_.x_name, top_.place("x_name"), "a size");
  top_.required("sizes", "the values of " + manifest_.x_name + " to measure");
  manifest_.sizes = top_.wholes("sizes", 1, base::kLargestSize);
  std::sort(manifest_.sizes.begin(), manifest_.sizes.end());
  for (const bool derived : {false, true}) {
    const Node* table = top_.table(derived ? "derived" : "size");
    if (!table) continue;
    for (const Node::Member& member : table->members) {
      claim(member.name, member.place, "a size");
      const std::string key = member.name;
      auto value = top_.expression_of(member.value, key);
      if (!value) return;
      if (auto known = value->check_names(manifest_.size_names()); !known) reading_.fail(known.error());
      manifest_.symbols.push_back({member.name, std::move(*value), derived});
    }
  }
  manifest_.valid = top_.expression("valid");
  check(manifest_.valid, manifest_.size_names());
  if (const Node* table = top_.table("verify")) {
    TableReader verify(reading_, *table, "[verify]");
    std::vector<std::string> free = {manifest_.x_name};
    for (const SizeSymbol& symbol : manifest_.symbols)
      if (!symbol.derived) free.push_back(symbol.name);
    for (const std::string& name : free)
      if (auto values = verify.wholes(name, 1, base::kLargestSize); !values.empty())
        manifest_.verify[name] = {std::move(values), verify.place(name)};
    verify.finish();
  }
}

void ManifestReader::read_dtypes() {
  const std::vector<std::string> allowed = {"fp32", "fp16", "bf16"};
  const Node* node = top_.required("dtypes", "the element types it is built for: " + base::join_text(allowed, ", "));
  if (!node) return;
  std::vector<std::pair<std::string, Place>> names;
  if (node->kind == Node::Kind::table)
    for (const Node::Member& member : node->members) names.emplace_back(member.name, member.place);
  else
    for (const std::string& name : top_.texts("dtypes")) names.emplace_back(name, node->items[names.size()].place);
  if (names.empty()) top_.wrong_kind("dtypes", *node, "at least one of " + base::join_text(allowed, ", "));
  const bool with_defines = node->kind == Node::Kind::table;
  for (const auto& [name, place] : names) {
    if (std::find(allowed.begin(), allowed.end(), name) == allowed.end()) {
      reading_.fail(place, "an element type: " + base::join_text(allowed, ", "), "'" + name + "'",
                    "choose among them; results are judged in double precision, so they must be shorter than it");
      return;
    }
    if (std::any_of(manifest_.dtypes.begin(), manifest_.dtypes.end(),
                    [&, name = name](const DTypeDecl& known) { return known.name == name; }))
      reading_.fail(place, "each element type once", "'" + name + "' again", "leave it out");
    DTypeDecl dtype;
    dtype.name = name;
    dtype.type = *kernels::parse_dtype(name);
    if (with_defines) dtype.defines = TableReader(reading_, *node, "'dtypes'").defines(name);
    manifest_.dtypes.push_back(std::move(dtype));
  }
}

void ManifestReader::check(const std::optional<Expression>& expression, const std::vector<std::string>& known) {
  if (!expression || reading_.error) return;
  if (auto checked = expression->check_names(known); !checked) reading_.fail(checked.error());
}

ValuesDecl ManifestReader::read_values(const Node& node, const std::string& what) {
  TableReader table(reading_, node, what);
  ValuesDecl values;
  const std::string distribution = table.choice("distribution", {"normal", "uniform", "integers", "zeros"}, "normal");
  const char *first = "mean", *second = "deviation";
  if (distribution == "uniform") values.distribution = kernels::Distribution::uniform, first = "low", second = "high";
  if (distribution == "integers") values.distribution = kernels::Distribution::labels, first = "low", second = "below";
  if (distribution == "zeros") {
    values.distribution = kernels::Distribution::zeros;
  } else {
    if (auto given = table.expression(first)) values.first = std::move(*given);
    if (distribution == "integers") table.required(second, "the first number above the range");
    if (auto given = table.expression(second)) values.second = std::move(*given);
  }
  check(values.first, manifest_.size_names());
  check(values.second, manifest_.size_names());
  table.finish();
  return values;
}

void ManifestReader::read_tensors() {
  const Node* tensors = top_.table("tensor");
  if (!tensors || tensors->members.empty()) {
    top_.required("tensor", "the arrays that the kernel works on, as [tensor.NAME]");
    if (tensors) reading_.fail(top_.place("tensor"), "at least one [tensor.NAME]", "none", "add the kernel's arrays");
    return;
  }
  const std::vector<std::string> types = {"dtype", "fp32", "fp16", "bf16", "int32", "int64"};
  for (const Node::Member& member : tensors->members) {
    claim(member.name, member.place, "a tensor");
    TableReader table(reading_, member.value, "[tensor." + member.name + "]");
    TensorDecl tensor;
    tensor.name = member.name;
    tensor.place = member.place;
    const auto role = parse_role(table.choice("role", {"input", "output", "inout", "scratch"}, ""));
    if (reading_.error) return;
    tensor.role = *role;
    table.required("shape", "its extents, such as [\"rows\", \"columns\"]");
    tensor.shape = table.expressions("shape", 8);
    const std::string type = table.choice("type", types, "dtype");
    tensor.type = kernels::parse_dtype(type);
    if (const Node* values = table.node("values"))
      tensor.values = read_values(*values, "'values' of [tensor." + member.name + "]");
    else if ((type == "int32" || type == "int64") && (tensor.role == Role::input || tensor.role == Role::inout))
      table.required("values",
                     "the range of its numbers: { distribution = \"integers\", low = 0, below = \"columns\" }");
    tensor.tolerance = table.expression("tolerance");
    std::vector<std::string> known = manifest_.size_names();
    known.emplace_back("eps");
    check(tensor.tolerance, known);
    if (tensor.role != Role::scratch)
      for (const Expression& extent : tensor.shape) check(extent, manifest_.size_names());
    table.finish();
    manifest_.tensors.push_back(std::move(tensor));
  }
}

void ManifestReader::read_scalars() {
  const Node* scalars = top_.table("scalar");
  if (!scalars) return;
  for (const Node::Member& member : scalars->members) {
    claim(member.name, member.place, "a scalar");
    TableReader table(reading_, member.value, "[scalar." + member.name + "]");
    const std::string type = table.choice("type", {"int32", "int64", "fp32"}, "");
    table.required("value", "its value, a number or an expression of sizes");
    auto value = table.expression("value");
    check(value, manifest_.size_names());
    table.finish();
    if (reading_.error) return;
    const ScalarType scalar = type == "int32"   ? ScalarType::int32
                              : type == "int64" ? ScalarType::int64
                                                : ScalarType::fp32;
    manifest_.scalars.push_back({member.name, scalar, std::move(*value)});
  }
}

void ManifestReader::read_test() {
  manifest_.test = top_.texts("test");
  if (top_.has("test") && (manifest_.test.empty() || manifest_.test.front().empty()))
    reading_.fail(top_.place("test"), "'test' as a command and its arguments, such as [\"make\", \"test\"]",
                  "an empty one", "write the command, or leave the key out");
  manifest_.test_timeout_s = top_.whole("test_timeout_s", 1, kLongestTest_s, manifest_.test_timeout_s);
}

base::Result<Manifest> parse_manifest(const std::string& text, const std::string& path) {
  HONE_TRY(root, parse_document(text, path));
  return ManifestReader(*root, path, text).run();
}

bool is_manifest(base::FileSystem& files, const std::string& path) {
  if (files.is_directory(path)) return files.exists(base::join(path, kManifestName));
  return ends_with(path, ".toml");
}

base::Result<Manifest> load_manifest(base::FileSystem& files, const std::string& path) {
  const std::string file = files.is_directory(path) ? base::join(path, kManifestName) : path;
  if (!files.exists(file))
    return base::Error{base::ErrorKind::usage, "a manifest, a *.toml file that describes a kernel", "no such file",
                       file, "correct the path given to --repo"};
  HONE_TRY(text, base::read_regular(files, file, kLargestDocumentBytes));
  return parse_manifest(*text, file);
}

}  // namespace hone::repository::manifest
