// The workspace refuses what it must not touch, and never loses an original.
#include "stages/workspace.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/support/sample_documents.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::test {
namespace {

using stages::Workspace;
using ::testing::HasSubstr;

class WorkspaceTest : public ::testing::Test {
 protected:
  base::MemoryFiles files;
};

TEST_F(WorkspaceTest, IsTheKernelsFolderBelowTheRoot) {
  auto workspace = Workspace::open(files, "optimization", "rms_norm");
  ASSERT_TRUE(workspace);
  EXPECT_EQ(workspace->at("profile.json"), "optimization/rms_norm/profile.json");
  EXPECT_EQ(workspace->notes_name("v2"), "rms_norm_v2_notes.md");
  EXPECT_EQ(workspace->settings_name("v2"), "rms_norm_v2_settings.json");
  EXPECT_TRUE(files.files().empty()) << "opening leaves nothing behind";
}

TEST_F(WorkspaceTest, OfAnotherKernelIsRefused) {
  auto profile = sample_profile();
  profile.kernel = profile.identity.kernel = "swiglu";
  ASSERT_TRUE(files.write_atomically("optimization/rms_norm/profile.json", model::to_json(profile)));
  auto workspace = Workspace::open(files, "optimization", "rms_norm");
  ASSERT_FALSE(workspace);
  EXPECT_EQ(workspace.error().kind, base::ErrorKind::preflight);
  EXPECT_THAT(workspace.error().found, HasSubstr("swiglu"));
  EXPECT_THAT(workspace.error().remedy, HasSubstr("--workspace"));
}

TEST_F(WorkspaceTest, OfAnOlderSchemaIsRefused) {
  ASSERT_TRUE(files.write_atomically("optimization/rms_norm/profile.json",
                                     "{\"schema\": \"hone.profile/0\", \"kernel\": \"rms_norm\"}"));
  auto workspace = Workspace::open(files, "optimization", "rms_norm");
  ASSERT_FALSE(workspace);
  EXPECT_THAT(workspace.error().found, HasSubstr("hone.profile/0"));
}

TEST_F(WorkspaceTest, OnAFullDiskIsRefused) {
  files.set_free_bytes(1 << 20);
  auto workspace = Workspace::open(files, "optimization", "rms_norm");
  ASSERT_FALSE(workspace);
  EXPECT_THAT(workspace.error().found, HasSubstr("1.0 MiB"));
}

TEST_F(WorkspaceTest, ThatCanNotBeWrittenIsRefused) {
  files.fail_writes_after(1);
  EXPECT_FALSE(Workspace::open(files, "optimization", "rms_norm"));
  ASSERT_TRUE(base::MemoryFiles().write_atomically("a", "b"));
  base::SystemFiles disk;
  TemporaryFolder folder;
  ASSERT_TRUE(disk.write_atomically(folder / "file", "in the way"));
  auto workspace = Workspace::open(disk, folder / "file", "rms_norm");
  ASSERT_FALSE(workspace);
  EXPECT_EQ(workspace.error().kind, base::ErrorKind::preflight);
}

TEST_F(WorkspaceTest, KeepsEveryOriginal) {
  auto workspace = *Workspace::open(files, "optimization", "rms_norm");
  EXPECT_EQ(*workspace.write_snapshot({{"kernels/rms_norm.hpp", "first"}, {"config.hpp", "c"}}),
            (std::vector<std::string>{"original_rms_norm.hpp", "original_rms_norm_config.hpp"}));
  EXPECT_EQ(workspace.write_snapshot({{"rms_norm.hpp", "first"}})->front(), "original_rms_norm.hpp");
  EXPECT_EQ(workspace.write_snapshot({{"rms_norm.hpp", "second"}})->front(), "original_rms_norm_2.hpp");
  EXPECT_EQ(workspace.write_snapshot({{"rms_norm.hpp", "second"}})->front(), "original_rms_norm_2.hpp");
  EXPECT_EQ(*files.read("optimization/rms_norm/original_rms_norm.hpp"), "first");
}

TEST_F(WorkspaceTest, DocumentsThatAreMissingTornOrEditedSaySo) {
  auto workspace = *Workspace::open(files, "optimization", "rms_norm");
  EXPECT_THAT(workspace.load_profile().error().remedy, HasSubstr("hone profile rms_norm"));
  EXPECT_THAT(workspace.load_comparison().error().remedy, HasSubstr("hone optimize rms_norm"));
  EXPECT_THAT(workspace.load_variant("v3").error().expected, HasSubstr("rms_norm_v3_settings.json"));
  const std::string whole = model::to_json(sample_profile());
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 997) {
    ASSERT_TRUE(workspace.write("profile.json", whole.substr(0, bytes)));
    EXPECT_FALSE(workspace.load_profile()) << bytes;
  }
  std::string edited = whole;
  edited.replace(edited.find("memory-bound"), 12, "memory-bonud");
  ASSERT_TRUE(workspace.write("profile.json", edited));
  auto profile = workspace.load_profile();
  ASSERT_FALSE(profile);
  EXPECT_THAT(profile.error().where, HasSubstr("profile.json"));
}

}  // namespace
}  // namespace hone::test
