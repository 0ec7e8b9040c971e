// Opening a session, its facts, and the worker process behind it.
#include "repository/liger/liger_session.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/regular_file.hpp"
#include "base/text.hpp"
#include "repository/liger/liger_repository.hpp"
#include "repository/liger/scripts.hpp"

namespace hone::repository::liger {

namespace {

constexpr const char* kOriginal = "v0";
constexpr const char* kFormula = "formula";

base::Error usage(std::string expected, std::string found, std::string where, std::string remedy) {
  return {base::ErrorKind::usage, std::move(expected), std::move(found), std::move(where), std::move(remedy)};
}

base::Result<std::int64_t> whole(const std::string& text, const std::string& where) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    return usage("a whole number of at least 1", "'" + text + "'", where, "give numbers like 4096");
  return value;
}

// "src/liger_kernel/ops/experimental/embedding.py" -> "liger_kernel.ops.experimental.embedding".
std::string module_of(std::string relative) {
  if (base::starts_with(relative, "src/")) relative.erase(0, 4);
  if (relative.size() > 3) relative.erase(relative.size() - 3);
  std::replace(relative.begin(), relative.end(), '/', '.');
  return relative;
}

std::string below(const std::string& path, const std::string& root) {
  return base::starts_with(path, root + "/") ? path.substr(root.size() + 1) : path;
}

// Why nothing can be timed; empty where it can.
std::string obstacle(const LigerContext& context, const PythonEnvironment& environment, const OperatorFacts* facts,
                     const std::string& kernel) {
  if (!environment.problem.empty()) return "python3 can not be asked: " + environment.problem;
  for (const auto& [name, version] : {std::pair{"torch", environment.torch}, std::pair{"triton", environment.triton}})
    if (version.empty()) return std::string(name) + " is not installed in " + environment.executable;
  if (context.device == "cpu")
    return "on the CPU Triton's interpreter runs kernels: outputs can be checked, times mean nothing";
  if (environment.cuda_devices == 0) return "there is no GPU that torch can use here";
  if (!facts) return "hone does not know how to build inputs for " + kernel;
  return "";
}

base::Result<std::map<std::string, std::string>> options_of(const OperatorFacts* facts, const model::Request& request) {
  std::map<std::string, std::string> options = facts ? facts->options : std::map<std::string, std::string>{};
  for (const auto& [name, value] : request.options) {
    if (name == kTokens || name == kBenchmarkSeconds) continue;
    const auto known =
        facts ? facts->choices.find(name) : std::map<std::string, std::vector<std::string>>::const_iterator{};
    if (!facts || known == facts->choices.end()) {
      std::vector<std::string> names = {kTokens, kBenchmarkSeconds};
      for (const auto& [option, choices] : facts ? facts->choices : std::map<std::string, std::vector<std::string>>{})
        names.push_back(option);
      return usage("an option of " + request.kernel + ": " + base::join_text(names, ", "), "'" + name + "'", "--option",
                   "leave it out, or correct its name");
    }
    if (std::find(known->second.begin(), known->second.end(), value) == known->second.end())
      return usage(name + " to be one of " + base::join_text(known->second, ", "), "'" + value + "'", "--option",
                   "give an allowed value");
    options[name] = value;
  }
  return options;
}

class LigerSubject final : public measure::Subject {
 public:
  LigerSubject(std::string name, LigerSession& session, std::string implementation, Cell cell)
      : name_(std::move(name)), session_(session), implementation_(std::move(implementation)), cell_(std::move(cell)) {}
  std::string name() const override { return name_; }
  base::Result<model::Sample> sample() override { return session_.sample(implementation_, cell_); }

 private:
  std::string name_;
  LigerSession& session_;
  std::string implementation_;
  Cell cell_;
};

}  // namespace

