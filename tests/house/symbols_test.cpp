// Below cli nothing prints and nothing ends the process: read from the symbols of the compiled floors.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/process.hpp"
#include "base/text.hpp"

namespace hone::house {
namespace {

const std::set<std::string>& forbidden_symbols() {
  static const std::set<std::string> names = {"printf",    "vprintf",    "puts",         "putchar",       "perror",
                                              "stdout",    "stderr",     "__printf_chk", "__vprintf_chk", "std::cout",
                                              "std::cerr", "std::clog",  "std::cin",     "exit",          "abort",
                                              "_Exit",     "quick_exit", "system",       "popen"};
  return names;
}

struct Archive {
  std::string name;
  std::size_t objects = 0, symbols = 0;
  std::vector<std::string> faults;
};

// nm prints "object.o:" before the symbols of each member; undefined ones as "    U name".
Archive read_archive(const std::string& name, const std::string& nm_output) {
  Archive archive{name, 0, 0, {}};
  std::string object;
  for (const std::string& line : base::split(nm_output, '\n')) {
    const std::string text = base::trim(line);
    if (!text.empty() && text.back() == ':') {
      object = text.substr(0, text.size() - 1);
      ++archive.objects;
    }
    if (!base::starts_with(text, "U ")) continue;
    ++archive.symbols;
    std::string symbol = base::trim(text.substr(2));
    symbol = symbol.substr(0, symbol.find('@'));  // without the library's version
    if (forbidden_symbols().count(symbol) > 0) archive.faults.push_back(name + " " + object + ": " + symbol);
  }
  return archive;
}

TEST(Symbols, OfTheFloorsBelowCliNeitherPrintNorEndTheProcess) {
  base::SystemProcesses processes;
  const auto nm = processes.find("nm");
  ASSERT_TRUE(nm.has_value()) << "binutils' nm is needed to look";
  std::set<std::string> looked_at;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(HONE_BINARY_DIR)) {
    const std::string file = entry.path().filename().string();
    const bool is_floor = base::starts_with(file, "libhone_") && entry.path().extension() == ".a";
    const bool may_print = file == "libhone_cli.a" || base::starts_with(file, "libhone_test");
    if (!is_floor || may_print) continue;
    base::Command command;
    command.arguments = {*nm, "--demangle", "--undefined-only", entry.path().string()};
    const auto outcome = processes.run(command);
    ASSERT_TRUE(outcome.ok()) << base::describe(outcome.error());
    ASSERT_EQ(outcome->exit_status, 0) << outcome->error;
    const Archive archive = read_archive(file, outcome->output);
    EXPECT_GT(archive.objects, 0u) << file;
    EXPECT_GT(archive.symbols, 0u) << file << " has no undefined symbol at all: nothing was read";
    for (const std::string& fault : archive.faults) ADD_FAILURE() << fault;
    looked_at.insert(file);
  }
  EXPECT_TRUE(looked_at.count("libhone_base.a")) << "no floor was found below " << HONE_BINARY_DIR;
  EXPECT_TRUE(looked_at.count("libhone_kernels.a")) << "no floor was found below " << HONE_BINARY_DIR;
}

TEST(Symbols, AForbiddenOneIsFoundWithItsObject) {
  const Archive archive =
      read_archive("libx.a",
                   "\na.cpp.o:\n                 U memcpy\n                 U printf@GLIBC_2.2.5\n\nb.cpp.o:\n         "
                   "        U std::cout\n                 U _exit\n");
  EXPECT_EQ(archive.objects, 2u);
  EXPECT_EQ(archive.symbols, 4u);
  ASSERT_EQ(archive.faults.size(), 2u);
  EXPECT_EQ(archive.faults[0], "libx.a a.cpp.o: printf");
  EXPECT_EQ(archive.faults[1], "libx.a b.cpp.o: std::cout");
}

}  // namespace
}  // namespace hone::house
