// The worker process as typed questions: JSON lines over a pipe, each with a deadline. It executes; everything it reports is
// judged by the caller.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/process.hpp"
#include "base/result.hpp"
#include "model/device_info.hpp"
#include "model/timing.hpp"
#include "repository/python/description.hpp"

namespace hone::repository::python {

struct WorkerSetup {
  std::string python, script;  // the interpreter, and hone_worker.py
  std::string device;          // "cpu" (Triton's interpreter) or "cuda:N"
  std::string source;          // the folder that the operator's package is imported from
  std::string module;          // "package.ops.rms_norm"; empty where the formula alone is run
  std::shared_ptr<const OperatorDescription> description;
  std::int64_t start_ms = 180'000, answer_ms = 120'000;
};

struct Started {
  model::DeviceInfo device;
  bool measurable = false;
  std::string python, torch, triton, origin;  // origin: the file the original was imported from
};

struct SampleReply {
  model::Sample sample;
  double outside_ns = 0;  // from the end of the timed stream to an idle device
  bool blocked = false;   // the host was still queueing when the device was free: gaps of the host are in the time
};

struct LaunchedKernel {
  std::string name, code_hash;
  std::vector<std::int64_t> grid;
  int num_warps = 0, num_stages = 0, registers = -1, spills = -1;
  std::int64_t shared_bytes = -1, code_bytes = 0;
};
struct BuildReply {
  std::vector<LaunchedKernel> kernels;
  std::string operations;  // hash of PyTorch's own operations in the pass
};

// One build to come: what compile_ahead compiles for.
struct AheadItem {
  std::string name;
  CaseSpec spec;
  std::string mode;
};

// A pass apart into its kernels, medians by events around each launch.
struct PartsReply {
  double device_ns = 0;
  std::vector<std::pair<std::string, double>> kernels;  // name, ns
};

struct MemoryReply {
  double peak_bytes = 0, saved_bytes = 0, input_bytes = 0;
};

// One output or gradient against the formula in double precision.
struct TensorDeviation {
  std::int64_t elements = 0, non_finite = 0, first_non_finite = -1, worst_index = 0;
  double worst_error = 0, worst_value = 0, worst_reference = 0, norm_error = 0, largest_reference = 0;
};
struct CheckedTensor {
  std::string name, dtype;
  bool same_form = true, repeats = true, identical = false, has_reference = false;
  TensorDeviation original, candidate;
};
struct CheckReply {
  std::string original_refused, candidate_refused;  // the exception, where it did not run
  std::vector<std::string> changed_inputs, missing;
  std::vector<std::string> disturbed;  // what is not the candidate's own and was changed by it
  std::vector<CheckedTensor> tensors;
};

class Worker {
 public:
  // Starts the process and imports the original. Errors: preflight (what python said).
  static base::Result<std::unique_ptr<Worker>> start(base::Processes& processes, const WorkerSetup& setup);

  const Started& started() const { return started_; }
  // False also where the process has lost its device and is about to end.
  bool alive() { return !lost_ && dialogue_->alive(); }

  // `file` empty: the original. "formula": the operator in plain PyTorch.
  base::Result<void> load(const std::string& name, const std::string& file);
  base::Result<void> unload(const std::string& name);
  base::Result<SampleReply> sample(const std::string& name, const CaseSpec& spec, const std::string& mode);
  base::Result<BuildReply> build(const std::string& name, const CaseSpec& spec, const std::string& mode);
  // Compiles on all cores what these builds will ask for, into the compiler's own cache. Nothing depends on it.
  base::Result<void> compile_ahead(const std::vector<AheadItem>& items);
  base::Result<PartsReply> parts(const std::string& name, const CaseSpec& spec, const std::string& mode, int samples);
  base::Result<MemoryReply> memory(const std::string& name, const CaseSpec& spec);
  base::Result<CheckReply> check(const std::string& original, const std::string& name, const CaseSpec& spec);
  base::Result<std::map<std::string, std::vector<double>>> ceilings(bool quick);

 private:
  Worker(std::unique_ptr<base::Dialogue> dialogue, const WorkerSetup& setup)
      : dialogue_(std::move(dialogue)), setup_(setup) {}
  base::Result<model::Json> ask(model::Json request, std::int64_t deadline_ms);

  std::unique_ptr<base::Dialogue> dialogue_;
  WorkerSetup setup_;
  Started started_;
  std::int64_t next_ = 1;
  bool lost_ = false;
};

const char* architecture_of(const std::string& compute_capability);

}  // namespace hone::repository::python
