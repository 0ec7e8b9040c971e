// Compiling for the CPU with the machine's own compiler: errors, the cache and what may happen to it, and machine-code hashes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "device/program_cache.hpp"
#include "tests/device/cpu/cpu_fixture.hpp"

namespace hone::device::cpu {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char scaling[] = R"(
#include <cmath>
#include <cstdint>
#ifndef FACTOR
#define FACTOR 1
#endif
#ifndef FUNCTION
#define FUNCTION(x) (x)
#endif
extern "C" void scale(void* const* arguments, int64_t first, int64_t last, int, int, void*) {
  float* values = *static_cast<float* const*>(arguments[0]);
  for (int64_t i = first; i < last; ++i) values[i] = FUNCTION(values[i]) * FACTOR;
}
)";

class CpuCompileTest : public CpuFixture {
 protected:
  std::string hash_of(const std::string& text, std::vector<std::pair<std::string, std::string>> defines = {}) {
    const auto program = compile(source(text, std::move(defines)));
    return program ? program->info().machine_code_hash : std::string();
  }
  std::vector<std::string> cache_entries() {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "cache/cpu"))
      paths.push_back(entry.path().string());
    return paths;
  }
  void write(const std::string& path, const std::string& content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  }
  // The program works: 3 becomes 6.
  void expect_doubles(const Program& program) {
    auto buffer = device_->allocate(sizeof(float));
    ASSERT_TRUE(buffer);
    float value = 3;
    ASSERT_TRUE(device_->upload({buffer->get(), 0}, &value, sizeof value));
    const auto run = device_->run({launch(program, "scale", 1, {BufferView{buffer->get(), 0}})});
    ASSERT_TRUE(run) << base::describe(run.error());
    ASSERT_TRUE(device_->download(&value, {buffer->get(), 0}, sizeof value));
    EXPECT_EQ(value, 6);
  }
  const ProgramSource doubling_ = source(scaling, {{"FACTOR", "2"}});
};

TEST_F(CpuCompileTest, AnErrorCarriesTheFirstMessagesAndTheirPlace) {
  const auto program = device_->compile(source("int f() { return undeclared; }\nint g() { return other; }\n"));
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().kind, base::ErrorKind::gate);
  EXPECT_THAT(program.error().where, StartsWith("kernels/test/test.hpp:2"));
  EXPECT_THAT(program.error().found, HasSubstr("undeclared"));
  EXPECT_THAT(program.error().found, HasSubstr("other"));
  EXPECT_THAT(program.error().expected, HasSubstr("test program"));
}

TEST_F(CpuCompileTest, AFunctionDefinedNowhereIsAnErrorOfTheRun) {
  const auto program =
      compile(source("float nowhere(float);\n" + std::string(scaling), {{"FUNCTION(x)", "nowhere(x)"}}));
  const auto run = device_->run({launch(*program, "scale", 1, {})});
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().found, HasSubstr("nowhere"));
}

TEST_F(CpuCompileTest, AFileOutsideTheTreeIsRefused) {
  for (const std::string path : {"/etc/passwd", "../escape.hpp", "a/../../b.hpp", "", "a//b"}) {
    ProgramSource wrong = source(scaling);
    wrong.files.emplace_back(path, "");
    EXPECT_FALSE(device_->compile(wrong)) << path;
  }
  ProgramSource without_main = source(scaling);
  without_main.main_file = "other.hpp";
  EXPECT_FALSE(device_->compile(without_main));
}

TEST_F(CpuCompileTest, FilesIncludeEachOtherFromTheRoot) {
  ProgramSource several = source("#include \"kernels/tile/tile.hpp\"\n" + std::string(scaling), {{"FACTOR", "TWICE"}});
  several.files.emplace_back("kernels/tile/tile.hpp", "#include \"more.hpp\"\n");
  several.files.emplace_back("kernels/tile/more.hpp", "#define TWICE 2\n");
  expect_doubles(*compile(several));
}

