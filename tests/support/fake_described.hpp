// A made-up kernel's description: its knobs, and a source hash that follows what is in production.
#pragma once

#include "repository/described.hpp"
#include "tests/support/fake_kernel.hpp"

namespace hone::test {

class FakeDescribed : public repository::Described, public virtual HasFakeKernel {
 public:
  std::vector<repository::Knob> tunable;  // the space is their product
  std::function<bool(const std::string& pass, std::int64_t x, const model::Settings& settings)> valid;
  std::vector<std::string> held_out = {"1536", "3072"}, coupled;
  std::string device_name = "Test CPU";

  const model::Identity& identity() const override;
  model::DeviceInfo device() const override;
  std::string x_name() const override { return "hidden_size"; }
  std::vector<std::string> sizes() const override { return kernel.sizes; }
  std::vector<std::string> held_out_sizes() const override { return held_out; }
  std::vector<std::string> modes() const override { return kernel.modes; }
  std::vector<std::string> baseline_providers() const override { return {"eager"}; }
  std::vector<repository::Knob> knobs() const override { return tunable; }
  std::vector<model::Settings> space(const std::string& pass, const std::string& x_value) const override;
  std::vector<std::string> coupled_knobs() const override { return coupled; }
  model::Variant original() const override { return kernel.original(); }
  base::Result<model::Configuration> configuration() override {
    kernel.events.push_back("configuration");
    return model::Configuration{};
  }
  std::vector<std::pair<std::string, std::string>> snapshot() const override {
    return {{kernel.name + ".hpp", kernel.source}};
  }
  std::string source_hash() const override;

 private:
  mutable model::Identity identity_;
};

}  // namespace hone::test
