// Runs plans of the kernel library for its tests, without the devices of src/: compiles the embedded texts with the system's
// compiler, lays tensors out between guard bands, runs the launches on threads, compares with double precision.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "kernels/catalog/operation.hpp"
#include "tests/support/temporary_folder.hpp"

namespace kernels::testing {

inline Target cpu_target() {
  Target target;
  target.cores = 2;
#if defined(__x86_64__)
  target.vector_bytes = __builtin_cpu_supports("avx512f") ? 64 : __builtin_cpu_supports("avx2") ? 32 : 16;
#else
  target.vector_bytes = 16;
#endif
  return target;
}

// ---- element types, written from their definitions, independently of kernels/tile ----

inline double value_of(DType dtype, const unsigned char* at) {
  if (dtype == DType::int64) {
    std::int64_t number;
    std::memcpy(&number, at, 8);
    return double(number);
  }
  if (dtype == DType::fp32) {
    float f;
    std::memcpy(&f, at, 4);
    return f;
  }
  std::uint16_t bits;
  std::memcpy(&bits, at, 2);
  const int mantissa_bits = dtype == DType::bf16 ? 7 : 10, exponent_bits = 15 - mantissa_bits;
  const int mantissa = bits & ((1 << mantissa_bits) - 1),
            exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const double sign = bits & 0x8000 ? -1 : 1;
  const int bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 1;
  if (exponent == top) return mantissa ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(double(mantissa), 1 - bias - mantissa_bits);
  return sign * std::ldexp(double(mantissa + (1 << mantissa_bits)), exponent - bias - mantissa_bits);
}

// Nearest value of the type, ties to even, by searching the two neighbours in value order.
inline void put_value(DType dtype, unsigned char* at, double value) {
  if (dtype == DType::int64) {
    const std::int64_t number = std::isnan(value) ? std::int64_t{0x7bad7bad7bad} : std::int64_t(value);
    std::memcpy(at, &number, 8);
    return;
  }
  if (dtype == DType::fp32) {
    const float f = float(value);
    std::memcpy(at, &f, 4);
    return;
  }
  const int mantissa_bits = dtype == DType::bf16 ? 7 : 10, exponent_bits = 15 - mantissa_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 1;
  std::uint16_t bits;
  if (std::isnan(value)) {
    bits = std::uint16_t((top << mantissa_bits) | (1 << (mantissa_bits - 1)));
  } else {
    int exponent = 0;
    if (value != 0 && std::isfinite(value)) exponent = std::ilogb(value);
    const int lowest = 1 - bias;
    if (exponent < lowest) exponent = lowest;
    const double unit = std::ldexp(1.0, exponent - mantissa_bits);
    double magnitude = std::isfinite(value) ? std::nearbyint(std::fabs(value) / unit) * unit : HUGE_VAL;
    if (magnitude >= std::ldexp(1.0, bias + 1)) {
      bits = std::uint16_t(top << mantissa_bits);
    } else {
      int stored = magnitude == 0 ? 0 : std::ilogb(magnitude);
      if (magnitude < std::ldexp(1.0, lowest)) {
        bits = std::uint16_t(std::lround(std::ldexp(magnitude, -(lowest - mantissa_bits))));
      } else {
        bits = std::uint16_t(((stored + bias) << mantissa_bits) +
                             (std::lround(std::ldexp(magnitude, mantissa_bits - stored)) - (1 << mantissa_bits)));
      }
    }
    if (std::signbit(value)) bits |= 0x8000;
  }
  std::memcpy(at, &bits, 2);
}

// ---- memory ----

// A tensor between guard bands; whatever is not an element (bands, padding between rows) holds a pattern that must survive.
class GuardedTensor {
 public:
  static constexpr unsigned char pattern = 0xA5;

  // `misalignment` elements from a 64-byte boundary.
  explicit GuardedTensor(const TensorSpec& spec, int misalignment = 0)
      : spec_(spec), bytes_(256 + misalignment * size_of(spec.dtype) + spec.bytes() + 256 + 64, pattern) {
    const std::uintptr_t base = reinterpret_cast<std::uintptr_t>(bytes_.data()) + 128;
    start_ = ((base + 63) & ~std::uintptr_t{63}) - reinterpret_cast<std::uintptr_t>(bytes_.data()) +
             misalignment * size_of(spec.dtype);
  }

