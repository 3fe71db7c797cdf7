#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace moesim {

// "29.1 %" of a share of 1.
std::string format_percent(double share, int decimals = 1);

// "1 file", "2 files"
std::string counted(std::size_t count, std::string_view thing);

// One unit for all times of a table, so that a column can be compared at a glance.
class TimeUnit {
 public:
  // The unit that suits a time: 100 s and more in seconds, less in milliseconds down to ps.
  explicit TimeUnit(double seconds);

  std::string_view name() const { return name_; }
  double per_second() const { return per_second_; }
  // "412.345 ms"
  std::string format(double seconds) const;
  // "+1.200 ms", "-0.300 ms"
  std::string format_difference(double seconds) const;

 private:
  std::string_view name_;
  double per_second_ = 1;
};

enum class Align { kLeft, kRight };

// Cells in aligned columns, two spaces apart; no spaces at line ends. UTF-8 counts by characters;
// control characters are shown (sim/base/message.h).
class TextTable {
 public:
  explicit TextTable(std::vector<Align> columns, int indent = 0)
      : columns_(std::move(columns)), indent_(indent) {}

  void add_row(std::vector<std::string> cells);
  // A line of dashes as wide as each column.
  void add_rule();
  std::string to_string() const;

 private:
  std::vector<Align> columns_;
  int indent_ = 0;
  std::vector<std::vector<std::string>> rows_;  // an empty row is a rule
};

}  // namespace moesim
