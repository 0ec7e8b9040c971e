// The reader of one manifest: its tables in turn, every name checked against those that are known where it stands.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "repository/document/table_reader.hpp"
#include "repository/manifest/manifest.hpp"

namespace hone::repository::manifest {

class ManifestReader {
 public:
  ManifestReader(const Node& root, const std::string& path, std::string text);
  base::Result<Manifest> run();

 private:
  void read_head();
  void read_sizes();
  void read_dtypes();
  void read_tensors();
  void read_scalars();
  void name_passes();
  void read_knobs();
  void read_passes();
  void read_test();

  ValuesDecl read_values(const Node& node, const std::string& what);
  void read_knob(const Node::Member& member);
  std::optional<PassDecl> read_pass(const std::string& name, const Node& node);
  LaunchDecl read_launch(const Node& node, const PassDecl& pass, const std::string& what);
  std::vector<ArgumentDecl> read_arguments(TableReader& table, const std::vector<std::string>& numbers);
  std::optional<ArgumentDecl> read_argument(TableReader& table, const Node& node,
                                            const std::vector<std::string>& numbers);
  void read_roles(TableReader& table, PassDecl& pass);
  void read_reference(TableReader& table, PassDecl& pass);
  void check_tensors_used();

  // Names that an expression of a pass may use: sizes, and the pass's knobs.
  std::vector<std::string> names_of(const std::string& pass) const;
  std::string path_below(const std::string& key, const std::string& text);
  // Sizes, tensors, scalars and knobs share one set of names, because arguments name all of them.
  void claim(const std::string& name, const Place& place, const std::string& what);
  void check(const std::optional<Expression>& expression, const std::vector<std::string>& known);

  Reading reading_;
  TableReader top_;
  Manifest manifest_;
  std::map<std::string, std::string> names_;  // -> "a size", "a tensor", ...
};

}  // namespace hone::repository::manifest