TEST_F(CpuCompileTest, TheSecondTimeComesFromTheCache) {
  const auto first = compile(doubling_);
  EXPECT_FALSE(first->info().from_cache);
  EXPECT_TRUE(compile(doubling_)->info().from_cache);
  reopen();
  const auto later = compile(doubling_);
  EXPECT_TRUE(later->info().from_cache);
  EXPECT_EQ(later->info().machine_code_hash, first->info().machine_code_hash);
  EXPECT_GT(later->info().code_bytes, 0);
  EXPECT_THAT(later->info().flags, HasSubstr("-O3"));
  expect_doubles(*later);
  EXPECT_FALSE(compile(source(scaling, {{"FACTOR", "3"}}))->info().from_cache);
}

TEST_F(CpuCompileTest, ABrokenCacheEntryIsCompiledAgain) {
  compile(doubling_);
  const std::string path = cache_entries().at(0);
  const std::string good = *files_.read(path);
  const std::string flipped = [&] {
    std::string text = good;
    text[text.size() / 2] ^= 1;
    return text;
  }();
  for (const std::string& bad : {std::string(), good.substr(0, good.size() / 2), good.substr(0, good.size() - 1),
                                 good + "x", flipped, std::string(good.size(), 'x'), seal("sealed, but no program")}) {
    write(path, bad);
    const auto program = compile(doubling_);
    EXPECT_FALSE(program->info().from_cache);
    expect_doubles(*program);
    EXPECT_EQ(*files_.read(path), good) << "the entry must be whole again";
  }
}

TEST_F(CpuCompileTest, AnEntryRemovedBeforeTheFirstRunDoesNotMatter) {
  const auto program = compile(doubling_);
  std::filesystem::remove_all(folder_ / "cache");
  expect_doubles(*program);
}

TEST_F(CpuCompileTest, ACacheThatCanNotBeWrittenCostsOnlyTheCache) {
  write(folder_ / "file", "no folder");
  for (const std::string& directory : {folder_ / "file/cache", std::string("/proc/hone-cache"), std::string()}) {
    options_.cache_directory = directory;
    reopen();
    const auto program = compile(doubling_);
    EXPECT_FALSE(program->info().from_cache);
    expect_doubles(*program);
  }
}

TEST_F(CpuCompileTest, TemporaryFilesAreGoneAfterwards) {
  {
    const auto program = compile(doubling_);
    (void)device_->compile(source("error"));
    options_.cache_directory.clear();
    reopen();
    expect_doubles(*compile(doubling_));
    device_.reset();
  }
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    left.push_back(entry.path().filename().string());
  EXPECT_EQ(left, std::vector<std::string>{"cache"});
}

TEST_F(CpuCompileTest, ManyThreadsAndDevicesMayCompileTheSameAndOthers) {
  auto other_device = open_cpu_device(options_, processes_, files_, clock_);
  ASSERT_TRUE(other_device);
  std::vector<std::string> hashes(12);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      threads.emplace_back([&, i] {
        Device& device = i % 2 == 0 ? *device_ : **other_device;
        const auto program = device.compile(source(scaling, {{"FACTOR", std::to_string(2 + i % 3)}}));
        if (program) hashes[i] = (*program)->info().machine_code_hash;
      });
    }
  }
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    EXPECT_FALSE(hashes[i].empty());
    EXPECT_EQ(hashes[i], hashes[i % 3]);
  }
  EXPECT_EQ(cache_entries().size(), 3U);
  expect_doubles(*compile(doubling_));
}

TEST_F(CpuCompileTest, ADeadDefineGivesTheSameHashALiveOneAnother) {
  const std::string hash = hash_of(scaling, {{"FACTOR", "2.5f"}});
  EXPECT_FALSE(hash.empty());
  EXPECT_EQ(hash_of(scaling, {{"FACTOR", "2.5f"}, {"NOBODY_READS_THIS", "17"}}), hash);
  EXPECT_EQ(hash_of(std::string("// a comment\n\n") + scaling, {{"FACTOR", "(1.25f + 1.25f)"}}), hash);
  EXPECT_NE(hash_of(scaling, {{"FACTOR", "-values[i]"}}), hash);
}