  const TensorSpec& spec() const { return spec_; }
  unsigned char* data() { return bytes_.data() + start_; }
  unsigned char* at(std::int64_t row, std::int64_t column) {
    return data() + (row * spec_.row_stride + column) * size_of(spec_.dtype);
  }
  void set(const std::vector<double>& values) {
    each([&](std::int64_t r, std::int64_t c) { put_value(spec_.dtype, at(r, c), values[r * spec_.columns + c]); });
  }
  std::vector<double> get() {
    std::vector<double> values;
    each([&](std::int64_t r, std::int64_t c) { values.push_back(value_of(spec_.dtype, at(r, c))); });
    return values;
  }
  void poison() {
    each([&](std::int64_t r, std::int64_t c) { put_value(spec_.dtype, at(r, c), std::nan("")); });
  }
  // Bytes outside the elements that lost the pattern.
  std::int64_t damaged_bytes() {
    std::vector<unsigned char> copy = bytes_;
    const int size = size_of(spec_.dtype);
    each([&](std::int64_t r, std::int64_t c) {
      std::memset(copy.data() + start_ + (r * spec_.row_stride + c) * size, pattern, size);
    });
    std::int64_t damaged = 0;
    for (const unsigned char byte : copy) damaged += byte != pattern;
    return damaged;
  }

 private:
  template <class F>
  void each(F f) {
    for (std::int64_t r = 0; r < spec_.rows; ++r) {
      for (std::int64_t c = 0; c < spec_.columns; ++c) f(r, c);
    }
  }

  TensorSpec spec_;
  std::vector<unsigned char> bytes_;
  std::int64_t start_ = 0;
};

// ---- compilation ----

using EntryFunction = void (*)(void* const*, std::int64_t, std::int64_t, int, int, void*);

// Compiled objects by content, for the life of the test program.
class TileCompiler {
 public:
  static TileCompiler& instance() {
    static TileCompiler compiler;
    return compiler;
  }

  // Texts that stand in for the embedded ones, to show that a wrong program is caught.
  std::map<std::string, std::string> replaced_texts;

