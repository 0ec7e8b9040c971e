// Manifests with one thing wrong, from the text to the run: a clear error with its place, kind usage or preflight, and neither a
// crash nor a hang. Limits are met before anything is compiled.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "tests/repository/manifest/manifest_fixture.hpp"

namespace hone::repository::manifest {
namespace {

using ::testing::HasSubstr;

struct Bad {
  std::string name;
  std::string text;
  std::string
      place;  // how the text goes on from the place that the error names; empty: the error names the file at least
  std::string words;  // that the error says
  std::vector<std::pair<std::string, std::string>> files = {};
  bool may_compile = false;
};

void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.name; }

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

constexpr const char* kTop = "description = ";
constexpr const char* kSizes = "sizes = [256, 1024]";
constexpr const char* kRows = "rows = \"max(1, 65536 / columns)\"";
constexpr const char* kShape = "role = \"output\"\nshape = [\"rows\", \"columns\"]";
constexpr const char* kValues = "low = 0.5, high = 2 }";
constexpr const char* kTolerance = "tolerance = \"2 * eps\"";
constexpr const char* kKnob = "[knob.ROWS]\nvalues = [1, 2, 4]\nvalue = 2";
constexpr const char* kGrid = "grid = \"ceil_div(rows, ROWS)\"";
constexpr const char* kArguments = "\"int32 columns\", \"bias\"] }";
constexpr const char* kReference = "{ function = \"row_scale_reference\" }";

std::vector<Bad> bad_manifests() {
  std::vector<Bad> all;
  const auto add = [&](const char* name, const std::string& from, const std::string& to, const std::string& place,
                       const std::string& words) {
    all.push_back({name, changed(from, to), place, words});
  };
  const auto top = [&](const char* name, const std::string& line, const std::string& words) {
    add(name, kTop, line + "\n" + kTop, line, words);
  };
  const auto rows = [&](const char* name, const std::string& value, const std::string& place,
                        const std::string& words) { add(name, kRows, "rows = " + value, place, words); };
  const auto sizes = [&](const char* name, const std::string& value, const std::string& place,
                         const std::string& words) { add(name, kSizes, "sizes = " + value, place, words); };
  const auto knob = [&](const char* name, const std::string& table, const std::string& place,
                        const std::string& words) {
    all.push_back({name, sample_text() + "\n" + table, place, words});
  };

  // Bytes and the format.
  all.push_back({"empty", "", "", "'name' of the manifest"});
  all.push_back({"utf16", std::string("n\0a\0m\0e\0", 8), "", "a zero byte"});
  all.push_back({"random", std::string("\x93\x00\xfe\x1f[[=\x07", 8), "", "a zero byte"});
  add("not_utf8", "name = \"row_scale\"", "name = \"row\xff\xfescale\"", "w\xff", "utf-8");
  add("bracket_control", "name = ", "[\x01]\nname = ", "[\x01", "a character that no key begins with");
  all.push_back({"nul", changed("tier = 1", std::string("t\0ier = 1", 9)), "", "a zero byte"});
  top("duplicate_key", "tier = 1", "cannot redefine existing integer 'tier'");
  all.back().place = "1\nsource";
  knob("duplicate_table", "[tensor.x]\nrole = \"input\"\nshape = [\"rows\"]\n", "", "cannot redefine existing table");
  top("deep_arrays", "q = " + repeated("[", 1000), "nested value depth");
  all.back().place = "";
  top("deep_dots", repeated("a.", 1000) + "a = 1", "'a'");
  top("a_long_line", "q = \"" + repeated("x", 5000) + "\"", "a line of");
  top("unknown_top", "teir_reason = \"x\"", "'teir_reason'");
  knob("unknown_table", "[tensors.q]\nrole = \"input\"\n", "tensors.q]", "'tensors'");
  knob("unknown_pass", "[pass.sideways]\nflops = 1\n", "sideways]", "forward or backward");
  add("unknown_tensor_key", kTolerance, "stride = 3", "stride", "a key of [tensor.y]");

  // The head.
  add("name_empty", "name = \"row_scale\"", "name = \"\"", "\"\"\ndesc", "a text in quotes");
  add("name_number", "name = \"row_scale\"", "name = 7", "7\ndesc", "a text in quotes");
  add("name_slash", "name = \"row_scale\"", "name = \"../row\"", "name = ", "'-'");
  add("name_long", "name = \"row_scale\"", "name = \"" + repeated("n", 500) + "\"", "name = ", "choose another name");
  add("language_rust", "language = \"c++\"", "language = \"rust\"", "\"rust\"", "one of cuda, c++");
  add("tier_9", "tier = 1", "tier = 9", "9\n", "from 1 to 3");
  add("tier_huge", "tier = 1", "tier = 99999999999999999999", "\nsource", "64 bits");
  add("tier_real", "tier = 1", "tier = 2.5", "2.5", "from 1 to 3");
  add("tier_text", "tier = 1", "tier = \"two\"", "\"two\"", "from 1 to 3");
  add("source_parent", "source = \"row_scale.cpp\"", "source = \"../row_scale.cpp\"", "source", "without '..'");
  add("source_absolute", "source = \"row_scale.cpp\"", "source = \"/etc/passwd\"", "source", "without '..'");
  add("source_missing", "source = \"row_scale.cpp\"", "source = \"gone.cpp\"", "", "no such file");
  add("source_directory", "source = \"row_scale.cpp\"", "source = \"deep\"", "", "Is a directory");
  add("settings_out", "test = [", "settings = \"../x.toml\"\ntest = [", "settings", "without '..'");
  add("settings_source", "test = [", "settings = \"row_scale.cpp\"\ntest = [", "settings", "a file of its own");
  add("test_text", "test = [\"make\", \"test\"]", "test = \"make test\"", "\"make test\"", "an array of texts");
  add("test_timeout_zero", "test = [", "test_timeout_s = 0\ntest = [", "0\ntest", "from 1 to 86400");
  top("define_letter", "defines = { A = \"1\" }", "two or more letters");
  all.back().place = "A = \"1\"";
  top("define_newline", "defines = { AB = \"1\\n#error x\" }", "a text of one line");
  all.back().place = "\"1\\n";
  top("define_keyword", "defines = { double = \"float\" }", "no keyword");
  all.back().place = "double = ";

  // Sizes.
  add("x_name_claims_rows", "x_name = \"columns\"", "x_name = \"rows\"", "rows = \"max", "which is a size too");
  add("x_name_reserved", "x_name = \"columns\"", "x_name = \"sqrt\"", "x_name", "expressions know already");
  sizes("sizes_empty", "[]", "[]\n", "integers from 1");
  sizes("sizes_zero", "[0]", "0]", "integers from 1");
  sizes("sizes_negative", "[-256]", "-256]", "integers from 1");
  sizes("sizes_twice", "[256, 256]", "256]", "256 again");
  sizes("sizes_mixed", "[256, \"1024\"]", "\"1024\"]", "integers from 1");
  sizes("sizes_nested", "[[256], [1024]]", "[256]", "integers from 1");
  sizes("sizes_text", "\"256\"", "\"256\"", "integers from 1");
  sizes("sizes_2_41", "[2199023255552]", "2199023255552", "integers from 1");
  std::string many = replaced(changed(kSizes, "sizes = [34359738368]"), kRows, "rows = \"16\"");
  many = replaced(replaced(many, "valid = \"columns <= 65536\"\n", ""), "int32 columns", "columns");
  all.push_back({"sizes_memory", many, "--sizes", "GB"});
  rows("rows_zero", "\"65536 / columns - 256\"", "65536 / columns - 256", "at least 1");
  rows("rows_divide_zero", "\"1 / (columns - columns)\"", "/ (columns", "divides by zero");
  rows("rows_overflow", "\"columns * columns * columns * columns * columns * columns * columns * columns\"",
       "* columns\"", "fits in 64 bits");
  rows("rows_min_overflow", "\"-9223372036854775807 - 2\"", "- 2\"", "fits in 64 bits");
  rows("rows_itself", "\"rows\"", "rows\"\n\n[derived]", "'rows'");
  rows("rows_unknown", "\"max(1, colums)\"", "colums", "did you mean columns?");
  rows("rows_cyclic", "\"aa\"\naa = \"rows\"", "aa\"", "'aa'");
  rows("expr_empty", "\"\"", "\"\n\n[derived]", "a number, a name");
  rows("expr_unclosed", "\"max(1, 65536 / columns\"", "\"\n\n[derived]", "')' behind the arguments of max");
  rows("expr_function", "\"system(1)\"", "system", "a function: min");
  rows("expr_real", "\"sqrt(columns)\"", "sqrt", "a function of integers");
  rows("expr_nul_escape", "\"columns\\u0000\"", "\\u0000", "the end of the expression");
  rows("expr_deep", "\"" + repeated("(", 900) + "columns" + repeated(")", 900) + "\"", "", "");
  rows("expr_minus_deep", "\"" + repeated("-", 3000) + "columns\"", "---", "at most 2000 characters");
  add("derived_cyclic", "elements = \"rows * columns\"", "elements = \"a1\"\na1 = \"elements\"", "a1\"\na1", "'a1'");
  add("derived_negative", "elements = \"rows * columns\"", "elements = \"columns - 100000\"", "columns - 100000",
      "elements of at least 0");
  add("valid_never", "valid = \"columns <= 65536\"", "valid = \"columns < 0\"", "columns < 0", "columns < 0");
  add("valid_overflow", "valid = \"columns <= 65536\"", "valid = \"columns * 9223372036854775807 > 0\"",
      "* 9223372036854775807", "fits in 64 bits");
  add("verify_unknown", "columns = [1, 17, 64]", "clumns = [1]", "clumns", "did you mean columns?");
  add("verify_huge", "columns = [1, 17, 64]", "columns = [1]\nrows = [1099511627776]", "rows = [1099511627776]",
      "values of 'rows' that can be tried");
  add("verify_overflow", "columns = [1, 17, 64]", "columns = [1099511627776]\nrows = [1099511627776]", "", "");

  // Tensors and scalars.
  add("dtype_empty", "[\"fp32\"]", "[]", "[]", "at least one of");
  add("dtype_fp64", "[\"fp32\"]", "[\"fp64\"]", "\"fp64\"", "double precision");
  add("dtype_twice", "[\"fp32\"]", "[\"fp32\", \"fp32\"]", "\"fp32\"]", "'fp32' again");
  add("role_wrong", "role = \"output\"", "role = \"outputs\"", "\"outputs\"", "did you mean output?");
  add("no_output", "role = \"output\"", "role = \"input\"", "[pass.forward]", "a pass that writes a tensor");
  add("tensor_named_eps", "[tensor.factor]", "[tensor.eps]", "eps]", "expressions know already");
  add("shape_zero_dims", kShape, "role = \"output\"\nshape = []", "[]", "an array of 1 to 8");
  add("shape_nine", kShape, "role = \"output\"\nshape = [1,1,1,1,1,1,1,1,1]", "[1,1", "an array of 1 to 8");
  add("shape_negative", kShape, "role = \"output\"\nshape = [\"columns - 2000\"]", "columns - 2000", "at least 0");
  add("shape_overflow", kShape, "role = \"output\"\nshape = [\"rows * 1000000000000\", \"columns * 1000000000000\"]",
      "rows * 1000000000000", "elements of 'y'");
  add("values_unknown", "distribution = \"uniform\"", "distribution = \"cauchy\"", "\"cauchy\"", "one of normal");
  add("values_nan", kValues, "low = nan, high = 2 }", "nan", "a finite value");
  add("values_inf", kValues, "low = 0.5, high = inf }", "inf }", "a finite value");
  add("values_1e308", kValues, "low = 0.5, high = 1e308 }", "1e308", "the largest fp32");
  add("values_empty", kValues, "low = 2, high = 2 }", "2 }", "a range of 'factor' that is not empty");
  add("integers_too_large", "values = { distribution = \"uniform\", low = 0.5, high = 2 }",
      "type = \"int32\"\nvalues = { distribution = \"integers\", low = 0, below = 4294967296 }", "4294967296",
      "the largest int32");
  add("tolerance_nan", kTolerance, "tolerance = nan", "nan", "a finite value");
  add("tolerance_inf", kTolerance, "tolerance = inf", "inf", "a finite value");
  add("tolerance_negative", kTolerance, "tolerance = \"-1\"", "-1", "from 0 to 1");
  add("tolerance_2", kTolerance, "tolerance = 2", "2\n\n[scalar", "from 0 to 1");
  add("scalar_text", "value = 0.25", "value = \"one\"", "one\"", "'one'");
  add("scalar_date", "value = 0.25", "value = 1979-05-27", "1979", "a date");

  // Knobs.
  knob("knob_huge", "[knob.NN]\nvalues = [99999999999]\nvalue = 99999999999\n", "99999999999]", "integers from");
  knob("knob_min_int", "[knob.NN]\nvalues = [-9223372036854775808]\nvalue = 1\n", "-9223372036854775808]",
       "integers from");
  knob("knob_name_int", "[knob.int]\nvalues = [1, 2]\nvalue = 1\n", "int]\nvalues", "no keyword");
  knob("knob_name_keyword", "[knob.for]\nvalues = [1, 2]\nvalue = 1\n", "for]\nvalues", "no keyword");
  knob("knob_never_valid", "[knob.NN]\nvalues = [1, 2]\nvalue = 1\nvalid = \"NN > 5\"\n", "NN > 5",
       "the values in force");
  add("knob_not_in_values", kKnob, "[knob.ROWS]\nvalues = [1, 2, 4]\nvalue = 3", "3\nhelp", "among 'values'");
  std::string thirty;
  for (int i = 0; i < 30; ++i) thirty += (i ? ", " : "") + std::to_string(i);
  knob("knob_20001",
       "[knob.K1]\nvalues = [" + thirty + "]\nvalue = 0\n[knob.K2]\nvalues = [" + thirty +
           "]\nvalue = 0\n[knob.K3]\nvalues = [" + thirty + "]\nvalue = 0\n",
       "K3]", "at most 20000 combinations");

  // Launches.
  add("block_in_cpp", "grid = ", "block = 32, grid = ", "block", "a key of the launch");
  add("entry_injection", "entry = \"row_scale\"", "entry = \"row_scale(); system\"", "\"row_scale();", "letters");
  add("grid_zero", kGrid, "grid = \"rows - rows\"", "rows - rows", "programs of the grid from 1");
  add("grid_huge", kGrid, "grid = \"rows * 100000000\"", "rows * 100000000", "programs of the grid from 1");
  add("grid_three", kGrid, "grid = [\"rows\", \"1\", \"1\"]", "[\"rows\", \"1\"", "one expression");
  add("workers_1e9", "grid = ", "workers = 1000000000, grid = ", "1000000000", "threads to work on from 0 to 1024");
  add("argument_unknown", kArguments, "\"int32 columns\", \"bais\"] }", "bais", "did you mean bias?");
  add("argument_number", kArguments, "\"int32 columns\", 3] }", "3] }", "texts: a tensor");
  add("argument_tensor_expr", kArguments, "\"int32 columns\", \"fp32 x + 1\"] }", "x + 1", "a tensor alone");
  add("argument_int32_overflow", kArguments, "\"int32 columns * 10000000\", \"bias\"] }", "columns * 10000000",
      "fits in 32 bits");
  add("flops_negative", "flops = \"2 * elements\"", "flops = \"-1\"", "-1", "at least 0");
  add("flops_nan", "flops = \"2 * elements\"", "flops = nan", "nan", "a finite value");
  const std::string scratch =
      replaced(replaced(sample_text(), kArguments, "\"int32 columns\", \"bias\", \"tmp\"] }"), kReference,
               "{ function = \"row_scale_reference\" }\n[tensor.tmp]\nrole = \"scratch\"\n");
  all.push_back({"scratch_overflow", scratch + "shape = [\"rows * 1000000000000\", \"columns * 1000000000000\"]\n",
                 "rows * 1000000000000", "an extent"});
  all.push_back({"scratch_100tb", scratch + "shape = [\"26843545600000\"]\n", "", "an extent"});
  all.push_back({"scratch_of_all_memory", scratch + "shape = [\"1099511627776\"]\n", "--sizes", "GB of it scratch"});

  // What only the compiler or a run shows.
  const auto compiled = [&](const char* name, const std::string& text, const std::string& place,
                            const std::string& words, std::vector<std::pair<std::string, std::string>> files = {}) {
    all.push_back({name, text, place, words, std::move(files), true});
  };
  compiled("entry_missing", changed("entry = \"row_scale\"", "entry = \"row_scael\""), "launch = {",
           "row_scael' has not been declared");
  compiled("argument_too_few", changed(kArguments, "\"int32 columns\"] }"), "launch = {", "too few arguments");
  compiled("source_empty", sample_text(), "launch = {", "has not been declared", {{"row_scale.cpp", ""}});
  compiled("source_binary", sample_text(), "", "row_scale.cpp:1:1: error: stray",
           {{"row_scale.cpp", "\x01\x86\xa5\xe7\xe9\xff"}});
  compiled("header_loop", sample_text(), "", "a.h",
           {{"row_scale.cpp", "#include \"a.h\"\n"}, {"a.h", "#include \"b.h\"\n"}, {"b.h", "#include \"a.h\"\n"}});
  add("header_out", kTop, kTop, "", "includes in quotes that stay below");
  all.back().files = {{"row_scale.cpp", "#include \"../../x.h\"\n"}};
  add("reference_missing", "reference = \"row_scale_reference.cpp\"", "reference = \"gone.cpp\"", "", "no such file");
  add("reference_no_key", "reference = \"row_scale_reference.cpp\"\n", "", "reference = { function",
      "the file of the reference");
  compiled("reference_function", changed(kReference, "{ function = \"another\" }"), "{ function",
           "another' has not been declared");
  compiled("reference_crash", sample_text(), "", "segmentation fault",
           {{"row_scale_reference.cpp", "extern \"C\" void row_scale_reference(...) { *(volatile int*)8 = 1; }\n"}});
  compiled("reference_nan", sample_text(), "y]\nrole", "a finite element of 'y'",
           {{"row_scale_reference.cpp", replaced(kReferenceText, "x[i] * factor", "__builtin_nan(\"\") * factor")}});
  return all;
}

class BadManifest : public ManifestTest, public ::testing::WithParamInterface<Bad> {
 protected:
  // From the text to the last case; the error on the way.
  base::Result<void> run() {
    model::Request with_its_own_sizes;
    with_its_own_sizes.kernel = "row_scale";
    HONE_TRY(session, try_open(with_its_own_sizes));
    HONE_PROPAGATE(dynamic_cast<launch::LaunchSession&>(**session).verify(
        launch::Extent::full, true, [](int, int, const launch::CaseResult& result) { return result.passed; }));
    return {};
  }
};

std::string place_in(const std::string& text, const std::string& how_it_goes_on) {
  const std::size_t at = text.find(how_it_goes_on);
  EXPECT_NE(at, std::string::npos) << how_it_goes_on;
  const std::string before = text.substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  return ":" + std::to_string(line) + ":" + std::to_string(at - (before.rfind('\n') + 1) + 1);
}

TEST_P(BadManifest, IsRefusedWithItsPlace) {
  const Bad& bad = GetParam();
  write("hone.toml", bad.text);
  for (const auto& [name, text] : bad.files) write(name, text);
  const auto ran = run();
  ASSERT_FALSE(ran);
  const base::Error& error = ran.error();
  const std::string told = base::describe(error);
  EXPECT_TRUE(error.kind == base::ErrorKind::usage || error.kind == base::ErrorKind::preflight) << told;
  EXPECT_FALSE(error.expected.empty() || error.found.empty() || error.remedy.empty()) << told;
  EXPECT_THAT(told, HasSubstr(bad.words));
  if (bad.place == "--sizes") {
    EXPECT_EQ(error.where, "--sizes");
  } else if (bad.place.empty()) {
    EXPECT_EQ(error.where.rfind(folder_.path(), 0), 0u) << told;
  } else {
    // A compiler's place in the manifest is a line.
    const std::string place = folder_ / "hone.toml" + place_in(bad.text, bad.place);
    EXPECT_EQ(error.where, bad.may_compile && place.rfind(error.where + ":", 0) == 0 ? error.where : place) << told;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, BadManifest, ::testing::ValuesIn(bad_manifests()),
                         [](const auto& bad) { return bad.param.name; });

TEST_F(ManifestTest, MayBeginWithAByteOrderMarkAndEndItsLinesAsWindowsDoes) {
  std::string windows = "\xEF\xBB\xBF";
  for (const char c : sample_text()) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  write("hone.toml", windows);
  EXPECT_TRUE(try_open(request()));
}

TEST_F(ManifestTest, GivesMacrosToTheCompilerAsTheyAreWritten) {
  const std::string victim = folder_ / "victim";
  for (const std::string& value : {"1; touch " + victim, "1 -o " + victim, "`touch " + victim + "`"}) {
    write("hone.toml", changed("description = ", "defines = { AB = \"" + value + "\" }\ndescription = "));
    auto session = open();
    ASSERT_NE(session, nullptr);
    EXPECT_TRUE(session->build(session->original()));
    EXPECT_FALSE(files_.exists(victim));
  }
}

// Links, pipes and large files, as `source` or as the manifest itself.
TEST_F(ManifestTest, ReadsRegularFilesOfItsOwnFolderAlone) {
  const std::string source = folder_ / "row_scale.cpp", manifest = folder_ / "hone.toml";
  const auto expect_refused = [&](const std::string& words) {
    const base::Error error = refused(request());
    EXPECT_TRUE(error.kind == base::ErrorKind::usage || error.kind == base::ErrorKind::preflight);
    EXPECT_THAT(base::describe(error), HasSubstr(words));
  };
  const auto remade = [&](const std::string& path) { ASSERT_EQ(::unlink(path.c_str()), 0); };
  remade(source);
  ASSERT_EQ(::symlink("row_scale.cpp", source.c_str()), 0);  // a link to itself
  expect_refused("no such file");
  remade(source);
  ASSERT_EQ(::symlink("/etc/hostname", source.c_str()), 0);
  expect_refused("a link to");
  remade(source);
  ASSERT_EQ(::mkfifo(source.c_str(), 0600), 0);
  expect_refused("a regular file");
  remade(source);
  write("row_scale.cpp", std::string(10 << 20, ' '));
  expect_refused("a larger one");

  write("row_scale.cpp", replaced(kKernelText, "deep/factor.hpp", "out.hpp"));
  ASSERT_EQ(::symlink("/etc/hostname", (folder_ / "out.hpp").c_str()), 0);
  expect_refused("a link to");
  ASSERT_EQ(::rename((folder_ / "deep").c_str(), (folder_ / "elsewhere").c_str()), 0);
  ASSERT_EQ(::symlink("/usr/include", (folder_ / "deep").c_str()), 0);  // a folder that leads out
  write("row_scale.cpp", replaced(kKernelText, "deep/factor.hpp", "deep/stdio.h"));
  expect_refused("a link to");

  write("row_scale.cpp", kKernelText);
  write("hone.toml", std::string(10 << 20, '#'));
  expect_refused("a larger one");
  remade(manifest);
  ASSERT_EQ(::symlink("/proc/self/mem", manifest.c_str()), 0);  // a regular file that nobody can read
  expect_refused("Input/output error");
  remade(manifest);
  ASSERT_EQ(::mkdir(manifest.c_str(), 0700), 0);
  expect_refused("hone.toml");
}

}  // namespace
}  // namespace hone::repository::manifest