TEST_F(CpuCompileTest, AChangedConstantAloneIsAnotherProgram) {
  EXPECT_NE(hash_of(scaling, {{"FACTOR", "2.5f"}}), hash_of(scaling, {{"FACTOR", "2.25f"}}));
  const char table[] = R"(
#include <cstdint>
static const int table[64] = {1, 2, 3, LAST};
extern "C" void look_up(void* const* a, int64_t first, int64_t, int, int, void*) { **static_cast<int* const*>(a[0]) = table[first & 63]; }
)";
  EXPECT_NE(hash_of(table, {{"LAST", "4"}}), hash_of(table, {{"LAST", "5"}}));
}

TEST_F(CpuCompileTest, AnotherOutsideFunctionIsAnotherProgram) {
  const std::string sine = hash_of(scaling, {{"FUNCTION(x)", "sinf(x)"}}),
                    tangent = hash_of(scaling, {{"FUNCTION(x)", "tanf(x)"}});
  EXPECT_NE(sine, tangent);
  EXPECT_EQ(sine, hash_of(scaling, {{"FUNCTION(x)", "std::sin(x)"}}));
}

TEST_F(CpuCompileTest, NamesOfTheProgramsOwnFunctionsAreNotInTheHash) {
  const char named[] = R"(
#include <cstdint>
template <int unused> struct Tag {};
template <class T> __attribute__((noinline)) float work(T, float x) { return x * 3 + 1; }
extern "C" void run(void* const* a, int64_t first, int64_t last, int, int, void*) {
  float* values = *static_cast<float* const*>(a[0]);
  for (int64_t i = first; i < last; ++i) values[i] = work(Tag<VALUE>{}, values[i]);
}
)";
  EXPECT_EQ(hash_of(named, {{"VALUE", "1"}}), hash_of(named, {{"VALUE", "1234567"}}));
}

TEST_F(CpuCompileTest, TheFolderOfTheCompilationIsNotInTheHash) {
  const char placed[] = R"(
#include <cstdint>
extern "C" void where(void* const* a, int64_t, int64_t, int, int, void*) { *static_cast<const char** const*>(a[0])[0] = __FILE__; }
)";
  const std::string hash = hash_of(placed);
  test::TemporaryFolder elsewhere;
  options_.cache_directory.clear();
  options_.temporary_directory = elsewhere.path();
  reopen();
  EXPECT_EQ(hash_of(placed), hash);
}

// Inline variables of templates have the same name in every variant; merged by the loader, the second variant loaded would
// compute with the first one's table.
TEST_F(CpuCompileTest, VariantsLoadedTogetherDoNotShareVariables) {
  const char sharing[] = R"(
#include <cstdint>
template <class T> struct Table { inline static int value = VALUE; };
inline int counter() { static int count = VALUE; return ++count; }
extern "C" void get(void* const* a, int64_t, int64_t, int, int, void*) {
  int* out = *static_cast<int* const*>(a[0]);
  out[0] = Table<float>::value;
  out[1] = counter();
}
)";
  const auto first = compile(source(sharing, {{"VALUE", "10"}})), second = compile(source(sharing, {{"VALUE", "20"}}));
  auto out = buffer_of({0, 0});
  ASSERT_TRUE(device_->run({launch(*first, "get", 1, {BufferView{out.get(), 0}})}));
  EXPECT_EQ(values_of(*out), (std::vector<int>{10, 11}));
  ASSERT_TRUE(device_->run({launch(*second, "get", 1, {BufferView{out.get(), 0}})}));
  EXPECT_EQ(values_of(*out), (std::vector<int>{20, 21}));
}

TEST_F(CpuCompileTest, WithoutACompilerTheDeviceIsDescribedAndCompilingSaysWhatToInstall) {
  base::ScriptedProcesses nothing_installed;
  auto opened = open_cpu_device(options_, nothing_installed, files_, clock_);
  ASSERT_TRUE(opened);
  EXPECT_TRUE((*opened)->info().compiler.empty());
  EXPECT_FALSE((*opened)->info().name.empty());
  const auto program = (*opened)->compile(doubling_);
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().kind, base::ErrorKind::preflight);
  EXPECT_THAT(program.error().remedy, HasSubstr("apt-get install g++"));
}

}  // namespace
}  // namespace hone::device::cpu
