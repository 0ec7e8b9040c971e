// Feeds arbitrary bytes to the audit of Triton, CUDA and C++ source, to what follows from it, to its JSON, and to the byte-exact
// edit. The first byte chooses: CUDA for 'C', C++ for '+', otherwise Python.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/files.hpp"
#include "diagnose/source_advice/advice.hpp"
#include "model/source_facts.hpp"
#include "source/audit.hpp"
#include "source/edit.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const bool cuda = size > 0 && text[0] == 'C', cpp = size > 0 && text[0] == '+';
  hone::base::MemoryFiles files;
  const std::string path = cuda ? "/w/kernel.cu" : cpp ? "/w/kernel.cpp" : "/w/pack/kernel.py";
  if (!files.write_atomically(path, text)) return 0;
  hone::model::Audit audit;
  if (auto found = hone::source::audit_paths(files, {path})) audit = std::move(*found);
  // A second module imports from the text, so that names are followed into it.
  if (!cuda && !cpp) {
    const std::string user =
        "from pack.kernel import *\nfrom pack.kernel import kernel as k\n\ndef run(x, n):\n    k[(n,)](x, n, "
        "BLOCK=64)\n";
    audit.kernels.push_back(hone::source::audit_text(files, "/w/pack/user.py", user));
  }
  hone::diagnose::advise(audit);
  const std::string json = hone::model::to_json(audit);
  if (json.empty() || json[0] != '{') std::abort();

  // An edit that replaces nothing, and one that replaces the middle by itself, give the same bytes.
  const auto same = hone::source::apply(text, {}, "input");
  if (!same || *same != text) std::abort();
  const std::size_t third = size / 3;
  const auto edited = hone::source::apply(text, {{third, 2 * third, text.substr(third, third)}}, "input");
  if (edited && *edited != text) std::abort();
  return 0;
}
