// `hone audit` as a function: output, errors and exit codes.
#include <gtest/gtest.h>

#include <sstream>

#include "cli/commands/audit_command.hpp"

namespace {

const char kKernel[] = "import triton\nimport triton.language as tl\n\n@triton.jit\ndef k(x):\n    tl.store(x, 1)\n";

struct Ran {
  int code;
  std::string out, err;
};

Ran run(hone::base::FileSystem& files, std::vector<std::string> paths, bool json) {
  std::ostringstream out, err;
  hone::cli::AuditOptions options;
  options.paths = std::move(paths);
  options.json = json;
  const int code = hone::cli::run_audit(options, files, out, err);
  return {code, out.str(), err.str()};
}

TEST(AuditCommand, prints_a_table_or_the_document) {
  hone::base::MemoryFiles files;
  ASSERT_TRUE(files.write_atomically("/w/k.py", kKernel).ok());
  const Ran table = run(files, {"/w/k.py"}, false);
  EXPECT_EQ(table.code, 0);
  EXPECT_NE(table.out.find("k  (triton, /w/k.py)"), std::string::npos) << table.out;
  const Ran json = run(files, {"/w/k.py"}, true);
  EXPECT_EQ(json.code, 0);
  EXPECT_EQ(json.out.find("{\n  \"schema\": \"hone.audit/1\""), 0u) << json.out.substr(0, 80);
  EXPECT_TRUE(json.err.empty());
}

TEST(AuditCommand, refuses_what_is_not_there_and_what_holds_no_kernel) {
  hone::base::MemoryFiles files;
  ASSERT_TRUE(files.write_atomically("/w/plain.py", "x = 1\n").ok());
  const Ran missing = run(files, {"/w/nothing"}, true);
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.out.find("\"schema\": \"hone.error/1\""), std::string::npos) << "asked for a document, it is one";
  EXPECT_NE(missing.err.find("/w/nothing"), std::string::npos);
  const Ran plain = run(files, {"/w/plain.py"}, false);
  EXPECT_EQ(plain.code, 2);
  EXPECT_NE(plain.err.find("/w/plain.py"), std::string::npos);
  EXPECT_EQ(run(files, {}, false).code, 2);
}

TEST(AuditCommand, reads_the_good_files_of_a_folder_and_names_the_bad_ones) {
  hone::base::MemoryFiles files;
  ASSERT_TRUE(files.write_atomically("/w/a.py", kKernel).ok());
  ASSERT_TRUE(files.write_atomically("/w/b.py", std::string("\xFF\xFEi\0m\0", 6)).ok());
  const Ran ran = run(files, {"/w"}, false);
  EXPECT_EQ(ran.code, 0);
  EXPECT_NE(ran.out.find("1 operation read"), std::string::npos) << ran.out;
  EXPECT_NE(ran.err.find("/w/b.py"), std::string::npos) << ran.err;
}

TEST(AuditCommand, a_path_of_which_nothing_could_be_read_fails_and_the_document_says_why) {
  hone::base::MemoryFiles files;
  ASSERT_TRUE(files.write_atomically("/w/b.py", std::string("\xFF\xFEi\0m\0", 6)).ok());
  const Ran json = run(files, {"/w/b.py"}, true);
  EXPECT_EQ(json.code, 2);
  EXPECT_NE(json.out.find("\"problems\""), std::string::npos) << json.out;
  EXPECT_NE(json.err.find("/w/b.py"), std::string::npos);
}

TEST(AuditCommand, a_file_that_is_no_text_is_a_preflight_error_and_in_a_folder_a_problem) {
  hone::base::MemoryFiles files;
  const std::string object(
      "\x7f"
      "ELF\2\1\1\0\0\0__global__ void k() {}",
      31);
  std::string controls;
  for (int i = 0; i < 400; ++i) controls += static_cast<char>(1 + i % 255);
  ASSERT_TRUE(files.write_atomically("/w/k.py", kKernel).ok());
  for (const char* path : {"/w/b.cu", "/w/b.cpp", "/w/b.h", "/w/b.py"})
    for (const std::string& content : {object, controls}) {
      ASSERT_TRUE(files.write_atomically(path, content).ok());
      const Ran named = run(files, {"/w/k.py", path}, false);
      EXPECT_EQ(named.code, 3) << path;
      EXPECT_NE(named.err.find(path), std::string::npos) << named.err;
      EXPECT_NE(named.err.find("no text"), std::string::npos) << named.err;
      EXPECT_NE(named.err.find("to do"), std::string::npos) << named.err;
    }
  const Ran folder = run(files, {"/w"}, false);
  EXPECT_EQ(folder.code, 0);
  for (const char* path : {"/w/b.cu", "/w/b.cpp", "/w/b.py"})
    EXPECT_NE(folder.err.find(path + std::string(": expected source text, found no text")), std::string::npos)
        << folder.err;
}

TEST(AuditCommand, nothing_of_a_source_reaches_the_terminal_as_a_command) {
  hone::base::MemoryFiles files;
  ASSERT_TRUE(
      files.write_atomically("/w/k.py", std::string(kKernel) + "# TODO \x1b]0;title\x07 \xe2\x80\xae here\n").ok());
  const Ran table = run(files, {"/w/k.py"}, false);
  EXPECT_NE(table.out.find("# TODO"), std::string::npos) << table.out;
  EXPECT_EQ(table.out.find_first_of("\x1b\x07"), std::string::npos) << table.out;
  EXPECT_EQ(table.out.find("\xe2\x80\xae"), std::string::npos);
}

}  // namespace