base::Result<std::unique_ptr<Session>> LigerSession::open(const LigerContext& context, const model::AuditedOp& op,
                                                          const PythonEnvironment& environment, const GitState& git,
                                                          const model::Request& request) {
  std::unique_ptr<LigerSession> session(new LigerSession(context, op));
  session->facts_ = find_operator(op.op);
  session->environment_ = environment;
  session->git_ = git;
  session->request_ = request;
  if (op.files.empty()) return usage("a file of the operation", "none", op.op, "name another operation");
  session->path_ = base::join(context.root, op.files.front().path);
  session->relative_ = below(session->path_, context.root);
  session->module_ = module_of(session->relative_);
  auto text = base::read_regular(session->context_.files, session->path_);
  if (!text) return text.error();
  session->text_ = std::move(*text);
  session->unmeasurable_ = obstacle(context, environment, session->facts_, op.op);
  // Where python is asked it says this itself, and better; where it is not, a profile must not read as if the source were whole.
  if (const auto problems = source_problems(op, context.root); !session->unmeasurable_.empty() && !problems.empty())
    session->unmeasurable_ += "; and the source is no whole Python: " + problems.front();
  if (base::starts_with(context.device, "cuda") && environment.problem.empty() && environment.cuda_devices == 0)
    return base::Error{base::ErrorKind::preflight, "the GPU " + context.device, "none that torch can use", "--device",
                       "leave --device out: without a GPU there is the profile from source"};
  session->worker_device_ = context.device == "auto" ? "cuda:0" : context.device;
  session->rewrites_ = source::rewrite::survey(session->context_.files, session->path_, session->text_);

  const std::vector<std::string> dtypes = {"bf16", "fp32", "fp16"};
  if (session->request_.dtype.empty()) session->request_.dtype = context.device == "cpu" ? "fp32" : "bf16";
  if (std::find(dtypes.begin(), dtypes.end(), session->request_.dtype) == dtypes.end())
    return usage("a dtype: " + base::join_text(dtypes, ", "), "'" + session->request_.dtype + "'", "--dtype",
                 "choose one of them");
  auto options = options_of(session->facts_, request);
  if (!options) return options.error();
  for (const auto& [name, value] : {std::pair{kTokens, &session->rows_}, {kBenchmarkSeconds, &session->script_s_}})
    if (const auto given = request.options.find(name); given != request.options.end()) {
      auto number = whole(given->second, std::string("--option ") + name);
      if (!number) return number.error();
      *value = *number;
      (*options)[name] = given->second;
    }
  session->request_.options = *options;
  for (const std::string& text_size : request.sizes) {
    auto size = whole(text_size, "--sizes");
    if (!size) return size.error();
    session->sizes_.push_back(*size);
  }
  if (session->sizes_.empty() && session->facts_) {
    session->sizes_ = session->facts_->sizes;
    if (request.quick && session->sizes_.size() > 2)
      session->sizes_ = {session->sizes_[session->sizes_.size() / 2], session->sizes_.back()};
  }
  std::sort(session->sizes_.begin(), session->sizes_.end());
  session->sizes_.erase(std::unique(session->sizes_.begin(), session->sizes_.end()), session->sizes_.end());

  model::Identity& identity = session->identity_;
  const model::Preflight& preflight = op.preflight;
  identity.kernel = op.op;
  identity.repository = "liger";
  const std::string owner = kernel_owner(op);
  identity.source_file = {session->relative_, true,
                          owner.empty() ? (git.commit.empty() ? "" : "at commit " + git.commit.substr(0, 12)) : owner};
  identity.benchmark_script = {preflight.benchmark_script, preflight.benchmark_exists,
                               preflight.benchmark_exists ? "" : "the checkout has none"};
  identity.test_file = {preflight.test_file, preflight.test_exists,
                        preflight.test_exists ? "" : "the checkout has none"};
  identity.tier = op.tier;
  identity.tier_description = op.tier_reason;
  identity.source_hash = session->source_hash();
  return std::unique_ptr<Session>(std::move(session));
}

