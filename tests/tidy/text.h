#pragma once

#include <vector>

#include "tests/tidy/source_tree.h"

// Rules on single lines and whole files, whatever their language.
namespace moesim::tidy {

inline constexpr std::size_t kMaxLineLength = 100;  // in characters
inline constexpr std::size_t kMaxFileLines = 400;   // of sim, kernels and calibration

Findings long_lines(const SourceFile& file);  // code, build files and scripts only
Findings long_file(const SourceFile& file);
Findings bad_whitespace(const SourceFile& file);  // tabs, trailing spaces
Findings banned_strings(const SourceFile& file);
Findings missing_pragma_once(const SourceFile& file);

// Code that the CMakeLists.txt of its folder, or of the nearest folder above, does not name.
Findings files_missing_from_cmake(const std::vector<SourceFile>& files);

}  // namespace moesim::tidy
