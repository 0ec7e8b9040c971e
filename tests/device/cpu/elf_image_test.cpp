// The ELF reader on a real shared object, and on every way of cutting or spoiling it.
#include "device/cpu/elf_image.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/files.hpp"
#include "base/process.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::device::cpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ElfImageTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const test::TemporaryFolder folder;
    base::SystemProcesses processes;
    base::Command command;
    command.arguments = {"c++", "-O1", "-fPIC", "-shared", "-x", "c++", "-", "-o", folder / "program.so"};
    command.input =
        "extern \"C\" int answer() { return 42; }\n"
        "extern \"C\" const char* words() { return \"words\"; }\n"
        "static int hidden() { return 1; }\n"
        "extern \"C\" int (*pointer())() { return hidden; }\n";
    const auto outcome = processes.run(command);
    ASSERT_TRUE(outcome && outcome->exit_status == 0) << "no compiler";
    base::SystemFiles files;
    image_ = *files.read(folder / "program.so");
  }
  static std::string image_;
};
std::string ElfImageTest::image_;

TEST_F(ElfImageTest, FindsCodeAndFunctions) {
  const auto facts = read_elf(image_, "program.so");
  ASSERT_TRUE(facts) << base::describe(facts.error());
  EXPECT_THAT(facts->functions, ElementsAre("answer", "pointer", "words"));
  EXPECT_GT(facts->code_bytes, 0);
  EXPECT_EQ(facts->machine_code_hash.size(), 32U);
}

TEST_F(ElfImageTest, BytesBehindTheEndChangeNothing) {
  EXPECT_EQ(read_elf(image_ + "a seal", "program.so")->machine_code_hash,
            read_elf(image_, "program.so")->machine_code_hash);
}

TEST_F(ElfImageTest, WhatIsNoSharedObjectIsAnErrorThatNamesIt) {
  const auto text = read_elf(
      "#!/bin/sh\necho this is a script and longer than an ELF header, so that the magic is looked at\n", "a/b.so");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().where, "a/b.so");
  EXPECT_THAT(text.error().found, HasSubstr("no ELF file"));
  EXPECT_THAT(read_elf("", "a/b.so").error().found, HasSubstr("0 bytes"));
  std::string narrow = image_;
  narrow[4] = 1;
  EXPECT_THAT(read_elf(narrow, "a/b.so").error().found, HasSubstr("64-bit"));
}

TEST_F(ElfImageTest, ATruncatedObjectIsAlwaysAnError) {
  for (std::size_t length = 0; length < image_.size(); length += 1 + length / 512) {
    EXPECT_FALSE(read_elf(std::string_view(image_).substr(0, length), "cut")) << length;
  }
}

TEST_F(ElfImageTest, ASpoiledObjectIsReadOrRefusedAndNeverCrashes) {
  std::mt19937 random(7);
  int read = 0, refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string spoiled = image_;
    // Headers lie at both ends of the file.
    const std::size_t window = round % 2 == 0 ? 256 : 4096;
    for (int change = 0; change < 3; ++change) {
      const std::size_t back = random() % std::min(window, spoiled.size());
      const std::size_t at = random() % 2 == 0 ? back : spoiled.size() - 1 - back;
      spoiled[at] = static_cast<char>(random());
    }
    ++(read_elf(spoiled, "spoiled") ? read : refused);
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace hone::device::cpu
