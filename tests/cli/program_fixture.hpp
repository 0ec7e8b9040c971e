// The built program in a folder of its own: run it, and look at what it says and leaves.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/process.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/sample_documents.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::cli {

class ProgramTest : public ::testing::Test {
 protected:
  base::Outcome run(std::vector<std::string> words, std::map<std::string, std::string> environment = {}) {
    words.insert(words.begin(), hone());
    const bool json = std::find(words.begin(), words.end(), "--json") != words.end();
    base::Outcome outcome = run_program(std::move(words), std::move(environment));
    if (json && !outcome.output.empty()) expect_published(outcome.output);
    return outcome;
  }
  // A document of hone's is as its schema in docs/schemas says.
  static void expect_published(const std::string& text) {
    const nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
    ASSERT_FALSE(document.is_discarded()) << text.substr(0, 400);
    for (const std::string& fault : test::schema_faults(test::schema_of(document), document))
      ADD_FAILURE() << test::schema_of(document) << ": " << fault;
  }
  // And so is every document of a workspace, journals line by line. Returns how many were looked at.
  static int expect_all_published(const std::string& workspace) {
    int looked_at = 0;
    for (const auto& [path, content] : content_of(workspace)) {
      const std::string name = std::filesystem::path(path).filename();
      const std::string folder = std::filesystem::path(path).parent_path().filename();
      if (name.ends_with(".json")) {
        expect_published(content);
        ++looked_at;
      }
      if (!name.ends_with(".jsonl")) continue;
      const std::string schema = folder == "samples" ? "samples" : folder == "install" ? "installation" : "journal";
      std::istringstream lines(content);
      for (std::string line; std::getline(lines, line); ++looked_at)
        for (const std::string& fault : test::schema_faults(schema, line))
          ADD_FAILURE() << path << ": " << fault << " in " << line.substr(0, 200);
    }
    return looked_at;
  }
  // A script of sh, with $HONE and $FOLDER.
  base::Outcome run_shell(const std::string& script, std::map<std::string, std::string> environment = {}) {
    environment["HONE"] = hone();
    environment["FOLDER"] = folder_.path();
    return run_program({"sh", "-c", script}, std::move(environment));
  }

  // The error names what was found and what to do, within one screen.
  static void expect_refused(const base::Outcome& outcome, int code, const std::string& found) {
    EXPECT_EQ(outcome.exit_status, code) << outcome.error;
    EXPECT_NE(outcome.error.find(found), std::string::npos) << outcome.error;
    EXPECT_NE(outcome.error.find("to do"), std::string::npos) << outcome.error;
    EXPECT_LE(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 24);
    EXPECT_TRUE(outcome.output.empty()) << outcome.output;
  }

  // Every file below a folder with its bytes.
  static std::map<std::string, std::string> content_of(const std::string& folder) {
    std::map<std::string, std::string> content;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      std::ostringstream text;
      text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      content[entry.path().string()] = text.str();
    }
    return content;
  }

  static std::string hone() { return std::string(HONE_BINARY_DIR) + "/hone"; }

  test::TemporaryFolder folder_;
  base::SystemFiles files_;
  base::SystemProcesses processes_;

 private:
  base::Outcome run_program(std::vector<std::string> arguments, std::map<std::string, std::string> environment) {
    base::Command command;
    command.arguments = std::move(arguments);
    command.environment = std::move(environment);
    command.environment["HONE_SETTINGS_DIR"] = folder_ / "settings";
    command.environment.try_emplace("XDG_CONFIG_HOME", folder_ / "configuration");  // not the user's own
    command.deadline_ms = 250'000;
    const auto outcome = processes_.run(command);
    EXPECT_TRUE(outcome.ok());
    return outcome.ok() ? *outcome : base::Outcome{};
  }
};

}  // namespace hone::cli
