#include "sim/report/text.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "sim/base/check.h"
#include "sim/base/message.h"

namespace moesim {
namespace {

struct Unit {
  std::string_view name;
  double per_second;
};

constexpr auto kUnits =
    std::to_array<Unit>({{"s", 1}, {"ms", 1e3}, {"us", 1e6}, {"ns", 1e9}, {"ps", 1e12}});

// Continuation bytes of UTF-8 take no column.
std::size_t width_of(std::string_view text) {
  const auto starts_character = [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U;
  };
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::string space(width - std::min(width, width_of(text)), ' ');
  return align == Align::kLeft ? text + space : space + text;
}

}  // namespace

std::string format_percent(double share, int decimals) {
  return fmt::format("{:.{}f} %", 100 * share, decimals);
}

std::string counted(std::size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

TimeUnit::TimeUnit(double seconds) {
  const double size = std::abs(seconds);
  for (const Unit& unit : kUnits) {
    name_ = unit.name;
    per_second_ = unit.per_second;
    // Iterations of seconds are still told in milliseconds, as papers do.
    if (size * unit.per_second >= (unit.name == "s" ? 100 : 1)) {
      return;
    }
  }
  if (size == 0) {
    *this = TimeUnit(1e-3);
  }
}

std::string TimeUnit::format(double seconds) const {
  return fmt::format("{:.3f} {}", seconds * per_second_, name_);
}

std::string TimeUnit::format_difference(double seconds) const {
  return fmt::format("{:+.3f} {}", seconds * per_second_, name_);
}

void TextTable::add_row(std::vector<std::string> cells) {
  CHECK(cells.size() == columns_.size(), "{} cells", cells.size());
  for (std::string& cell : cells) {
    cell = visible_in_line(cell);
  }
  rows_.push_back(std::move(cells));
}

void TextTable::add_rule() {
  rows_.emplace_back();
}

std::string TextTable::to_string() const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line(static_cast<std::size_t>(indent_), ' ');
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string gap = i == 0 ? "" : "  ";
      const std::string dashes(widths[i], '-');
      line += gap + (row.empty() ? dashes : padded(row[i], widths[i], columns_[i]));
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace moesim