model::Request LigerSession::resolved(const model::Request& asked) const {
  model::Request request = asked;
  request.dtype = request_.dtype;
  request.options = request_.options;
  request.sizes = sizes();
  return request;
}

model::DeviceInfo LigerSession::device() const {
  model::DeviceInfo info;
  if (unmeasurable_.empty()) {
    auto& self = const_cast<LigerSession&>(*this);
    std::lock_guard lock(self.mutex_);
    if (auto started = self.worker())
      info = (*started)->started().device;
    else
      info.name = "the worker does not start: " + started.error().found;
  } else {
    info.name = "no GPU used: " + unmeasurable_;
    info.kind = "none";
    info.id = "none";
  }
  info.target_gpu = request_.target_gpu;
  info.hardware_match = request_.target_gpu == "auto" || request_.target_gpu == info.architecture;
  return info;
}

std::vector<std::string> LigerSession::sizes() const {
  std::vector<std::string> names;
  for (std::int64_t x : sizes_) names.push_back(std::to_string(x));
  return names;
}

std::vector<std::string> LigerSession::held_out_sizes() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i + 1 < sizes_.size(); ++i) {
    const double middle = std::sqrt(static_cast<double>(sizes_[i]) * static_cast<double>(sizes_[i + 1]));
    const std::int64_t x = std::llround(middle / 256.0) * 256;
    if (x > sizes_[i] && x < sizes_[i + 1]) names.push_back(std::to_string(x));
  }
  return names;
}

std::vector<std::string> LigerSession::passes() const {
  std::vector<std::string> passes = modes();
  std::erase(passes, "full");
  return passes;
}

std::vector<std::pair<std::string, std::string>> LigerSession::snapshot() const {
  return {{"original_" + op_.op + ".py", text_}};
}

std::string LigerSession::source_hash() const {
  auto now = base::read_regular(const_cast<LigerSession&>(*this).context_.files, path_);
  return base::content_hash("hone.liger/1\n" + relative_ + "\n" + (now ? *now : ""));
}

model::Variant LigerSession::original() const {
  model::Variant variant;
  variant.id = "v0";
  variant.strategy = "baseline";
  variant.title = "as in the checkout";
  auto& self = const_cast<LigerSession&>(*this);
  std::lock_guard lock(self.mutex_);
  if (unmeasurable_.empty()) self.learn_shipped();
  for (const std::string& pass : passes()) {
    model::SettingsFunction function;
    function.x_name = x_name();
    function.reason = "as the checkout's own settings choose them";
    for (std::int64_t x : sizes_) {
      const auto found = self.shipped_.find({pass, std::to_string(x)});
      const model::Settings settings = found == self.shipped_.end() ? model::Settings{} : found->second;
      if (function.rules.empty() || function.rules.back().settings != settings)
        function.rules.push_back({function.rules.empty() ? 0 : x, settings, function.reason});
    }
    if (!function.rules.empty()) variant.settings[pass] = std::move(function);
  }
  return variant;
}

CaseSpec LigerSession::case_of(const std::string& x_value) const {
  CaseSpec spec;
  spec.shape = facts_->at(std::strtoll(x_value.c_str(), nullptr, 10), rows_);
  spec.dtype = request_.dtype;
  spec.options = request_.options;
  spec.options.erase(kTokens);
  spec.options.erase(kBenchmarkSeconds);
  spec.seed = request_.seed;
  return spec;
}

