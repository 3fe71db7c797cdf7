#pragma once

#include <vector>

#include "tests/tidy/source_tree.h"

// Rules on what includes what.
namespace moesim::tidy {

struct Include {
  std::string path;
  std::size_t line_index = 0;
  bool quoted = false;  // "..." rather than <...>
};

std::vector<Include> includes_of(const SourceFile& file);

inline constexpr std::size_t kMaxSimgridUnits = 2;

// Includes against the order base < proto < io < model < program < {kernels, cluster} < analysis <
// {schedule, collective} < engine < report < calibration < cli, and quoted includes that do not
// start at the repository root.
Findings wrong_direction(const SourceFile& file);

// Headers of a library outside of the folders that may see it.
Findings library_out_of_place(const SourceFile& file);

// SimGrid's headers reach more translation units than kMaxSimgridUnits, also through our headers.
Findings too_many_simgrid_units(const std::vector<SourceFile>& files);

}  // namespace moesim::tidy
