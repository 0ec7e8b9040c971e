// Names of the syntax nodes and fields that facts are read from, for both grammars; every other node is Kind::other.
#pragma once

#include <cstdint>

namespace hone::source {

// clang-format off
#define HONE_NODE_KINDS(X) \
  X(error, "ERROR") X(comment, "comment") X(identifier, "identifier") X(module, "module") \
  X(import_statement, "import_statement") X(import_from_statement, "import_from_statement") \
  X(future_import_statement, "future_import_statement") X(relative_import, "relative_import") \
  X(import_prefix, "import_prefix") X(dotted_name, "dotted_name") X(aliased_import, "aliased_import") \
  X(wildcard_import, "wildcard_import") X(expression_statement, "expression_statement") \
  X(named_expression, "named_expression") X(return_statement, "return_statement") \
  X(raise_statement, "raise_statement") X(break_statement, "break_statement") \
  X(continue_statement, "continue_statement") X(if_statement, "if_statement") X(elif_clause, "elif_clause") \
  X(else_clause, "else_clause") X(match_statement, "match_statement") X(case_clause, "case_clause") \
  X(for_statement, "for_statement") X(while_statement, "while_statement") X(try_statement, "try_statement") \
  X(except_clause, "except_clause") X(finally_clause, "finally_clause") X(with_statement, "with_statement") \
  X(with_clause, "with_clause") X(with_item, "with_item") X(as_pattern, "as_pattern") \
  X(as_pattern_target, "as_pattern_target") X(function_definition, "function_definition") \
  X(class_definition, "class_definition") X(decorated_definition, "decorated_definition") \
  X(decorator, "decorator") X(parameters, "parameters") X(lambda_parameters, "lambda_parameters") \
  X(default_parameter, "default_parameter") X(typed_default_parameter, "typed_default_parameter") \
  X(typed_parameter, "typed_parameter") X(list_splat_pattern, "list_splat_pattern") \
  X(dictionary_splat_pattern, "dictionary_splat_pattern") X(keyword_separator, "keyword_separator") \
  X(positional_separator, "positional_separator") X(type, "type") X(block, "block") \
  X(expression_list, "expression_list") X(pattern_list, "pattern_list") X(tuple_pattern, "tuple_pattern") \
  X(list_pattern, "list_pattern") X(list_splat, "list_splat") X(parenthesized_list_splat, "parenthesized_list_splat") \
  X(dictionary_splat, "dictionary_splat") X(argument_list, "argument_list") X(keyword_argument, "keyword_argument") \
  X(assignment, "assignment") X(augmented_assignment, "augmented_assignment") X(attribute, "attribute") \
  X(subscript, "subscript") X(slice, "slice") X(call, "call") X(lambda, "lambda") \
  X(conditional_expression, "conditional_expression") X(parenthesized_expression, "parenthesized_expression") \
  X(binary_operator, "binary_operator") X(boolean_operator, "boolean_operator") X(not_operator, "not_operator") \
  X(unary_operator, "unary_operator") X(comparison_operator, "comparison_operator") X(await, "await") \
  X(yield, "yield") X(list, "list") X(set, "set") X(tuple, "tuple") X(dictionary, "dictionary") X(pair, "pair") \
  X(list_comprehension, "list_comprehension") X(set_comprehension, "set_comprehension") \
  X(dictionary_comprehension, "dictionary_comprehension") X(generator_expression, "generator_expression") \
  X(for_in_clause, "for_in_clause") X(if_clause, "if_clause") X(string, "string") X(string_start, "string_start") \
  X(string_content, "string_content") X(string_end, "string_end") X(interpolation, "interpolation") \
  X(concatenated_string, "concatenated_string") X(integer, "integer") X(float_, "float") X(true_, "true") \
  X(false_, "false") X(none, "none") X(ellipsis, "ellipsis") X(print_statement, "print_statement") \
  X(exec_statement, "exec_statement") X(type_alias_statement, "type_alias_statement") \
  X(translation_unit, "translation_unit") X(template_declaration, "template_declaration") \
  X(template_parameter_list, "template_parameter_list") X(launch_bounds, "launch_bounds") \
  X(function_declarator, "function_declarator") X(parameter_list, "parameter_list") \
  X(parameter_declaration, "parameter_declaration") X(optional_parameter_declaration, "optional_parameter_declaration") \
  X(pointer_declarator, "pointer_declarator") X(reference_declarator, "reference_declarator") \
  X(array_declarator, "array_declarator") X(init_declarator, "init_declarator") X(declaration, "declaration") \
  X(type_qualifier, "type_qualifier") X(type_identifier, "type_identifier") X(primitive_type, "primitive_type") \
  X(sized_type_specifier, "sized_type_specifier") X(qualified_identifier, "qualified_identifier") \
  X(template_type, "template_type") X(template_function, "template_function") \
  X(template_argument_list, "template_argument_list") X(template_method, "template_method") \
  X(storage_class_specifier, "storage_class_specifier") X(preproc_call, "preproc_call") \
  X(preproc_directive, "preproc_directive") X(preproc_arg, "preproc_arg") X(compound_statement, "compound_statement") \
  X(do_statement, "do_statement") X(for_range_loop, "for_range_loop") X(call_expression, "call_expression") \
  X(kernel_call_syntax, "kernel_call_syntax") X(field_expression, "field_expression") \
  X(field_identifier, "field_identifier") X(field_declaration, "field_declaration") \
  X(class_specifier, "class_specifier") X(struct_specifier, "struct_specifier") \
  X(namespace_definition, "namespace_definition") X(cuda_global, "__global__") X(cuda_shared, "__shared__") \
  X(cuda_device, "__device__") X(extern_, "extern") X(subscript_expression, "subscript_expression") \
  X(subscript_argument_list, "subscript_argument_list") X(binary_expression, "binary_expression") \
  X(assignment_expression, "assignment_expression") X(update_expression, "update_expression") \
  X(unary_expression, "unary_expression") X(pointer_expression, "pointer_expression") \
  X(cast_expression, "cast_expression") X(number_literal, "number_literal") X(preproc_def, "preproc_def")

#define HONE_NODE_FIELDS(X) \
  X(alias) X(alternative) X(argument) X(arguments) X(attribute) X(body) X(cause) X(condition) X(consequence) \
  X(declarator) X(definition) X(directive) X(expression) X(field) X(function) X(indices) X(initializer) X(key) X(left) \
  X(module_name) X(name) X(object) X(operator_) X(operators) X(parameters) X(return_type) X(right) X(scope) \
  X(size) X(subscript) X(superclasses) X(type) X(update) X(value)
// clang-format on

enum class Kind : std::uint16_t {
  other,
#define HONE_ENUMERATOR(name, text) name,
  HONE_NODE_KINDS(HONE_ENUMERATOR)
#undef HONE_ENUMERATOR
};

enum class Field : std::uint8_t {
  none,
#define HONE_ENUMERATOR(name) name,
  HONE_NODE_FIELDS(HONE_ENUMERATOR)
#undef HONE_ENUMERATOR
};

}  // namespace hone::source