  void* object(const Plan& plan) {
    std::string flags;
    for (const auto& [name, value] : plan.defines) flags += " -D" + name + "=" + value;
    std::string key = plan.main_file + flags;
    for (const auto& [path, text] : replaced_texts) key += path + text;
    if (const auto found = objects_.find(key); found != objects_.end()) return found->second;
    const std::filesystem::path folder = std::filesystem::path(folder_.path()) / std::to_string(objects_.size());
    for (const EmbeddedFile& file : embedded_sources()) {
      const auto replaced = replaced_texts.find(file.path);
      write(folder / file.path, replaced == replaced_texts.end() ? file.text : replaced->second);
    }
    write(folder / "unit.cpp", "#include \"" + plan.main_file + "\"\n");
    const char* compiler = std::getenv("HONE_TEST_CXX");
    const std::string command =
        std::string(compiler ? compiler : "c++") +
        " -O3 -march=native -std=c++20 -fno-math-errno -fno-trapping-math -fopenmp-simd -fPIC -shared"
        " -Wall -Wextra -Werror" +
        flags + " -I" + folder.string() + " " + (folder / "unit.cpp").string() + " -o " +
        (folder / "unit.so").string() + " 2> " + (folder / "messages").string();
    if (std::system(command.c_str()) != 0) {
      ADD_FAILURE() << command << "\n" << std::ifstream(folder / "messages").rdbuf();
      return nullptr;
    }
    void* object = dlopen((folder / "unit.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!object) ADD_FAILURE() << dlerror();
    return objects_[key] = object;
  }

 private:
  static void write(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  hone::test::TemporaryFolder folder_;
  std::map<std::string, void*> objects_;
};

// ---- running ----

using Tensors = std::map<std::string, GuardedTensor>;

// A matrix product by its definition.
inline void run_product(const MatrixProduct& p, const std::function<unsigned char*(const TensorArgument&)>& place) {
  const unsigned char *a = place(p.a), *b = place(p.b);
  unsigned char* c = place(p.c);
  const auto in = size_of(p.input), out = size_of(p.output);
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      unsigned char* const at = c + (i * p.c_stride + j) * out;
      double sum = p.beta == 0 ? 0 : double(p.beta) * value_of(p.output, at);
      for (std::int64_t l = 0; l < p.k; ++l) {
        const std::int64_t from_a = p.a_transposed ? l * p.a_stride + i : i * p.a_stride + l;
        const std::int64_t from_b = p.b_transposed ? j * p.b_stride + l : l * p.b_stride + j;
        sum += value_of(p.input, a + from_a * in) * value_of(p.input, b + from_b * in);
      }
      put_value(p.output, at, sum);
    }
  }
}

// Runs the plan over `threads` threads, programs in contiguous parts, the scratch poisoned.
inline void run_plan(const Plan& plan, Tensors& tensors, int threads = 2) {
  void* object = TileCompiler::instance().object(plan);
  ASSERT_NE(object, nullptr);
  Tensors scratch;
  for (const TensorSpec& spec : plan.scratch) scratch.emplace(spec.name, GuardedTensor(spec)).first->second.poison();
  const auto place = [&](const TensorArgument& tensor) -> unsigned char* {
    Tensors& home = scratch.count(tensor.name) ? scratch : tensors;
    EXPECT_EQ(home.count(tensor.name), 1u) << tensor.name;
    return home.count(tensor.name) ? home.at(tensor.name).data() + tensor.offset_bytes : nullptr;
  };
  for (const Launch& launch : plan.launches) {
    if (launch.product) {
      run_product(*launch.product, place);
      continue;
    }
    auto entry = reinterpret_cast<EntryFunction>(dlsym(object, launch.entry.c_str()));
    ASSERT_NE(entry, nullptr) << launch.entry;
    std::vector<std::int64_t> cells(launch.arguments.size());
    std::vector<void*> arguments;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const Argument& argument = launch.arguments[i];
      if (const auto* tensor = std::get_if<TensorArgument>(&argument)) {
        cells[i] = reinterpret_cast<std::int64_t>(place(*tensor));
      } else if (const auto* wide = std::get_if<std::int64_t>(&argument)) {
        cells[i] = *wide;
      } else if (const auto* narrow = std::get_if<std::int32_t>(&argument)) {
        std::memcpy(&cells[i], narrow, 4);
      } else {
        std::memcpy(&cells[i], &std::get<float>(argument), 4);
      }
      arguments.push_back(&cells[i]);
    }
    std::vector<std::thread> workers;
    for (int w = 0; w < threads; ++w) {
      const std::int64_t first = launch.programs * w / threads, last = launch.programs * (w + 1) / threads;
      if (first < last)
        workers.emplace_back([=, &arguments] { entry(arguments.data(), first, last, w, threads, nullptr); });
    }
    for (std::thread& worker : workers) worker.join();
  }
  for (auto& [name, tensor] : scratch) EXPECT_EQ(tensor.damaged_bytes(), 0) << "around scratch " << name;
}

// ---- comparison ----

struct Failure {
  std::string what;  // empty: none
  explicit operator bool() const { return !what.empty(); }
};

// The gate's rule: non-finite values must agree in kind, finite ones be within the tolerance.
inline Failure compare(const std::string& name, const std::vector<double>& candidate,
                       const std::vector<double>& reference, double tolerance, double scale,
                       const std::vector<double>& terms = {}) {
  if (candidate.size() != reference.size()) return {name + ": wrong number of elements"};
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double got = candidate[i], expected = reference[i];
    const bool same = (std::isnan(got) && std::isnan(expected)) || got == expected;
    const double bound = tolerance * (std::fabs(expected) + scale + (terms.empty() ? 0 : terms.at(i)));
    // An infinite bound is none: it would pass anything.
    const bool finite = std::isfinite(got) && std::isfinite(expected) && std::isfinite(bound);
    if (!same && !(finite && std::fabs(got - expected) <= bound)) {
      return {name + "[" + std::to_string(i) + "] is " + std::to_string(got) + ", expected " +
              std::to_string(expected) + " within " + std::to_string(bound)};
    }
  }
  return {};
}

struct Case {
  Problem problem;
  int misalignment = 0;
  std::function<void(std::map<std::string, std::vector<double>>&)> change_inputs = {};
};

