// The texts that a manifest's kernel is compiled from: its source, the headers beside it, and the calls that hone writes.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "device/device.hpp"
#include "model/variant.hpp"
#include "repository/manifest/problem.hpp"

namespace hone::repository::manifest {

// Files below the manifest's folder by their path in it. What was read stays as it was then, whatever happens to the file.
class Sources {
 public:
  Sources(base::FileSystem& files, const Manifest& manifest) : files_(files), manifest_(manifest) {}

  // A file of the manifest. Errors (kind usage): a missing one, one that a link leads out of the folder, a pipe.
  base::Result<std::string> read(const std::string& path);
  base::FileSystem& files() { return files_; }

  // `main` and what it includes in quotes, as far as it lies below the folder; `edits` take the place of files. An include
  // that leaves the folder is an error; one that is not there is left for the compiler to name. `as_written`: headers under
  // the names by which they are included too, for a compiler that looks for no others; two files of one such name are an
  // error then.
  base::Result<std::vector<std::pair<std::string, std::string>>> gather(const std::string& main,
                                                                        const std::vector<model::SourceEdit>& edits,
                                                                        bool as_written = false);

 private:
  base::FileSystem& files_;
  const Manifest& manifest_;
  std::mutex mutex_;
  std::map<std::string, std::string> read_;
};

// The translation unit of a plan of a pass. A C++ entry is called once for each program of the grid by a function that hone writes,
// whose name is entry_of.
base::Result<device::ProgramSource> program_source(Sources& sources, const Manifest& manifest, const PassDecl& pass,
                                                   const kernels::Plan& plan,
                                                   const std::vector<model::SourceEdit>& edits);

// What a compiler says of one of these programs, with places in the user's own files: those below the manifest's folder, named
// from where hone runs, and the launch in the manifest for the calls that hone wrote.
base::Error in_users_files(base::Error error, const Manifest& manifest, base::FileSystem& files);

// The reference's program: one entry for each pass that has one, called with every tensor as an array of double.
base::Result<device::ProgramSource> reference_source(Sources& sources, const Manifest& manifest);
std::string reference_entry(const std::string& pass);

}  // namespace hone::repository::manifest
