// Variants of an operator as texts and as implementations: settings and source rewrites applied to the operator's file.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "base/files.hpp"
#include "base/result.hpp"
#include "model/variant.hpp"
#include "repository/python/cases.hpp"
#include "repository/python/implementations.hpp"
#include "repository/python/knob_space.hpp"

namespace hone::repository::python {

// The first lines of a rewritten text.
std::string variant_header();

class Variants {
 public:
  Variants(base::FileSystem& files, const OperatorSource& source, const Cases& cases, const KnobSpace& knobs,
           Implementations& implementations)
      : files_(files), source_(source), cases_(cases), knobs_(knobs), implementations_(implementations) {}

  // The settings in force at every size, as far as they are known.
  model::Variant original() const;
  // The text of the operator's file under a variant; the original's own bytes where nothing differs.
  base::Result<std::string> text_of(const model::Variant& variant) const;
  base::Result<std::string> implementation_of(const model::Variant& variant);
  // The implementation that has these settings in one pass at every size; the original where they are the shipped ones.
  base::Result<std::string> implementation_with(const std::string& pass, const std::string& x_value,
                                                const model::Settings& settings);
  // A variant that is this text as it stands: its settings are in it.
  base::Result<model::Variant> from_text(const std::string& text, const model::Variant& parent) const;

 private:
  base::Result<std::string> with_settings(const std::string& text,
                                          const std::map<std::string, model::SettingsFunction>& settings) const;

  base::FileSystem& files_;
  const OperatorSource& source_;
  const Cases& cases_;
  const KnobSpace& knobs_;
  Implementations& implementations_;
  std::map<std::pair<std::string, model::Settings>, std::string> configured_;  // pass, settings -> implementation
};

}  // namespace hone::repository::python
