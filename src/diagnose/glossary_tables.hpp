// The texts of the glossary that stand nowhere else.
#pragma once

#include <string>
#include <vector>

namespace hone::diagnose {

inline constexpr const char* kDiagnosis = "docs/diagnosis.md";
inline constexpr const char* kMeasuring = "docs/measuring.md";
inline constexpr const char* kProfilingGuide = "NVIDIA Nsight Compute, Kernel Profiling Guide";
inline constexpr const char* kBestPractices = "NVIDIA CUDA C++ Best Practices Guide";
inline constexpr const char* kProgrammingGuide = "NVIDIA CUDA C++ Programming Guide";
inline constexpr const char* kRooflinePaper =
    "Williams, Waterman, Patterson: Roofline, an insightful visual performance model, Communications of the ACM 52(4), "
    "2009";

struct WordText {
  const char *word, *meaning, *decided, *to_do, *source;
};

struct LimiterText {
  const char *word, *meaning, *decided;
  const char* to_do;  // where no strategy lifts it by name
  const char* source;
};

const std::vector<LimiterText>& limiter_texts();
const std::vector<WordText>& metric_texts();
const std::vector<WordText>& origins_of_variants();
const std::vector<WordText>& verdict_texts();
const std::vector<WordText>& status_texts();
const std::vector<WordText>& outcome_texts();
const std::vector<WordText>& experiment_texts();
const std::vector<WordText>& other_texts();
std::string stall_advice(const std::string& reason);

}  // namespace hone::diagnose
