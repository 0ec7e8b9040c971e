#include "device/stoppable.hpp"

#include "device/forwarding.hpp"

namespace hone::device {

namespace {

class Stoppable final : public ForwardingDevice {
 public:
  Stoppable(std::unique_ptr<Device> device, const std::atomic<bool>* stop)
      : ForwardingDevice(*device), owned_(std::move(device)), stop_(stop) {}

  base::Result<model::Ceilings> ceilings(const CeilingOptions& options) override {
    CeilingOptions with_stop = options;
    with_stop.stop = stop_;
    if (*stop_) return stopped("the ceilings");
    auto measured = device_.ceilings(with_stop);
    if (*stop_) return stopped("the rest of the ceilings");
    return measured;
  }
  base::Result<std::unique_ptr<CeilingPrograms>> ceiling_programs(const model::Ceilings& ceilings) override {
    if (*stop_) return stopped("the ceiling programs");
    return device_.ceiling_programs(ceilings);
  }
  base::Result<std::int64_t> measure_cache_size(const CeilingOptions& options) override {
    CeilingOptions with_stop = options;
    with_stop.stop = stop_;
    if (*stop_) return stopped("the size of the caches");
    auto measured = device_.measure_cache_size(with_stop);
    if (*stop_) return stopped("the size of the caches");
    return measured;
  }
  base::Result<std::shared_ptr<Program>> compile(const ProgramSource& source) override {
    if (*stop_) return stopped(source.name);
    return device_.compile(source);
  }
  base::Result<void> run(const std::vector<Launch>& launches) override {
    if (*stop_) return stopped(name_of(launches));
    return device_.run(launches);
  }
  // What was running when the stop came says nothing: a worker or a compiler may have been stopped with it.
  base::Result<void> try_run(const std::vector<Launch>& launches, std::int64_t deadline_ns) override {
    if (*stop_) return stopped(name_of(launches));
    auto ran = device_.try_run(launches, deadline_ns);
    if (!ran && *stop_) return stopped(name_of(launches));
    return ran;
  }
  base::Result<model::Sample> time(const std::vector<Launch>& launches, const TimingConditions& conditions) override {
    if (*stop_) return stopped(name_of(launches));
    return device_.time(launches, conditions);
  }

 private:
  static std::string name_of(const std::vector<Launch>& launches) {
    return launches.empty() ? "nothing" : "'" + launches.front().entry + "'";
  }

  std::unique_ptr<Device> owned_;
  const std::atomic<bool>* stop_;
};

}  // namespace

std::unique_ptr<Device> stoppable(std::unique_ptr<Device> device, const std::atomic<bool>* stop) {
  return std::make_unique<Stoppable>(std::move(device), stop);
}

base::Error stopped(const std::string& what) {
  return {base::ErrorKind::interrupted, what + " to be run to its end", "stopped by the user", "",
          "give the command again"};
}

}  // namespace hone::device