base::Result<Worker*> LigerSession::worker() {
  if (worker_ && worker_->alive()) return worker_.get();
  worker_.reset();
  loaded_.clear();
  WorkerSetup setup;
  setup.python = context_.python;
  setup.answer_ms = context_.answer_ms;
  const std::string folder = base::join(context_.scratch, "worker");
  if (auto unpacked = unpack_scripts(context_.files, folder); !unpacked) return unpacked.error();
  setup.script = base::join(folder, "hone_worker.py");
  setup.device = worker_device_;
  setup.source = base::join(context_.root, "src");
  setup.op = op_.op;
  setup.module = module_;
  auto started = Worker::start(context_.processes, setup);
  if (!started) return started.error();
  if (!base::starts_with((*started)->started().origin, context_.root + "/"))
    return base::Error{base::ErrorKind::preflight, "liger_kernel of the checkout " + context_.root,
                       "python imports " + (*started)->started().origin, "worker",
                       "remove what puts another liger_kernel first on PYTHONPATH"};
  worker_ = std::move(*started);
  return worker_.get();
}

base::Result<std::string> LigerSession::implementation_of(const std::string& text) {
  if (text == text_) return std::string(kOriginal);
  const std::string name = "h" + base::content_hash(text).substr(0, 16);
  if (!overlay_.count(name)) {
    const std::string path = base::join(context_.scratch, "variants/" + name + "/" + base::file_name(path_));
    if (auto written = context_.files.write_atomically(path, text); !written) return written.error();
    overlay_[name] = path;
  }
  return name;
}

base::Error LigerSession::failed(const std::string& implementation, base::Error error) {
  if (error.kind == base::ErrorKind::interrupted) return error;
  // What takes the process with it is not tried again; the original is: it may have been ended by another's fault.
  if (worker_ && !worker_->alive()) {
    worker_.reset();
    loaded_.clear();
    if (implementation != kOriginal && implementation != kFormula) ended_.emplace(implementation, error);
  }
  return error;
}

void LigerSession::abandon(const std::string& implementation, const std::string& why) {
  worker_.reset();
  loaded_.clear();
  ended_.emplace(implementation, base::Error{base::ErrorKind::gate, "a variant that keeps to its own memory", why,
                                             "worker", "this variant is left out"});
}

base::Result<Worker*> LigerSession::worker_with(const std::string& implementation) {
  if (const auto known = ended_.find(implementation); known != ended_.end()) return known->second;
  auto running = worker();
  if (!running) return running.error();
  if (loaded_.count(implementation)) return running;
  const auto file = overlay_.find(implementation);
  if (auto loaded = (*running)->load(implementation, file == overlay_.end() ? "" : file->second); !loaded)
    return failed(implementation, loaded.error());
  loaded_.insert(implementation);
  return running;
}

base::Result<model::Sample> LigerSession::sample(const std::string& implementation, const Cell& cell) {
  std::lock_guard lock(mutex_);
  auto running = worker_with(implementation);
  if (!running) return running.error();
  auto reply = (*running)->sample(implementation, case_of(cell.x_value), cell.mode);
  if (!reply) return failed(implementation, reply.error());
  auto& [with_gaps, all] = blocked_[cell.mode + " at " + cell.x_value];
  with_gaps += reply->blocked ? 1 : 0;
  ++all;
  // Work on another stream would go on after the timed one has ended. An idle device answers within a tenth of this.
  constexpr double kLongestEcho_ns = 1e6;
  if (reply->outside_ns > kLongestEcho_ns && reply->outside_ns > reply->sample.device_ns)
    return base::Error{base::ErrorKind::gate, "all work of the pass on the stream it was given",
                       fmt::format("the device was busy for {:.2f} ms after it", reply->outside_ns / 1e6),
                       cell.mode + " at " + cell.x_value, "the variant can not be timed"};
  return reply->sample;
}

base::Result<std::unique_ptr<measure::Subject>> LigerSession::subject_of(const std::string& name,
                                                                         const std::string& implementation,
                                                                         const Cell& cell) {
  std::lock_guard lock(mutex_);
  auto running = worker_with(implementation);
  if (!running) return running.error();
  return std::unique_ptr<measure::Subject>(std::make_unique<LigerSubject>(name, *this, implementation, cell));
}

}  // namespace hone::repository::liger
