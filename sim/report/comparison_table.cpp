#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "sim/base/units.h"
#include "sim/report/result.h"
#include "sim/report/text.h"

namespace moesim {
namespace {

constexpr std::size_t kMaxReasons = 3;

const ComparisonRow* find_row(const Comparison& comparison, std::string_view schedule) {
  for (const ComparisonRow& row : comparison.rows) {
    if (row.schedule == schedule) {
      return &row;
    }
  }
  return nullptr;
}

// The fastest row that fits; the first of equals. Null when none fits.
const ComparisonRow* fastest(const Comparison& comparison) {
  const ComparisonRow* best = nullptr;
  for (const ComparisonRow& row : comparison.rows) {
    const bool faster = best == nullptr || row.iteration_seconds < best->iteration_seconds;
    if (row.result.fits && faster) {
      best = &row;
    }
  }
  return best;
}

// "4", or "1-4" where layers differ. `pass` is 0 for forward, 1 for backward.
std::string degree_range(const SimulationResult& result, std::size_t pass) {
  const int largest = pass == 0 ? result.forward_degree : result.backward_degree;
  int smallest = largest;
  for (const std::vector<int>& layer : result.degrees) {
    smallest = std::min(smallest, layer[pass]);
  }
  return smallest == largest ? std::to_string(largest) : fmt::format("{}-{}", smallest, largest);
}

std::string degrees(const SimulationResult& result) {
  const std::string text = degree_range(result, 0) + " / " + degree_range(result, 1);
  return result.non_moe_degree ? text + fmt::format(" ({})", *result.non_moe_degree) : text;
}

std::string bottleneck(const SimulationResult& result) {
  return result.bottleneck + " " + format_percent(result.bottleneck_share, 0);
}

std::string memory(const SimulationResult& result) {
  return format_bytes(result.memory.peak_bytes) + (result.fits ? "" : " (does not fit)");
}

TextTable rows_table(const Comparison& comparison, const TimeUnit& unit) {
  TextTable table({Align::kLeft,
                   Align::kRight,
                   Align::kRight,
                   Align::kLeft,
                   Align::kRight,
                   Align::kRight,
                   Align::kLeft});
  table.add_row({"schedule",
                 "iteration",
                 "speed-up",
                 "degrees",
                 "exposed comm.",
                 "peak memory",
                 "bound by (of critical path)"});
  table.add_rule();
  for (const ComparisonRow& row : comparison.rows) {
    const std::string variant = row.result.variant.empty() ? "" : " (" + row.result.variant + ")";
    table.add_row({row.schedule + variant,
                   unit.format(row.iteration_seconds),
                   fmt::format("{:.2f}x", row.speedup),
                   degrees(row.result),
                   unit.format(row.result.exposed_communication_seconds),
                   memory(row.result),
                   bottleneck(row.result)});
  }
  return table;
}

// How much longer each kind is on the first critical path than on the second, the largest first.
std::vector<std::pair<double, std::string>> path_differences(const SimulationResult& first,
                                                             const SimulationResult& second) {
  std::map<std::string, double> differences = first.critical_path_seconds;
  for (const auto& [kind, seconds] : second.critical_path_seconds) {
    differences[kind] -= seconds;
  }
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [kind, seconds] : differences) {
    order.emplace_back(seconds, kind);
  }
  const auto larger = [](const auto& a, const auto& b) {
    return std::abs(a.first) > std::abs(b.first);
  };
  std::stable_sort(order.begin(), order.end(), larger);
  return order;
}

// The parts of the critical path that tell two schedules apart: what is not worth a hundredth of
// the iteration explains nothing.
std::string reasons(const SimulationResult& winner,
                    const SimulationResult& loser,
                    const TimeUnit& unit) {
  std::string text;
  std::size_t count = 0;
  for (const auto& [seconds, kind] : path_differences(winner, loser)) {
    if (std::abs(seconds) < 0.01 * winner.iteration_seconds || count == kMaxReasons) {
      break;
    }
    text += (count++ == 0 ? "" : ", ") + kind + " " + unit.format_difference(seconds);
  }
  return text.empty() ? "" : "; on the critical path " + text;
}

// One sentence on the winner, against the baseline or, when that wins, against the next best.
std::string why(const Comparison& comparison, const TimeUnit& unit) {
  const ComparisonRow* winner = fastest(comparison);
  if (winner == nullptr) {
    return "no schedule fits into the memory of a GPU";
  }
  const ComparisonRow* other = find_row(comparison, comparison.baseline);
  if (other == nullptr || other == winner) {
    Comparison rest = comparison;
    std::erase_if(rest.rows,
                  [winner](const auto& row) { return row.schedule == winner->schedule; });
    const ComparisonRow* next = fastest(rest);
    other = next == nullptr ? nullptr : find_row(comparison, next->schedule);
  }
  if (other == nullptr || winner->iteration_seconds <= 0) {
    return fmt::format("{} is the fastest", winner->schedule);
  }
  const SimulationResult& a = winner->result;
  const SimulationResult& b = other->result;
  return fmt::format(
      "{} is the fastest, {:.2f}x as fast as {}: exposed communication {} ({}){}",
      winner->schedule,
      other->iteration_seconds / winner->iteration_seconds,
      other->schedule,
      unit.format_difference(a.exposed_communication_seconds - b.exposed_communication_seconds),
      fmt::format("{} instead of {}",
                  unit.format(a.exposed_communication_seconds),
                  unit.format(b.exposed_communication_seconds)),
      reasons(a, b, unit));
}

// Which numbers in brackets and abbreviations the table has.
std::string legend(const Comparison& comparison) {
  std::string text = "degrees: forward / backward";
  const auto has_pair = [](const auto& row) { return row.result.non_moe_degree.has_value(); };
  if (std::any_of(comparison.rows.begin(), comparison.rows.end(), has_pair)) {
    text += " (non-MoE)";
  }
  return text + fmt::format("; speed-up over {}\n", comparison.baseline);
}

}  // namespace

std::string to_table(const Comparison& comparison) {
  if (comparison.rows.empty()) {
    return "nothing to compare\n";
  }
  double longest = 0;
  for (const ComparisonRow& row : comparison.rows) {
    longest = std::max(longest, row.iteration_seconds);
  }
  const TimeUnit unit(longest);
  const SimulationResult& first = comparison.rows.front().result;
  std::string text = fmt::format("{}, {} ranks\n\n", first.scenario, first.num_ranks);
  text += rows_table(comparison, unit).to_string();
  text += legend(comparison) + "\n" + why(comparison, unit) + "\n";
  const std::vector<std::string> assumptions = all_assumptions(comparison);
  if (!assumptions.empty()) {
    text += "\nassumptions\n";
    for (const std::string& assumption : assumptions) {
      text += "  - " + assumption + "\n";
    }
  }
  return text;
}

}  // namespace moesim
