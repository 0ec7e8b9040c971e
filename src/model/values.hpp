// The small closed vocabularies that every document uses, with the words they are written as.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hone::model {

enum class Verdict { faster, slower, same, unresolved };  // of a paired comparison, candidate against baseline
enum class BottleneckClass { memory_bound, compute_bound, balanced, latency_bound, host_bound };
enum class Source { measured, counters, source_code, recorded };  // where a number or a signal comes from
enum class HowSet { settings_function, hard_coded, autotune, default_value, passed_by_caller, settings_file };
enum class Liveness { live, dead, unknown };  // live: changes the machine code, or what is launched
enum class VariantStatus { accepted, rejected, mixed, failed_to_compile, failed_gate, same_binary, over_floor };
enum class Confidence { low, medium, high };

// The contract's words: "memory-bound", "source-code", "settings function", "failed-to-compile", ...
const char* word(Verdict value);
const char* word(BottleneckClass value);
const char* word(Source value);
const char* word(HowSet value);
const char* word(Liveness value);
const char* word(VariantStatus value);
const char* word(Confidence value);

// The value a word stands for; nothing for a word that is not one of them.
template <class Enum>
std::optional<Enum> parse(std::string_view text);

}  // namespace hone::model
