#include "model/values.hpp"

#include <array>

namespace hone::model {

namespace {

template <class Enum>
struct Word {
  Enum value;
  const char* text;
};

// One table for each vocabulary: the words of the contract, in the order of the enum.
template <class Enum>
struct Vocabulary;

template <>
struct Vocabulary<Verdict> {
  static constexpr std::array words{Word<Verdict>{Verdict::faster, "faster"}, Word<Verdict>{Verdict::slower, "slower"},
                                    Word<Verdict>{Verdict::same, "same"},
                                    Word<Verdict>{Verdict::unresolved, "unresolved"}};
};

template <>
struct Vocabulary<BottleneckClass> {
  static constexpr std::array words{Word<BottleneckClass>{BottleneckClass::memory_bound, "memory-bound"},
                                    Word<BottleneckClass>{BottleneckClass::compute_bound, "compute-bound"},
                                    Word<BottleneckClass>{BottleneckClass::balanced, "balanced"},
                                    Word<BottleneckClass>{BottleneckClass::latency_bound, "latency-bound"},
                                    Word<BottleneckClass>{BottleneckClass::host_bound, "host-bound"}};
};

template <>
struct Vocabulary<Source> {
  static constexpr std::array words{
      Word<Source>{Source::measured, "measured"}, Word<Source>{Source::counters, "counters"},
      Word<Source>{Source::source_code, "source-code"}, Word<Source>{Source::recorded, "recorded"}};
};

template <>
struct Vocabulary<HowSet> {
  static constexpr std::array words{Word<HowSet>{HowSet::settings_function, "settings function"},
                                    Word<HowSet>{HowSet::hard_coded, "hard-coded"},
                                    Word<HowSet>{HowSet::autotune, "autotune"},
                                    Word<HowSet>{HowSet::default_value, "default"},
                                    Word<HowSet>{HowSet::passed_by_caller, "passed by caller"},
                                    Word<HowSet>{HowSet::settings_file, "settings file"}};
};

template <>
struct Vocabulary<Liveness> {
  static constexpr std::array words{Word<Liveness>{Liveness::live, "live"}, Word<Liveness>{Liveness::dead, "dead"},
                                    Word<Liveness>{Liveness::unknown, "unknown"}};
};

template <>
struct Vocabulary<VariantStatus> {
  static constexpr std::array words{Word<VariantStatus>{VariantStatus::accepted, "accepted"},
                                    Word<VariantStatus>{VariantStatus::rejected, "rejected"},
                                    Word<VariantStatus>{VariantStatus::mixed, "mixed"},
                                    Word<VariantStatus>{VariantStatus::failed_to_compile, "failed-to-compile"},
                                    Word<VariantStatus>{VariantStatus::failed_gate, "failed-gate"},
                                    Word<VariantStatus>{VariantStatus::same_binary, "same-binary"},
                                    Word<VariantStatus>{VariantStatus::over_floor, "over-floor"}};
};

template <>
struct Vocabulary<Confidence> {
  static constexpr std::array words{Word<Confidence>{Confidence::low, "low"},
                                    Word<Confidence>{Confidence::medium, "medium"},
                                    Word<Confidence>{Confidence::high, "high"}};
};

template <class Enum>
const char* word_of(Enum value) {
  for (const auto& entry : Vocabulary<Enum>::words)
    if (entry.value == value) return entry.text;
  return "unknown";
}

}  // namespace

const char* word(Verdict value) { return word_of(value); }
const char* word(BottleneckClass value) { return word_of(value); }
const char* word(Source value) { return word_of(value); }
const char* word(HowSet value) { return word_of(value); }
const char* word(Liveness value) { return word_of(value); }
const char* word(VariantStatus value) { return word_of(value); }
const char* word(Confidence value) { return word_of(value); }

template <class Enum>
std::optional<Enum> parse(std::string_view text) {
  for (const auto& entry : Vocabulary<Enum>::words)
    if (text == entry.text) return entry.value;
  return std::nullopt;
}

template std::optional<Verdict> parse<Verdict>(std::string_view);
template std::optional<BottleneckClass> parse<BottleneckClass>(std::string_view);
template std::optional<Source> parse<Source>(std::string_view);
template std::optional<HowSet> parse<HowSet>(std::string_view);
template std::optional<Liveness> parse<Liveness>(std::string_view);
template std::optional<VariantStatus> parse<VariantStatus>(std::string_view);
template std::optional<Confidence> parse<Confidence>(std::string_view);

}  // namespace hone::model
