// A kernel that a test makes up: what is true of it, known to the test and hidden from the stages. Every fake has one; fakes that
// one class inherits share it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "model/variant.hpp"

namespace hone::test {

// What a variant's source text does. Texts that are not described behave as the original does.
struct SourceBehaviour {
  double forward_factor = 1, backward_factor = 1;  // of the time
  double memory_factor = 1;
  bool compiles = true, runs = true;
  bool same_code = false;                   // the compiler makes the original's machine code of it
  std::string smoke_failure, full_failure;  // empty: the gate passes
};

struct FakeKernel {
  std::string name = "rms_norm";
  std::vector<std::string> sizes = {"1024", "2048", "4096"}, modes = {"forward", "backward", "full"};
  std::function<model::Settings(const std::string& pass, std::int64_t x)> shipped =
      [](const std::string&, std::int64_t) { return model::Settings{}; };
  std::map<std::string, SourceBehaviour> sources;  // by content of an edit
  // What is in production: this text, and the settings that an installation wrote. Without `files` nothing can be installed.
  std::string source = "the original text\n", installed_file = "production/settings.json";
  base::FileSystem* files = nullptr;

  // What happened, in order: "sample forward 1024 v1", "build v1", "gate smoke v1"; documents add theirs.
  std::vector<std::string> events;
  // Whether a call fails: "build v2", "subject v2", "sample v2", "memory v2", "parts v2", and the same of a provider.
  std::function<bool(const std::string& call)> fails;

  base::Result<void> may(const std::string& call) const;
  model::Variant original() const;
  // The settings in force where the variant has none of its own.
  model::Variant complete(const model::Variant& variant) const;
  const SourceBehaviour& behaviour(const model::Variant& variant) const;
};

// The one base of several fakes that one class inherits; a fake is never copied.
struct HasFakeKernel {
  HasFakeKernel() = default;
  HasFakeKernel(const HasFakeKernel&) = delete;
  HasFakeKernel& operator=(const HasFakeKernel&) = delete;
  FakeKernel kernel;
};

std::string text_of(const model::Settings& settings);  // "ROWS=1 WIDTH=4 "

}  // namespace hone::test
