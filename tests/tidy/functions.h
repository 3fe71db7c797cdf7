#pragma once

#include "tests/tidy/source_tree.h"

// The rule on the length of functions.
namespace moesim::tidy {

inline constexpr std::size_t kMaxFunctionLines = 70;
inline constexpr std::size_t kMaxKernelLines = 120;  // in .cu files

// The file's code in one string: comments, literals and preprocessor lines become spaces, line
// ends stay. Braces that are left are braces of the language.
std::string code_only(const SourceFile& file);

// Functions of C++ and CUDA files whose braces are more lines apart than the limit. A heuristic:
// a block outside of every other function is a function when parentheses stand before it.
Findings long_functions(const SourceFile& file);

}  // namespace moesim::tidy
