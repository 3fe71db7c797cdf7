#include "sim/cli/validate/finding.h"

#include <cmath>

#include "sim/base/check.h"
#include "sim/base/message.h"

namespace moesim::validation {
namespace {

std::string in_cell(const std::string& text) {
  std::string cell;
  for (const char character : visible_in_line(text)) {
    cell += character == '|' ? "\\|" : std::string(1, character);
  }
  return cell;
}

}  // namespace

Table::Table(const std::vector<std::string>& header) : num_columns_(header.size()) {
  add_line(header);
  add_line(std::vector<std::string>(header.size(), "---"));
}

void Table::add(const std::vector<std::string>& row) {
  add_line(row);
}

void Table::add_line(const std::vector<std::string>& cells) {
  CHECK(cells.size() == num_columns_, "{} cells in {} columns", cells.size(), num_columns_);
  for (const std::string& cell : cells) {
    text_ += "| " + in_cell(cell) + ' ';
  }
  text_ += "|\n";
}

Standing judge(double value, const Bar& bar) {
  constexpr double kHalfDigit = 0.005;
  const double distance = std::abs(value - bar.published);
  if (distance <= kHalfDigit) {
    return Standing::kReproduced;
  }
  return distance <= bar.tolerance ? Standing::kConsistent : Standing::kMiss;
}

void SectionWriter::say(std::string_view paragraph) {
  finding_.text.append(paragraph).append("\n\n");
}

void SectionWriter::add(const Table& table) {
  finding_.text += table.text();
}

std::string SectionWriter::verdict(Standing standing) {
  switch (standing) {
    case Standing::kReproduced:
      return "reproduced";
    case Standing::kConsistent:
      return "consistent with";
    case Standing::kMiss:
      ++finding_.num_misses;
      return "**MISS**";
  }
  CHECK(false, "no such standing");
}

std::string SectionWriter::failed() {
  ++finding_.num_misses;
  return "**FAILED**";
}

}  // namespace moesim::validation
