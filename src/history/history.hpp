// The measurements that commands leave behind, one row each in a database of the workspace, so that a later run can be held
// against an earlier one. Two separate runs are no verdict: what is read from here is a reason to measure, never a result.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace hone::history {

// One command's measurements of one kernel, and everything that they depend on.
struct Run {
  std::int64_t id = 0;  // given by the database
  std::string stage;    // "profile", "optimize", "finalize", "bench", "compare"
  std::string created;  // UTC
  std::string kernel, repository, dtype;
  std::string options;  // "casting_mode=gemma rows=2048"
  std::string device, driver, compiler;
  std::string commit;         // of hone
  std::string source_hash;    // of what was in production; empty: not known
  std::string source_commit;  // of a checkout's; empty: none, or not known
  std::string command;        // as typed
  std::string session;        // the same for all stages that rest on one profile; empty: not known
  bool operator==(const Run&) const = default;
};

// own: the kernel as it was in production. baseline: what it is compared with. variant: a candidate, whose name means something
// else in every run.
enum class Role { own, baseline, variant };

struct Measurement {
  std::string x_name, x_value, mode, provider;
  Role role = Role::own;
  std::string metric, unit;  // "speed" in "ms", "wall" in "ms", "memory" in "MB"
  double p20 = 0, p50 = 0, p80 = 0;
  int samples = 0;
  bool operator==(const Measurement&) const = default;
};

struct KeptRun {
  Run run;
  std::vector<Measurement> measurements;
};

enum class Access { read, add };

// The database file. Errors (pre-flight) of every call name the file and a remedy: no regular file, another program's or a newer
// hone's database, damaged, locked, not writable, a full disk. A call that fails has changed nothing.
class Database {
 public:
  // `add` makes the file where there is none, `read` does not.
  static base::Result<Database> open(const std::string& path, Access access);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  // Keeps a run with its measurements, all or nothing; gives its id.
  base::Result<std::int64_t> add(const Run& run, const std::vector<Measurement>& measurements);
  // Runs with their measurements, the oldest first; of one kernel where it is named.
  base::Result<std::vector<KeptRun>> runs(const std::string& kernel = "") const;

 private:
  struct State;
  explicit Database(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace hone::history
