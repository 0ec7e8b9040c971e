#include "repository/manifest/settings_file.hpp"

#include <gmock/gmock.h>

namespace hone::repository::manifest {
namespace {

using ::testing::HasSubstr;

InstalledEntry entry(const std::string& device, std::int64_t rows) {
  InstalledEntry entry{device, "fp32", {}, "quick \"and\" small\\", "2026-11-30T00:00:00Z", "0.1.0"};
  entry.variant.settings["forward"] = {
      "columns", {{0, {{"ROWS", rows}}, "a\nb"}, {512, {{"ROWS", 1}}, ""}}, 0, entry.reason};
  return entry;
}

TEST(ASettingsFile, IsReadAsItWasWritten) {
  const std::vector<InstalledEntry> entries = {entry("NVIDIA H200", 4), entry("a CPU \x01", 2)};
  auto read = parse_settings(settings_text("row_scale", entries), "s.toml");
  ASSERT_TRUE(read) << base::describe(read.error());
  EXPECT_EQ(*read, entries);
}

TEST(ASettingsFile, KeepsTheEntriesOfOtherDevices) {
  const std::string text = settings_text("k", {entry("one", 4), entry("two", 2)});
  auto changed = text_with(text, "s.toml", "k", entry("two", 8));
  ASSERT_TRUE(changed);
  auto read = parse_settings(*changed, "s.toml");
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, (std::vector<InstalledEntry>{entry("one", 4), entry("two", 8)}));
}

TEST(ASettingsFile, ThatWasEditedBadlyNamesThePlace) {
  const std::string text = settings_text("k", {entry("one", 4)});
  std::string broken = text;
  broken.replace(broken.find("from = 512"), 10, "from = 0  ");
  auto read = parse_settings(broken, "s.toml");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().expected, HasSubstr("ascending"));
  EXPECT_THAT(read.error().where, HasSubstr("s.toml:"));
  EXPECT_TRUE(parse_settings("", "s.toml"));
  EXPECT_FALSE(parse_settings("[[entry]]\ndevice = 3\n", "s.toml"));
}

}  // namespace
}  // namespace hone::repository::manifest
