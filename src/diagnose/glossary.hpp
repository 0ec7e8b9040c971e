// What every word of a document means, how hone decides it, and what to do: classes, limiters, strategies, metrics, stall
// reasons, verdicts. Descriptions that stand elsewhere as data (strategies, advice, thresholds, stalls) are read from there.
#pragma once

#include <string>
#include <vector>

namespace hone::diagnose {

struct Term {
  std::string word, kind;               // kind: one of kinds_of_terms
  std::string meaning, decided, to_do;  // what it is; how hone decides or measures it; may be empty: nothing to do
  std::vector<std::string> sources;     // documents by name
};

// In the order in which they are listed.
const std::vector<std::string>& kinds_of_terms();
const std::vector<Term>& glossary();

// Terms of that word; several where it means several things. Case does not count, and "-", "_" and a space are the same.
std::vector<const Term*> find_terms(const std::string& word);

}  // namespace hone::diagnose