inline std::vector<double> random_values(const TensorSpec& spec, std::mt19937& generator) {
  std::normal_distribution<double> normal(0, 1);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> values;
  for (std::int64_t i = 0; i < spec.rows * spec.columns; ++i) {
    double value = 0;
    switch (spec.distribution) {
      case Distribution::normal: value = spec.offset + spec.scale * normal(generator); break;
      case Distribution::uniform: value = spec.offset + spec.scale * uniform(generator); break;
      case Distribution::labels: value = spec.offset + std::floor(spec.scale * uniform(generator)); break;
      case Distribution::zeros: break;
    }
    values.push_back(spec.rare_share > 0 && uniform(generator) < spec.rare_share ? spec.rare_value : value);
  }
  return values;
}

// The settings that differ from the heuristic's in one knob, and every 29th of the rest; of these each `every`-th.
inline std::vector<Settings> sample_of_settings(const Operation& operation, Pass pass, const Problem& problem,
                                                const Target& target, std::size_t every = 1) {
  const std::vector<Settings> all = operation.enumerate(pass, problem, target);
  std::vector<Settings> sample;
  std::size_t fit = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    int differences = 0;
    for (const auto& [name, value] : all[i]) differences += value != all[0].at(name);
    if ((differences <= 1 || i % 29 == 0) && fit++ % every == every - 1) sample.push_back(all[i]);
  }
  return sample;
}

// Inputs, reference and memory of one problem; passes of any plan run on it and are checked.
class Bench {
 public:
  Bench(const Operation& operation, const Case& c) : operation_(operation), case_(c) {
    std::mt19937 generator(7);
    for (const TensorSpec& spec : operation.tensors(c.problem)) {
      tensors_.emplace(spec.name, GuardedTensor(spec, c.misalignment));
      values_[spec.name] = random_values(spec, generator);
    }
    if (c.change_inputs) c.change_inputs(values_);
    for (auto& [name, tensor] : tensors_) {
      tensor.set(values_[name]);
      values_[name] = tensor.get();  // as rounded to the type
    }
    // What the forward pass saves is what its reference says, rounded.
    after_forward_ = values_;
    operation.reference(Pass::forward, c.problem, after_forward_);
    for (const std::string& name : operation.pass(Pass::forward, c.problem).saved) {
      tensors_.at(name).set(after_forward_[name]);
      after_forward_[name] = tensors_.at(name).get();
    }
  }

  // Runs the plan as this pass; the first thing that is wrong, or nothing.
  // `slack` widens the tolerance, for plans that round more often than the kernel.
  Failure run(Pass pass, const Plan& plan, double slack = 1) {
    const PassSpec spec = operation_.pass(pass, case_.problem);
    const Values& before = pass == Pass::forward ? values_ : after_forward_;
    for (const std::string& name : spec.outputs) tensors_.at(name).poison();
    for (const std::string& name : spec.inputs) tensors_.at(name).set(before.at(name));
    run_plan(plan, tensors_);
    Values expected = before;
    operation_.reference(pass, case_.problem, expected);
    for (const std::string& name : spec.outputs) {
      const double tolerance = slack * operation_.tolerance(pass, name, case_.problem);
      const double scale = operation_.value_scale(pass, name, case_.problem, before, expected);
      const std::vector<double> terms = operation_.term_sizes(pass, name, case_.problem, before);
      if (Failure failure = compare(name, tensors_.at(name).get(), expected.at(name), tolerance, scale, terms)) {
        return failure;
      }
    }
    for (auto& [name, tensor] : tensors_) {
      if (tensor.damaged_bytes() != 0) return {"bytes around " + name + " were written"};
      const bool written = std::count(spec.outputs.begin(), spec.outputs.end(), name) > 0;
      if (!written && std::count(spec.inputs.begin(), spec.inputs.end(), name) > 0 &&
          compare(name, tensor.get(), before.at(name), 0, 0)) {
        return {"input " + name + " was changed"};
      }
    }
    return {};
  }
  Failure run(Pass pass, const Settings& settings, const Target& target) {
    return run(pass, operation_.plan(pass, case_.problem, settings, target, Ablation::none));
  }
  std::vector<double> output(const std::string& name) { return tensors_.at(name).get(); }

 private:
  const Operation& operation_;
  Case case_;
  Tensors tensors_;
  Values values_, after_forward_;  // inputs of the forward pass; the same, and its results as rounded to their types
};

}  // namespace kernels::testing
