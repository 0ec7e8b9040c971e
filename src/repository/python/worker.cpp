#include "repository/python/worker.hpp"

#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "repository/python/answer_fields.hpp"

namespace hone::repository::python {

namespace {

base::Error unreadable(const std::string& what, const std::string& where) {
  return {base::ErrorKind::gate, "an answer of the worker that can be read", what, where, "this variant is left out"};
}

Json start_request(const WorkerSetup& setup) {
  return Json::object({{"do", "start"},
                       {"device", setup.device},
                       {"source", setup.source},
                       {"module", setup.module},
                       {"operator", description_json(*setup.description)},
                       {"code", setup.description->code}});
}

Json about(const std::string& what, const std::string& name, const CaseSpec& spec) {
  Json request = case_json(spec);
  request.add("do", what), request.add("name", name);
  return request;
}

TensorDeviation deviation(const Json& json) {
  TensorDeviation d;
  d.elements = integer(json, "elements");
  d.non_finite = integer(json, "non_finite");
  d.first_non_finite = integer(json, "first_non_finite", -1);
  d.worst_index = integer(json, "worst_index");
  d.worst_error = number(json, "worst_error");
  d.worst_value = number(json, "worst_value");
  d.worst_reference = number(json, "worst_reference");
  d.norm_error = number(json, "norm_error");
  d.largest_reference = number(json, "largest_reference");
  return d;
}

model::DeviceInfo device_of(const Json& json, const std::string& id, const std::string& triton) {
  model::DeviceInfo info;
  info.name = text(json, "name");
  info.kind = text(json, "kind");
  info.id = id;
  info.compute_capability = text(json, "compute_capability");
  info.architecture = architecture_of(info.compute_capability);
  info.sm_count = static_cast<int>(integer(json, "sm_count", 1));
  info.total_memory_bytes = integer(json, "total_memory_bytes");
  if (const std::int64_t l2 = integer(json, "l2_bytes"); l2 > 0) info.caches.push_back({2, l2, info.sm_count});
  info.shared_memory_per_block_bytes = integer(json, "shared_memory_per_block_bytes");
  info.registers_per_sm = integer(json, "registers_per_sm");
  info.max_threads_per_sm = static_cast<int>(integer(json, "max_threads_per_sm"));
  info.clock_mhz = number(json, "clock_mhz");
  info.driver = text(json, "driver");
  info.compiler = "Triton " + triton;
  return info;
}

}  // namespace

const char* architecture_of(const std::string& capability) {
  const std::string major = capability.substr(0, capability.find('.'));
  if (capability == "8.9") return "ada";
  if (major == "8") return "ampere";
  if (major == "9") return "hopper";
  if (major == "10" || major == "11" || major == "12") return "blackwell";
  return capability.empty() ? "" : "other";
}

base::Result<std::unique_ptr<Worker>> Worker::start(base::Processes& processes, const WorkerSetup& setup) {
  base::Command command;
  command.arguments = {setup.python, "-u", setup.script};
  // Nothing may be written beside the operator's sources.
  command.environment = {{"PYTHONDONTWRITEBYTECODE", "1"}, {"HONE_WORKER", "1"}};
  HONE_TRY(dialogue, processes.talk(command));
  std::unique_ptr<Worker> worker(new Worker(std::move(*dialogue), setup));
  auto answer = worker->ask(start_request(setup), setup.start_ms);
  if (!answer) {
    base::Error error = answer.error();
    if (error.kind != base::ErrorKind::interrupted) error.kind = base::ErrorKind::preflight;
    error.remedy = "'hone doctor' shows what python has; the operator's own tests must run with the same python3";
    return error;
  }
  Started& started = worker->started_;
  started.python = text(*answer, "python");
  started.torch = text(*answer, "torch");
  started.triton = text(*answer, "triton");
  started.origin = text(*answer, "origin");
  const Json& device = member(*answer, "device");
  started.device = device_of(device, setup.device, started.triton);
  started.measurable = flag(device, "measurable");
  return worker;
}

base::Result<Json> Worker::ask(Json request, std::int64_t deadline_ms) {
  const std::int64_t id = next_++;
  request.add("id", id);
  const std::string what = text(request, "do");
  auto with_words = [&](base::Error error) {
    if (const std::string words = last_lines(dialogue_->last_words());
        !words.empty() && error.kind != base::ErrorKind::interrupted)
      error.found += "; the tail of its stderr: " + words;
    error.where = "worker, " + what;
    return error;
  };
  if (auto said = dialogue_->say(request.dump_plain()); !said) return with_words(said.error());
  auto line = dialogue_->hear(deadline_ms);
  if (!line) return with_words(line.error());
  Json answer = answer_in(*line);
  if (integer(answer, "id", -1) != id) return unreadable("'" + line->substr(0, 200) + "'", "worker, " + what);
  if (const Json* error = answer.find("error")) {
    lost_ = flag(answer, "sticky");
    return base::Error{base::ErrorKind::gate, "that it runs", text(*error, "kind") + ": " + text(*error, "message"),
                       "worker, " + what, text(*error, "where")};
  }
  if (const auto tampered = texts(answer, "tampered"); !tampered.empty())
    return base::Error{
        base::ErrorKind::gate, "a kernel that leaves timers, threads, streams and torch's settings alone",
        "changed: " + base::join_text(tampered, ", "), "worker, " + what, "this variant can not be measured"};
  return answer;
}

base::Result<void> Worker::load(const std::string& name, const std::string& file) {
  HONE_TRY(answer, ask(Json::object({{"do", "load"}, {"name", name}, {"file", file}}), setup_.answer_ms));
  return {};
}

base::Result<void> Worker::unload(const std::string& name) {
  HONE_TRY(answer, ask(Json::object({{"do", "unload"}, {"name", name}}), setup_.answer_ms));
  return {};
}

base::Result<SampleReply> Worker::sample(const std::string& name, const CaseSpec& spec, const std::string& mode) {
  Json request = about("sample", name, spec);
  request.add("mode", mode);
  HONE_TRY(answer, ask(std::move(request), setup_.answer_ms));
  SampleReply reply;
  reply.sample = {number(*answer, "device_ns"), number(*answer, "wall_ns"), number(*answer, "clock_mhz")};
  reply.outside_ns = number(*answer, "outside_ns");
  reply.blocked = flag(*answer, "blocked");
  return reply;
}

base::Result<BuildReply> Worker::build(const std::string& name, const CaseSpec& spec, const std::string& mode) {
  Json request = about("build", name, spec);
  request.add("mode", mode);
  HONE_TRY(answer, ask(std::move(request), setup_.answer_ms));
  BuildReply reply;
  reply.operations = text(*answer, "operations");
  for (const Json& each : list(*answer, "kernels")) {
    LaunchedKernel kernel;
    kernel.name = text(each, "name");
    kernel.code_hash = text(each, "code_hash");
    for (const Json& extent : list(each, "grid")) kernel.grid.push_back(extent.integer().value_or(0));
    kernel.num_warps = static_cast<int>(integer(each, "num_warps"));
    kernel.num_stages = static_cast<int>(integer(each, "num_stages"));
    kernel.registers = static_cast<int>(integer(each, "registers", -1));
    kernel.spills = static_cast<int>(integer(each, "spills", -1));
    kernel.shared_bytes = integer(each, "shared_bytes", -1);
    kernel.code_bytes = integer(each, "code_bytes");
    reply.kernels.push_back(std::move(kernel));
  }
  return reply;
}

base::Result<void> Worker::compile_ahead(const std::vector<AheadItem>& items) {
  const auto entry_of = [](const AheadItem& item) {
    Json entry = case_json(item.spec);
    entry.add("name", item.name), entry.add("mode", item.mode);
    return entry;
  };
  const Json request =
      Json::object({{"do", "ahead"}, {"items", Json::list(items, entry_of)}, {"seconds", setup_.answer_ms / 2000}});
  HONE_TRY(answer, ask(request, setup_.answer_ms));
  return {};
}

base::Result<PartsReply> Worker::parts(const std::string& name, const CaseSpec& spec, const std::string& mode,
                                       int samples) {
  Json request = about("parts", name, spec);
  request.add("mode", mode), request.add("samples", samples);
  HONE_TRY(answer, ask(std::move(request), setup_.answer_ms));
  PartsReply reply;
  reply.device_ns = number(*answer, "device_ns");
  for (const Json& each : list(*answer, "kernels"))
    reply.kernels.emplace_back(text(each, "name"), number(each, "device_ns"));
  return reply;
}

base::Result<MemoryReply> Worker::memory(const std::string& name, const CaseSpec& spec) {
  HONE_TRY(answer, ask(about("memory", name, spec), setup_.answer_ms));
  return MemoryReply{number(*answer, "peak_bytes"), number(*answer, "saved_bytes"), number(*answer, "input_bytes")};
}

base::Result<CheckReply> Worker::check(const std::string& original, const std::string& name, const CaseSpec& spec) {
  Json request = about("check", name, spec);
  request.add("original", original);
  HONE_TRY(answer, ask(std::move(request), setup_.answer_ms));
  CheckReply reply;
  reply.original_refused = text(*answer, "original_refused");
  reply.candidate_refused = text(*answer, "candidate_refused");
  reply.changed_inputs = texts(*answer, "changed_inputs");
  reply.missing = texts(*answer, "missing");
  reply.disturbed = texts(*answer, "disturbed");
  for (const Json& each : list(*answer, "tensors")) {
    CheckedTensor tensor;
    tensor.name = text(each, "name");
    tensor.dtype = text(each, "dtype");
    tensor.same_form = flag(each, "same_form");
    tensor.has_reference = each.find("candidate") != nullptr;
    tensor.repeats = flag(each, "repeats");
    tensor.identical = flag(each, "identical");
    if (tensor.has_reference)
      tensor.original = deviation(member(each, "original")), tensor.candidate = deviation(member(each, "candidate"));
    reply.tensors.push_back(std::move(tensor));
  }
  return reply;
}

base::Result<std::map<std::string, std::vector<double>>> Worker::ceilings(bool quick) {
  HONE_TRY(answer, ask(Json::object({{"do", "ceilings"}, {"quick", quick}}), setup_.answer_ms));
  std::map<std::string, std::vector<double>> found;
  if (const Json::Object* all = member(*answer, "samples").members())
    for (const auto& [name, samples] : *all)
      if (samples.items() != nullptr)
        for (const Json& each : *samples.items())
          if (each.is_number()) found[name].push_back(*each.number());
  return found;
}

}  // namespace hone::repository::python
