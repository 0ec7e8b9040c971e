// Runs the tree-sitter parser and copies its tree into the flat array.
#include "source/syntax/tree.hpp"

#include <tree_sitter/api.h>

#include <array>
#include <cstring>

#include "source/source_text.hpp"

extern "C" const TSLanguage* tree_sitter_python(void);
extern "C" const TSLanguage* tree_sitter_cuda(void);

namespace hone::source {

namespace {

// Python's and C++'s own parsers refuse far shallower nesting; the limit keeps work proportional to the text.
constexpr std::size_t kDeepestNesting = 1000;

// What a grammar's symbol and field numbers mean here; built once for each grammar.
struct Vocabulary {
  const TSLanguage* language = nullptr;
  std::vector<Kind> kinds;
  std::vector<Field> fields;

  explicit Vocabulary(const TSLanguage* grammar) : language(grammar) {
    kinds.resize(ts_language_symbol_count(grammar), Kind::other);
    for (std::uint32_t symbol = 0; symbol < kinds.size(); ++symbol) {
      const char* name = ts_language_symbol_name(grammar, static_cast<TSSymbol>(symbol));
#define HONE_MATCH(enumerator, text) \
  if (std::strcmp(name, text) == 0 && is_meant(symbol, text)) kinds[symbol] = Kind::enumerator;
      HONE_NODE_KINDS(HONE_MATCH)
#undef HONE_MATCH
    }
    fields.resize(ts_language_field_count(grammar) + 1, Field::none);
    for (std::uint32_t field = 1; field < fields.size(); ++field) {
      const char* name = ts_language_field_name_for_id(grammar, static_cast<TSFieldId>(field));
#define HONE_MATCH(enumerator) \
  if (std::strcmp(name, #enumerator) == 0) fields[field] = Field::enumerator;
      HONE_NODE_FIELDS(HONE_MATCH)
#undef HONE_MATCH
      if (std::strcmp(name, "operator") == 0) fields[field] = Field::operator_;
    }
  }

  // A keyword token ("lambda", "await", "type") bears the name of the node it opens; only the node is meant. The CUDA
  // qualifiers and `extern` exist as tokens only.
  bool is_meant(std::uint32_t symbol, const char* text) const {
    if (ts_language_symbol_type(language, static_cast<TSSymbol>(symbol)) == TSSymbolTypeRegular) return true;
    return std::strncmp(text, "__", 2) == 0 || std::strcmp(text, "extern") == 0;
  }
};

const Vocabulary& vocabulary(Language language) {
  static const Vocabulary python(tree_sitter_python());
  static const Vocabulary cuda(tree_sitter_cuda());
  return language == Language::python ? python : cuda;
}

// Bounds error recovery by work done, not by time: the same text always ends the same way.
struct Budget {
  std::uint64_t checks_left;
};

bool spend(TSParseState* state) {
  Budget& budget = *static_cast<Budget*>(state->payload);
  if (budget.checks_left == 0) return true;
  --budget.checks_left;
  return false;
}

struct Input {
  const std::string* text;
};

const char* read_text(void* payload, std::uint32_t byte, TSPoint, std::uint32_t* length) {
  const std::string& text = *static_cast<Input*>(payload)->text;
  *length = byte < text.size() ? static_cast<std::uint32_t>(text.size() - byte) : 0;
  return byte < text.size() ? text.data() + byte : "";
}

// False when the tree is nested deeper than the limit.
bool flatten(TSTree* tree, const Vocabulary& words, std::vector<NodeRecord>& records) {
  TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
  std::vector<std::uint32_t> open;
  bool done = false;
  while (!done) {
    const TSNode node = ts_tree_cursor_current_node(&cursor);
    const TSFieldId field = ts_tree_cursor_current_field_id(&cursor);
    const TSSymbol symbol = ts_node_symbol(node);
    NodeRecord record;
    record.start = ts_node_start_byte(node);
    record.end = ts_node_end_byte(node);
    record.row = ts_node_start_point(node).row;
    const TSPoint end = ts_node_end_point(node);
    record.end_row = end.column == 0 && end.row > record.row ? end.row - 1 : end.row;
    record.parent = open.empty() ? 0 : open.back();
    record.kind = symbol < words.kinds.size() ? words.kinds[symbol] : Kind::error;
    record.field = field < words.fields.size() ? words.fields[field] : Field::none;
    record.named = ts_node_is_named(node);
    record.missing = ts_node_is_missing(node);
    const auto index = static_cast<std::uint32_t>(records.size());
    records.push_back(record);
    if (ts_tree_cursor_goto_first_child(&cursor)) {
      open.push_back(index);
      if (open.size() > kDeepestNesting) {
        ts_tree_cursor_delete(&cursor);
        return false;
      }
      continue;
    }
    records[index].subtree_end = index + 1;
    while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
      if (!ts_tree_cursor_goto_parent(&cursor)) {
        done = true;
        break;
      }
      records[open.back()].subtree_end = static_cast<std::uint32_t>(records.size());
      open.pop_back();
    }
  }
  ts_tree_cursor_delete(&cursor);
  return true;
}

}  // namespace

base::Result<std::unique_ptr<SyntaxTree>> parse(Language language, std::string text, const std::string& where) {
  if (text.size() > kLargestSource) {
    return base::Error{base::ErrorKind::usage, "a source file of at most 64 MiB",
                       std::to_string(text.size()) + " bytes", where, "name the files to audit one by one"};
  }
  const Vocabulary& words = vocabulary(language);
  auto tree = std::make_unique<SyntaxTree>();
  tree->text_ = std::move(text);

  struct ParserDeleter {
    void operator()(TSParser* parser) const { ts_parser_delete(parser); }
  };
  const std::unique_ptr<TSParser, ParserDeleter> parser(ts_parser_new());
  ts_parser_set_language(parser.get(), words.language);
  Budget budget{20'000 + tree->text_.size()};
  Input source{&tree->text_};
  TSInput input{};
  input.payload = &source;
  input.read = read_text;
  input.encoding = TSInputEncodingUTF8;
  TSParseOptions options{};
  options.payload = &budget;
  options.progress_callback = spend;
  TSTree* parsed = ts_parser_parse_with_options(parser.get(), nullptr, input, options);
  if (parsed == nullptr) {
    return base::Error{base::ErrorKind::usage, "source text of the language", "text that the parser gives up on", where,
                       "check that the file is what its name says"};
  }
  const bool shallow = flatten(parsed, words, tree->records_);
  ts_tree_delete(parsed);
  if (!shallow) {
    return base::Error{base::ErrorKind::usage,
                       "source text nested at most " + std::to_string(kDeepestNesting) + " levels deep",
                       "deeper nesting", where, "break the expression up; the language's own parser refuses it too"};
  }
  return tree;
}

std::string_view Node::text() const {
  if (!tree_) return {};
  return std::string_view(tree_->text()).substr(start(), end() - start());
}

Node Node::parent() const { return tree_ && index_ != 0 ? Node(tree_, record().parent) : Node(); }

Node Node::child(Field field) const {
  for (Node child : all_children()) {
    if (child.field() == field) return child;
  }
  return {};
}

Node Node::first_named_child() const {
  for (Node child : children()) return child;
  return {};
}

bool Node::contains(Node other) const {
  return tree_ == other.tree_ && other.index_ >= index_ && other.index_ < subtree_end();
}

Node::Siblings Node::children() const {
  return tree_ ? Siblings(tree_, index_ + 1, subtree_end(), false) : Siblings(nullptr, 0, 0, false);
}
Node::Siblings Node::all_children() const {
  return tree_ ? Siblings(tree_, index_ + 1, subtree_end(), true) : Siblings(nullptr, 0, 0, true);
}
Node::Subtree Node::descendants() const {
  return tree_ ? Subtree(tree_, index_ + 1, subtree_end()) : Subtree(nullptr, 0, 0);
}

}  // namespace hone::source
