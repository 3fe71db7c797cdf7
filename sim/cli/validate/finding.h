#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace moesim::validation {

// A section of docs/validation.md: Markdown without its heading, and how many bars were missed.
struct Finding {
  std::string text;
  int num_misses = 0;
};

// A Markdown table. What cells hold stays in them: bars and line ends are written out.
class Table {
 public:
  explicit Table(const std::vector<std::string>& header);
  void add(const std::vector<std::string>& row);

  [[nodiscard]] std::string text() const { return text_ + '\n'; }

 private:
  void add_line(const std::vector<std::string>& cells);

  std::size_t num_columns_;
  std::string text_;
};

// A published figure with two digits after the point, and how far ours may be from it.
struct Bar {
  double published = 0;
  double tolerance = 0;
};

// What a figure is worth. Reproduced: equal, or the same to the published digits. Consistent with:
// within the stated tolerance.
enum class Standing { kReproduced, kConsistent, kMiss };

Standing judge(double value, const Bar& bar);

// Puts a section together and counts the bars that it misses.
class SectionWriter {
 public:
  void say(std::string_view paragraph);
  void add(const Table& table);

  // The words to print for a standing: a miss in capitals.
  std::string verdict(Standing standing);
  // For a claim of exact equality.
  std::string verdict(bool equal) {
    return verdict(equal ? Standing::kReproduced : Standing::kMiss);
  }

  // For what was to be shown and failed: counts as a missed bar.
  std::string failed();

  Finding finish() && { return std::move(finding_); }

 private:
  Finding finding_;
};

}  // namespace moesim::validation
