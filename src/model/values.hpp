// The small closed vocabularies that every document uses, with the words they are written as.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace hone::model {

enum class Verdict { faster, slower, same, unresolved };  // of a paired comparison, candidate against baseline
// undecided: the figures that would tell are missing, as in a capture of few sections.
enum class BottleneckClass { memory_bound, compute_bound, balanced, latency_bound, host_bound, undecided };
enum class Source { measured, counters, source_code, recorded };  // where a number or a signal comes from
enum class HowSet { settings_function, hard_coded, autotune, default_value, passed_by_caller, settings_file };
enum class Liveness { live, dead, unknown };  // live: changes the machine code, or what is launched
enum class VariantStatus { accepted, rejected, mixed, failed_to_compile, failed_gate, same_binary, over_floor };
enum class Confidence { low, medium, high };

// The words of the contract, in the order of the enum.
template <class Enum>
inline constexpr std::array<const char*, 0> kWords;
template <>
inline constexpr std::array kWords<Verdict>{"faster", "slower", "same", "unresolved"};
template <>
inline constexpr std::array kWords<BottleneckClass>{"memory-bound",  "compute-bound", "balanced",
                                                    "latency-bound", "host-bound",    "undecided"};
template <>
inline constexpr std::array kWords<Source>{"measured", "counters", "source-code", "recorded"};
template <>
inline constexpr std::array kWords<HowSet>{"settings function", "hard-coded",       "autotune",
                                           "default",           "passed by caller", "settings file"};
template <>
inline constexpr std::array kWords<Liveness>{"live", "dead", "unknown"};
template <>
inline constexpr std::array kWords<VariantStatus>{"accepted",    "rejected",    "mixed",     "failed-to-compile",
                                                  "failed-gate", "same-binary", "over-floor"};
template <>
inline constexpr std::array kWords<Confidence>{"low", "medium", "high"};

template <class Enum>
concept Vocabulary = !kWords<Enum>.empty();

template <Vocabulary Enum>
const char* word(Enum value) {
  const auto index = static_cast<std::size_t>(value);
  return index < kWords<Enum>.size() ? kWords<Enum>[index] : "unknown";
}

// The value a word stands for; nothing for a word that is not one of them.
template <Vocabulary Enum>
std::optional<Enum> parse(std::string_view text) {
  for (std::size_t i = 0; i < kWords<Enum>.size(); ++i)
    if (text == kWords<Enum>[i]) return static_cast<Enum>(i);
  return std::nullopt;
}

}  // namespace hone::model
