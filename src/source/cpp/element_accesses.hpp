// What a kernel's loops and index expressions show: accesses with their steps, sums, calls and constants.
#pragma once

#include <set>
#include <string>

#include "model/source_facts.hpp"
#include "source/cpp/audit_cpp.hpp"
#include "source/syntax/tree.hpp"

namespace hone::source {

// The name inside pointers, arrays and references of a declarator.
Node cpp_name_of(Node declarator);

// Names that the file gives a meaning: macros, variables, enumerators, template parameters, functions.
std::set<std::string> defined_names(Node root);

// Fills what stands from `accesses` on in the kernel; its parameters and loops have been read.
void read_element_accesses(Node definition, CppLanguage language, const std::set<std::string>& defined,
                           model::CppKernelFact& kernel);

}  // namespace hone::source
