#include "tests/support/fake_repository.hpp"

#include <algorithm>
#include <cmath>

#include "base/hash.hpp"

namespace hone::test {

namespace {

using repository::Cell;

std::string text_of(const model::Settings& settings) {
  std::string text;
  for (const auto& [name, value] : settings) text += name + "=" + std::to_string(value) + " ";
  return text;
}

base::Result<void> may(const FakeWorld& world, const std::string& call) {
  if (!world.fails || !world.fails(call)) return {};
  return base::Error{base::ErrorKind::internal, "a call that works", "told to fail", call, "as told"};
}

// Noise that depends on the order of samples alone, so that runs are repeatable.
class FakeSubject final : public measure::Subject {
 public:
  FakeSubject(FakeWorld& world, std::string name, std::string who, double true_ms, bool runs)
      : world_(world), name_(std::move(name)), who_(std::move(who)), true_ms_(true_ms), runs_(runs) {}
  std::string name() const override { return name_; }
  base::Result<model::Sample> sample() override {
    ++world_.samples;
    if (world_.on_sample) world_.on_sample(world_.samples);
    const std::string event = "sample " + name_;
    if (world_.events.empty() || world_.events.back() != event) world_.events.push_back(event);
    if (!runs_) return base::Error{base::ErrorKind::internal, "a run", "the kernel faulted", name_, ""};
    if (auto works = may(world_, "sample " + who_); !works) return works.error();
    std::mt19937_64 random(static_cast<std::uint64_t>(world_.samples) * 7919);
    random.discard(3);
    double value = true_ms_ * std::exp(world_.noise * std::normal_distribution<double>()(random));
    if (world_.load) value *= world_.load(world_.samples);
    world_.clock.advance_ns(static_cast<std::int64_t>(value * 1e6) + 50'000);
    return model::Sample{value * 1e6, value * 1e6 + 5'000, 0};
  }

 private:
  FakeWorld& world_;
  std::string name_, who_;
  double true_ms_;
  bool runs_;
};

class FakeSession final : public repository::Session {
 public:
  explicit FakeSession(FakeWorld& world) : world_(world) {
    identity_.kernel = world.kernel, identity_.repository = "fake";
    identity_.source_file = {"kernels/" + world.kernel + ".hpp", true, ""};
    identity_.source_hash = source_hash();
    identity_.tier = 2, identity_.tier_description = "a reduction";
  }

  const model::Identity& identity() const override { return identity_; }
  model::DeviceInfo device() const override {
    model::DeviceInfo device;
    device.name = world_.device_name, device.kind = "cpu", device.id = "cpu", device.architecture = "test",
    device.sm_count = 2;
    return device;
  }
  base::Result<model::Ceilings> ceilings() override { return model::Ceilings{}; }
  void take_ceilings(const model::Ceilings& ceilings) override {
    world_.events.push_back("take ceilings " + ceilings.measured_at);
  }
  base::Result<model::Ceilings> ceilings_again() override {
    world_.events.push_back("ceilings again");
    floor_factor_ = world_.floor_of_second_look;
    model::Ceilings ceilings;
    ceilings.notes = {"measured again"};
    return ceilings;
  }
  std::string x_name() const override { return world_.x_name; }
  std::vector<std::string> sizes() const override { return world_.sizes; }
  std::vector<std::string> held_out_sizes() const override { return world_.held_out; }
  std::vector<std::string> modes() const override { return world_.modes; }
  std::vector<std::string> baseline_providers() const override { return {"eager"}; }
  std::vector<std::pair<std::string, std::string>> snapshot() const override {
    return {{world_.kernel + ".hpp", world_.production_source}};
  }
  std::string source_hash() const override {
    std::string installed;
    if (world_.files.exists(world_.production_file)) {
      if (auto text = world_.files.read(world_.production_file)) installed = *text;
    }
    return base::content_hash(world_.production_source + installed);
  }
  std::vector<std::string> coupled_knobs() const override { return world_.coupled; }
  base::Result<model::Configuration> configuration() override {
    world_.events.push_back("configuration");
    return model::Configuration{};
  }
  repository::PassFloor floor(const Cell& cell) override {
    const double floor = world_.floor_ms ? floor_factor_ * sum(cell, world_.floor_ms) : 0;
    return {1, 1, floor, floor / 1.02, "copy_bytes_per_s"};
  }
  base::Result<repository::CeilingSubject> ceiling_subject(const Cell& cell) override {
    if (!(world_.ceiling_ms > 0)) return repository::CeilingSubject{};
    auto subject = make(cell, "ceiling", world_.ceiling_ms, true);
    if (!subject) return subject.error();
    return repository::CeilingSubject{std::move(*subject), world_.ceiling_ms * 1e6};
  }
  std::vector<repository::Knob> knobs() const override { return world_.knobs; }

  std::vector<model::Settings> space(const std::string& pass, const std::string& x_value) const override {
    const std::int64_t x = std::stoll(x_value);
    std::vector<model::Settings> all = {{}};
    for (const repository::Knob& knob : world_.knobs) {
      if (knob.pass != pass) continue;
      std::vector<model::Settings> grown;
      for (const model::Settings& s : all) {
        for (const std::int64_t value : knob.values) grown.push_back(s), grown.back()[knob.name] = value;
      }
      all = std::move(grown);
    }
    if (world_.valid) std::erase_if(all, [&](const model::Settings& s) { return !world_.valid(pass, x, s); });
    const model::Settings first = world_.shipped(pass, x);
    std::erase(all, first);
    all.insert(all.begin(), first);
    return all;
  }

  model::Variant original() const override {
    model::Variant variant;
    variant.id = "v0";
    for (const std::string& mode : world_.modes) {
      if (mode == "full") continue;
      model::SettingsFunction& function = variant.settings[mode];
      function.x_name = world_.x_name;
      for (const std::string& x : world_.sizes)
        function.rules.push_back(
            {function.rules.empty() ? 0 : std::stoll(x), world_.shipped(mode, std::stoll(x)), "shipped"});
    }
    return variant;
  }

  base::Result<repository::Built> build(const model::Variant& variant) override {
    world_.events.push_back("build " + variant.id);
    if (auto works = may(world_, "build " + variant.id); !works) return works.error();
    const SourceBehaviour* source = behaviour(variant);
    if (source && !source->compiles)
      return base::Error{base::ErrorKind::preflight, "a text that compiles", "error: expected ';' before '}' token",
                         world_.kernel + ".hpp:12", ""};
    repository::Built built;
    for (const std::string& x_value : world_.sizes) {
      for (const auto& [pass, function] : complete(variant).settings) {
        auto part = build_settings(pass, x_value, function.at(std::stoll(x_value)));
        if (!part) return part.error();
        if (source && !source->same_code) part->machine_code_hash += base::content_hash(variant.edits.front().content);
        built.parts.push_back(*part);
      }
    }
    return built;
  }

  base::Result<repository::BuiltPart> build_settings(const std::string& pass, const std::string& x_value,
                                                     const model::Settings& settings) override {
    ++world_.settings_built;
    if (world_.compiles && !world_.compiles(settings))
      return base::Error{base::ErrorKind::preflight, "settings that compile", "error: too wide", text_of(settings), ""};
    model::Settings live = settings;
    for (const std::string& knob : world_.dead_knobs) live.erase(knob);
    repository::BuiltPart part;
    part.pass = pass, part.x_value = x_value;
    part.machine_code_hash = base::content_hash(pass + text_of(live));
    part.launch_hash = "one launch";
    return part;
  }

  base::Result<std::unique_ptr<measure::Subject>> subject(const model::Variant& variant, const Cell& cell) override {
    const SourceBehaviour* source = behaviour(variant);
    const model::Variant whole = complete(variant);
    const double time = sum(cell, [&](const std::string& pass, std::int64_t x) {
      const double factor = !source ? 1 : pass == "forward" ? source->forward_factor : source->backward_factor;
      return factor * world_.time_ms(pass, x, whole.settings.at(pass).at(x));
    });
    return make(cell, variant.id, time, !source || source->runs);
  }
  base::Result<std::unique_ptr<measure::Subject>> subject_with(const Cell& cell,
                                                               const model::Settings& settings) override {
    return make(cell, text_of(settings), world_.time_ms(cell.mode, std::stoll(cell.x_value), settings), true);
  }
  base::Result<std::unique_ptr<measure::Subject>> provider_subject(const std::string& provider,
                                                                   const Cell& cell) override {
    return make(cell, provider,
                world_.eager_factor *
                    sum(cell, [&](const std::string& pass,
                                  std::int64_t x) { return world_.time_ms(pass, x, world_.shipped(pass, x)); }),
                true);
  }
  base::Result<std::optional<repository::PassParts>> parts(const model::Variant& variant, const Cell&) override {
    if (auto works = may(world_, "parts " + variant.id); !works) return works.error();
    return std::optional<repository::PassParts>();
  }
  base::Result<repository::MemoryUse> memory(const model::Variant& variant, const std::string& x_value) override {
    if (auto works = may(world_, "memory " + variant.id); !works) return works.error();
    const SourceBehaviour* source = behaviour(variant);
    const double mb = std::stod(x_value) / 64 * (source ? source->memory_factor : 1);
    return repository::MemoryUse{mb, mb / 4, 3 * mb};
  }
  base::Result<repository::MemoryUse> provider_memory(const std::string& provider,
                                                      const std::string& x_value) override {
    if (auto works = may(world_, "memory " + provider); !works) return works.error();
    const double mb = std::stod(x_value) / 16;
    return repository::MemoryUse{mb, mb / 4, 3 * mb};
  }
  base::Clock& clock() override { return world_.clock; }
  base::Result<model::Counters> counters() override { return model::Counters{}; }

  base::Result<repository::GateResult> gate(const model::Variant& variant, repository::GateLevel level) override {
    const bool full = level == repository::GateLevel::full;
    world_.events.push_back(std::string("gate ") + (full ? "full " : "smoke ") + variant.id);
    if (world_.gate) return world_.gate(variant, level);
    repository::GateResult result;
    result.passed = full ? 120 : 12;
    result.largest_error_over_bound = 0.4;
    const SourceBehaviour* source = behaviour(variant);
    const std::string failure = !source                          ? ""
                                : !source->smoke_failure.empty() ? source->smoke_failure
                                : full                           ? source->full_failure
                                                                 : "";
    if (!failure.empty())
      --result.passed, ++result.failed, result.first_failure = failure, result.largest_error_over_bound = 40;
    return result;
  }
  std::vector<repository::Proposal> propose(const std::string& strategy, const model::Profile&,
                                            const model::Variant& best) override {
    std::vector<repository::Proposal> proposals = world_.proposals[strategy];
    for (repository::Proposal& p : proposals) {
      if (p.variant.settings.empty()) p.variant.settings = best.settings;
    }
    return proposals;
  }
  base::Result<model::Variant> variant_from_source(const std::string& text, const model::Variant& best) override {
    if (text.find("forbidden") != std::string::npos)
      return base::Error{base::ErrorKind::usage, "a tile program", "no entry for forward", "variant.hpp", ""};
    model::Variant variant = best;
    variant.edits = {{world_.kernel + ".hpp", text}};
    return variant;
  }
  base::Result<std::vector<repository::FileChange>> installation(const model::Variant& variant) override {
    repository::FileChange change;
    change.path = world_.production_file;
    change.existed = world_.files.exists(change.path);
    if (change.existed) {
      auto text = world_.files.read(change.path);
      if (!text) return text.error();
      change.before = *text;
    }
    change.after = model::to_json(variant);
    return std::vector<repository::FileChange>{change};
  }
  std::string variant_file_extension() const override { return "hpp"; }

 private:
  const SourceBehaviour* behaviour(const model::Variant& variant) const {
    if (variant.edits.empty()) return nullptr;
    static const SourceBehaviour as_original;
    const auto found = world_.sources.find(variant.edits.front().content);
    return found == world_.sources.end() ? &as_original : &found->second;
  }
  model::Variant complete(const model::Variant& variant) const {
    model::Variant whole = original();
    for (const auto& [pass, function] : variant.settings) whole.settings[pass] = function;
    return whole;
  }
  template <class PerPass>
  double sum(const Cell& cell, const PerPass& per_pass) const {
    double total = 0;
    for (const std::string& mode : world_.modes) {
      if (mode != "full" && (cell.mode == mode || cell.mode == "full"))
        total += per_pass(mode, std::stoll(cell.x_value));
    }
    return total;
  }
  base::Result<std::unique_ptr<measure::Subject>> make(const Cell& cell, const std::string& who, double time,
                                                       bool runs) {
    if (auto works = may(world_, "subject " + who); !works) return works.error();
    return std::unique_ptr<measure::Subject>(
        std::make_unique<FakeSubject>(world_, cell.mode + " " + cell.x_value + " " + who, who, time, runs));
  }

  FakeWorld& world_;
  double floor_factor_ = 1;
  model::Identity identity_;
};

}  // namespace

std::unique_ptr<repository::Session> open_session(FakeWorld& world) { return std::make_unique<FakeSession>(world); }

void make_tunable(FakeWorld& world) {
  for (const char* pass : {"forward", "backward"}) {
    world.knobs.push_back({"ROWS", pass, "rows for each program", "rows-per-program", {1, 2, 4, 8}});
    world.knobs.push_back({"WIDTH", pass, "elements of a tile", "access-width", {4, 8, 16}});
    world.knobs.push_back({"STREAM", pass, "streaming stores", "streaming-stores", {0, 1}});
    world.knobs.push_back({"UNUSED", pass, "read by nobody", "parameter-sweep", {1, 2}});
  }
  world.dead_knobs = {"UNUSED"};
  world.shipped = [](const std::string&, std::int64_t) {
    return model::Settings{{"ROWS", 1}, {"WIDTH", 4}, {"STREAM", 0}, {"UNUSED", 1}};
  };
  world.floor_ms = [](const std::string& pass, std::int64_t x) {
    return static_cast<double>(x) / 1024 * (pass == "forward" ? 0.20 : 0.30);
  };
  world.time_ms = [&world](const std::string& pass, std::int64_t x, const model::Settings& s) {
    const double rows = std::log2(static_cast<double>(s.at("ROWS"))),
                 width = std::log2(static_cast<double>(s.at("WIDTH"))) - 2;
    const double best_rows = x > 2000 ? 2 : 1;
    double over = 1.30 + 0.06 * std::abs(rows - best_rows) + 0.08 * std::abs(width - 1);
    over += s.at("STREAM") == (x > 2000 ? 1 : 0) ? 0 : 0.12;
    return over * world.floor_ms(pass, x);
  };
}

model::Profile profile_of(FakeWorld& world, const std::vector<std::string>& strategies) {
  const auto session = open_session(world);
  model::Profile profile;
  profile.kernel = world.kernel, profile.created = "2026-01-02T03:04:05Z", profile.hone_version = "0.1.0";
  profile.summary = "Bandwidth limits it.";
  profile.identity = session->identity();
  profile.device = session->device();
  profile.device.ceilings.by_name["copy_bytes_per_s"] = {1e9, 1e9, 1e9, 1};
  profile.device.ceilings.measured_at = profile.created;
  profile.baseline.x_name = world.x_name;
  profile.request.kernel = world.kernel, profile.request.dtype = "fp32", profile.request.sizes = world.sizes;
  for (const std::string& x_value : world.sizes) {
    const std::int64_t x = std::stoll(x_value);
    double full = 0, full_floor = 0;
    for (const std::string& mode : world.modes) {
      const double time = mode == "full" ? full : world.time_ms(mode, x, world.shipped(mode, x));
      const double floor = mode == "full" ? full_floor : world.floor_ms(mode, x);
      full += time, full_floor += floor;
      profile.baseline.rows.push_back(
          {x_value, mode, "hone", "speed", "ms", time * 0.99, time, time * 1.01, 40, model::Source::measured});
      profile.headroom.push_back({x_value, mode, floor, time, time / floor, floor * 1e6, 1, "copy_bytes_per_s",
                                  100 * floor / time, floor / 1.02});
      model::NoiseFloor noise;
      noise.x_value = x_value, noise.mode = mode, noise.smallest_effect_pct = 0.5;
      noise.comparison.ratio = noise.comparison.ci_low = noise.comparison.ci_high = 1;
      profile.baseline.noise_floor.push_back(noise);
    }
  }
  profile.baseline.observations.largest_x_value = world.sizes.back();
  profile.counters.status = "unavailable", profile.counters.reason = "a scripted device has none";
  profile.counters.route = "counter-free";
  profile.identity.tier = 2, profile.identity.tier_description = "a reduction over the row";
  profile.bottleneck.cls = model::BottleneckClass::memory_bound;
  profile.bottleneck.plain_rule_class = "memory-bound", profile.bottleneck.reasoning = "as scripted";
  for (const char* signal : {"bandwidth", "ablation", "scaling"})
    profile.bottleneck.evidence.push_back({signal, "as scripted", "memory-bound", model::Source::measured});
  profile.strategy_order.push_back({"parameter-sweep", "Parameter sweep", "always first", "", ""});
  for (const std::string& strategy : strategies)
    profile.strategy_order.push_back({strategy, strategy, "as told", "", ""});
  return profile;
}

repository::Proposal source_proposal(const FakeWorld& world, const std::string& text,
                                     const std::vector<model::Prediction>& predictions) {
  repository::Proposal proposal;
  proposal.variant.edits = {{world.kernel + ".hpp", text}};
  proposal.variant.title = "a change of the source";
  proposal.hypothesis = "it should be faster";
  proposal.changes = "one line";
  proposal.diff = "-the original text\n+" + text;
  proposal.predictions = predictions;
  return proposal;
}

}  // namespace hone::test
