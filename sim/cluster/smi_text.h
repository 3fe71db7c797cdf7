#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/smi_matrix.h"

namespace moesim {

// The words of what nvidia-smi prints.

inline constexpr const char* kPrintMatrixAgain = "print nvidia-smi topo -m again";

struct SmiToken {
  std::string text;
  std::string location;
};

struct SmiLine {
  std::vector<SmiToken> tokens;
  bool ends_text = false;  // without a line end: its last token may be cut
};

// A cell, or the X of a device itself.
struct SmiWord {
  bool is_self = false;
  SmiCell cell;
  size_t length = 0;  // 0: no word
};

// The words of a row behind its name, and what stands behind them.
struct SmiRow {
  std::vector<SmiWord> words;
  std::vector<std::string> rest;
  bool is_cut = false;
};

// Lines that are not empty.
std::vector<SmiLine> split_smi_lines(std::string text, const std::string& path);

bool is_smi_header(const SmiLine& line);

// The names of a header's columns, of which some may be fused; they end where it speaks of
// affinities.
std::vector<SmiToken> smi_columns(const SmiLine& line);

// GPU and a number.
bool is_smi_gpu(std::string_view name);

// Throws Error located at a word that is no cell, and where it is one of another matrix.
SmiRow split_smi_row(const SmiLine& line, bool is_last);

}  // namespace moesim
