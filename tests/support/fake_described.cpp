#include "tests/support/fake_described.hpp"

#include "base/hash.hpp"

namespace hone::test {

const model::Identity& FakeDescribed::identity() const {
  identity_.kernel = kernel.name, identity_.repository = "fake";
  identity_.source_file = {"kernels/" + kernel.name + ".hpp", true, ""};
  identity_.source_hash = source_hash();
  identity_.tier = 2, identity_.tier_description = "a reduction";
  return identity_;
}

model::DeviceInfo FakeDescribed::device() const {
  model::DeviceInfo device;
  device.name = device_name, device.kind = "cpu", device.id = "cpu", device.architecture = "test", device.sm_count = 2;
  return device;
}

std::vector<model::Settings> FakeDescribed::space(const std::string& pass, const std::string& x_value) const {
  const std::int64_t x = std::stoll(x_value);
  std::vector<model::Settings> all = {{}};
  for (const repository::Knob& knob : tunable) {
    if (knob.pass != pass) continue;
    std::vector<model::Settings> grown;
    for (const model::Settings& s : all) {
      for (const std::int64_t value : knob.values) grown.push_back(s), grown.back()[knob.name] = value;
    }
    all = std::move(grown);
  }
  if (valid) std::erase_if(all, [&](const model::Settings& s) { return !valid(pass, x, s); });
  const model::Settings first = kernel.shipped(pass, x);
  std::erase(all, first);
  all.insert(all.begin(), first);
  return all;
}

std::string FakeDescribed::source_hash() const {
  std::string installed;
  if (kernel.files && kernel.files->exists(kernel.installed_file)) {
    if (auto text = kernel.files->read(kernel.installed_file)) installed = *text;
  }
  return base::content_hash(kernel.source + installed);
}

}  // namespace hone::test
