// Machine code of implementations, one (pass, size) at a time, and the settings that the original's launches show.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "repository/buildable.hpp"
#include "repository/python/cases.hpp"
#include "repository/python/implementations.hpp"
#include "repository/python/knob_space.hpp"
#include "repository/python/variants.hpp"

namespace hone::repository::python {

class Builds {
 public:
  Builds(const Cases& cases, Implementations& implementations, Variants& variants, KnobSpace& knobs)
      : cases_(cases), implementations_(implementations), variants_(variants), knobs_(knobs) {}

  base::Result<Built> build(const model::Variant& variant);
  void build_ahead(const std::string& pass, const std::vector<std::string>& x_values,
                   const std::vector<model::Settings>& settings);
  base::Result<BuiltPart> build_settings(const std::string& pass, const std::string& x_value,
                                         const model::Settings& settings);
  // Builds the original at every size, those between included, where that has not been done. What does not run is found out
  // where it is asked for.
  void learn_shipped();
  // Of the original, where it has been built; nothing elsewhere.
  const BuiltPart* original(const std::string& pass, const std::string& x_value) const;

 private:
  base::Result<BuiltPart> part(const std::string& implementation, const std::string& pass, const std::string& x_value);
  bool is_built(const std::string& implementation, const std::string& pass, const std::string& x_value) const;

  const Cases& cases_;
  Implementations& implementations_;
  Variants& variants_;
  KnobSpace& knobs_;
  std::map<std::string, BuiltPart> built_;  // by implementation, pass, size
};

}  // namespace hone::repository::python
