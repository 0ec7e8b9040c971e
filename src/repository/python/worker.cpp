#include "repository/python/worker.hpp"

#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "repository/python/answer_fields.hpp"

namespace hone::repository::python {

struct Worker::Message {
  Json json;
};

namespace {

base::Error unreadable(const std::string& what, const std::string& where) {
  return {base::ErrorKind::gate, "an answer of the worker that can be read", what, where, "this variant is left out"};
}

Json start_request(const WorkerSetup& setup) {
  return {{"do", "start"},
          {"device", setup.device},
          {"source", setup.source},
          {"module", setup.module},
          {"operator", Json(description_json(*setup.description))},
          {"code", setup.description->code}};
}

Json case_request(const CaseSpec& spec) { return case_json(spec); }

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
  auto answer = worker->ask({start_request(setup)}, setup.start_ms);
  if (!answer) {
    base::Error error = answer.error();
    if (error.kind != base::ErrorKind::interrupted) error.kind = base::ErrorKind::preflight;
    error.remedy = "'hone doctor' shows what python has; the operator's own tests must run with the same python3";
    return error;
  }
  Started& started = worker->started_;
  started.python = text(answer->json, "python");
  started.torch = text(answer->json, "torch");
  started.triton = text(answer->json, "triton");
  started.origin = text(answer->json, "origin");
  const Json device = answer->json.value("device", Json::object());
  started.device = device_of(device, setup.device, started.triton);
  started.measurable = flag(device, "measurable");
  return worker;
}

base::Result<Worker::Message> Worker::ask(Message request, std::int64_t deadline_ms) {
  const std::int64_t id = next_++;
  request.json["id"] = id;
  const std::string what = text(request.json, "do");
  auto with_words = [&](base::Error error) {
    if (const std::string words = last_lines(dialogue_->last_words());
        !words.empty() && error.kind != base::ErrorKind::interrupted)
      error.found += "; the tail of its stderr: " + words;
    error.where = "worker, " + what;
    return error;
  };
  if (auto said = dialogue_->say(request.json.dump()); !said) return with_words(said.error());
  auto line = dialogue_->hear(deadline_ms);
  if (!line) return with_words(line.error());
  Message answer{Json::parse(*line, nullptr, false)};
  if (!answer.json.is_object() || integer(answer.json, "id", -1) != id)
    return unreadable("'" + line->substr(0, 200) + "'", "worker, " + what);
  if (const auto error = answer.json.find("error"); error != answer.json.end()) {
    lost_ = flag(answer.json, "sticky");
    return base::Error{base::ErrorKind::gate, "that it runs", text(*error, "kind") + ": " + text(*error, "message"),
                       "worker, " + what, text(*error, "where")};
  }
  if (const auto tampered = texts(answer.json, "tampered"); !tampered.empty())
    return base::Error{
        base::ErrorKind::gate, "a kernel that leaves timers, threads, streams and torch's settings alone",
        "changed: " + base::join_text(tampered, ", "), "worker, " + what, "this variant can not be measured"};
  return answer;
}

Worker::Message Worker::about(const std::string& what, const std::string& name, const CaseSpec& spec) const {
  Json json = case_request(spec);
  json["do"] = what;
  json["name"] = name;
  return {std::move(json)};
}

base::Result<void> Worker::load(const std::string& name, const std::string& file) {
  HONE_TRY(answer, ask({{{"do", "load"}, {"name", name}, {"file", file}}}, setup_.answer_ms));
  return {};
}

base::Result<void> Worker::unload(const std::string& name) {
  HONE_TRY(answer, ask({{{"do", "unload"}, {"name", name}}}, setup_.answer_ms));
  return {};
}

base::Result<SampleReply> Worker::sample(const std::string& name, const CaseSpec& spec, const std::string& mode) {
  Message request = about("sample", name, spec);
  request.json["mode"] = mode;
  HONE_TRY(answer, ask(std::move(request), setup_.answer_ms));
  SampleReply reply;
  reply.sample = {number(answer->json, "device_ns"), number(answer->json, "wall_ns"),
                  number(answer->json, "clock_mhz")};
  reply.outside_ns = number(answer->json, "outside_ns");
  reply.blocked = flag(answer->json, "blocked");
  return reply;
}

base::Result<BuildReply> Worker::build(const std::string& name, const CaseSpec& spec, const std::string& mode) {
  Message request = about("build", name, spec);
  request.json["mode"] = mode;
  HONE_TRY(answer, ask(std::move(request), setup_.answer_ms));
  BuildReply reply;
  reply.operations = text(answer->json, "operations");
  for (const Json& each : answer->json.value("kernels", Json::array())) {
    LaunchedKernel kernel;
    kernel.name = text(each, "name");
    kernel.code_hash = text(each, "code_hash");
    for (const Json& extent : each.value("grid", Json::array()))
      kernel.grid.push_back(extent.is_number() ? extent.get<std::int64_t>() : 0);
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
  Json json = {{"do", "ahead"}, {"items", Json::array()}, {"seconds", setup_.answer_ms / 2000}};
  for (const AheadItem& item : items) {
    Json entry = case_request(item.spec);
    entry["name"] = item.name, entry["mode"] = item.mode;
    json["items"].push_back(std::move(entry));
  }
  HONE_TRY(answer, ask({std::move(json)}, setup_.answer_ms));
  return {};
}

base::Result<PartsReply> Worker::parts(const std::string& name, const CaseSpec& spec, const std::string& mode,
                                       int samples) {
  Message request = about("parts", name, spec);
  request.json["mode"] = mode, request.json["samples"] = samples;
  HONE_TRY(answer, ask(std::move(request), setup_.answer_ms));
  PartsReply reply;
  reply.device_ns = number(answer->json, "device_ns");
  for (const Json& each : answer->json.value("kernels", Json::array()))
    reply.kernels.emplace_back(text(each, "name"), number(each, "device_ns"));
  return reply;
}

base::Result<MemoryReply> Worker::memory(const std::string& name, const CaseSpec& spec) {
  HONE_TRY(answer, ask(about("memory", name, spec), setup_.answer_ms));
  return MemoryReply{number(answer->json, "peak_bytes"), number(answer->json, "saved_bytes"),
                     number(answer->json, "input_bytes")};
}

base::Result<CheckReply> Worker::check(const std::string& original, const std::string& name, const CaseSpec& spec) {
  Message request = about("check", name, spec);
  request.json["original"] = original;
  HONE_TRY(answer, ask(std::move(request), setup_.answer_ms));
  CheckReply reply;
  reply.original_refused = text(answer->json, "original_refused");
  reply.candidate_refused = text(answer->json, "candidate_refused");
  reply.changed_inputs = texts(answer->json, "changed_inputs");
  reply.missing = texts(answer->json, "missing");
  reply.disturbed = texts(answer->json, "disturbed");
  for (const Json& each : answer->json.value("tensors", Json::array())) {
    CheckedTensor tensor;
    tensor.name = text(each, "name");
    tensor.dtype = text(each, "dtype");
    tensor.same_form = flag(each, "same_form");
    tensor.has_reference = each.contains("candidate");
    tensor.repeats = flag(each, "repeats");
    tensor.identical = flag(each, "identical");
    if (tensor.has_reference)
      tensor.original = deviation(each["original"]), tensor.candidate = deviation(each["candidate"]);
    reply.tensors.push_back(std::move(tensor));
  }
  return reply;
}

base::Result<std::map<std::string, std::vector<double>>> Worker::ceilings(bool quick) {
  HONE_TRY(answer, ask({{{"do", "ceilings"}, {"quick", quick}}}, setup_.answer_ms));
  std::map<std::string, std::vector<double>> found;
  const Json all = answer->json.value("samples", Json::object());  // items() does not keep a temporary alive
  for (const auto& [name, samples] : all.items())
    for (const Json& each : samples)
      if (each.is_number()) found[name].push_back(each.get<double>());
  return found;
}

}  // namespace hone::repository::python
