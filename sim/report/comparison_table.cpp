#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "sim/base/message.h"
#include "sim/base/units.h"
#include "sim/report/bottleneck.h"
#include "sim/report/result.h"
#include "sim/report/text.h"
#include "sim/schedule/task_kinds.h"

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

// The fastest row of those that `counts` admits; of those that fit, where one does. The first of
// equals; null when none ran.
template <typename Counts>
const ComparisonRow* fastest(const Comparison& comparison, const Counts& counts) {
  const auto worse = [](const SimulationResult& a, const SimulationResult& b) {
    return std::pair(!a.fits, a.iteration_seconds) > std::pair(!b.fits, b.iteration_seconds);
  };
  const ComparisonRow* best = nullptr;
  for (const ComparisonRow& row : comparison.rows) {
    if (row.ran() && counts(row) && (best == nullptr || worse(best->result, row.result))) {
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
  const std::string pair =
      result.non_moe_degree ? text + fmt::format(" ({})", *result.non_moe_degree) : text;
  return result.largest_degree_tried ? pair + " *" : pair;
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
                 "bound by (of the iteration)"});
  table.add_rule();
  for (const ComparisonRow& row : comparison.rows) {
    const SimulationResult& result = row.result;
    if (!row.ran()) {
      table.add_row({row.schedule, "cannot run", "", "", "", "", ""});
      continue;
    }
    const std::string variant = result.variant.empty() ? "" : " (" + result.variant + ")";
    table.add_row({row.schedule + variant,
                   unit.format(result.iteration_seconds),
                   row.speedup ? fmt::format("{:.2f}x", *row.speedup) : "",
                   degrees(result),
                   unit.format(result.exposed_communication_seconds),
                   memory(result),
                   bottleneck(result)});
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
std::string path_reasons(const SimulationResult& winner,
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
  return text.empty() ? "" : "on the critical path " + text;
}

// "waiting for stragglers -3.000 ms (1.000 ms instead of 4.000 ms)"
std::string difference(const char* what, double winner, double loser, const TimeUnit& unit) {
  return fmt::format("{} {} ({} instead of {})",
                     what,
                     unit.format_difference(winner - loser),
                     unit.format(winner),
                     unit.format(loser));
}

bool is_stragglers(const SimulationResult& result) {
  return result.bottleneck == kStragglers;
}

// Ranks compute for longer than one critical path shows: the path is one of many of about the same
// length, and how it differs from another one's tells nothing.
bool is_saturated(const SimulationResult& result) {
  return result.bottleneck == kCompute && result.bottleneck_share > result.bottleneck_path_share;
}

// What the winner does less of than the other. Under stragglers the critical path says most: means
// over ranks are then those of ranks that wait.
std::string differences(const SimulationResult& winner,
                        const SimulationResult& other,
                        const TimeUnit& unit) {
  const std::string exposed = difference("exposed communication",
                                         winner.exposed_communication_seconds,
                                         other.exposed_communication_seconds,
                                         unit);
  const std::string on_path = path_reasons(winner, other, unit);
  if (is_stragglers(winner) || is_stragglers(other)) {
    const std::string waiting = difference("waiting for stragglers",
                                           winner.straggler_wait_seconds,
                                           other.straggler_wait_seconds,
                                           unit);
    return fmt::format("{}{}mean {}, {}", on_path, on_path.empty() ? "" : "; ", waiting, exposed);
  }
  return is_saturated(winner) || on_path.empty() ? exposed : exposed + "; " + on_path;
}

// What keeps the winner from being faster, where that is no communication; else nothing.
std::string limit(const SimulationResult& winner) {
  const double iteration = winner.iteration_seconds;
  if (is_stragglers(winner)) {
    return fmt::format("; its ranks wait for stragglers {} of the iteration",
                       format_percent(winner.bottleneck_share, 0));
  }
  if (is_saturated(winner)) {
    return fmt::format("; its ranks compute {} of the iteration",
                       format_percent(winner.bottleneck_share, 0));
  }
  const auto expert = winner.critical_path_seconds.find(std::string(task_kind::kExpert));
  if (expert == winner.critical_path_seconds.end() || expert->second <= iteration / 2) {
    return "";
  }
  return fmt::format("; expert compute is {} of its critical path",
                     format_percent(expert->second / iteration, 0));
}

// Whom the winner is held against: the baseline or, when that wins or is no alternative, the next
// best. Beside what fits, what does not fit is no alternative.
const ComparisonRow* find_rival(const Comparison& comparison, const ComparisonRow& winner) {
  const auto is_rival = [&winner](const ComparisonRow& row) {
    return row.ran() && row.schedule != winner.schedule && (row.result.fits || !winner.result.fits);
  };
  const ComparisonRow* baseline = find_row(comparison, comparison.baseline);
  return baseline != nullptr && is_rival(*baseline) ? baseline : fastest(comparison, is_rival);
}

// "fsmoe is the fastest", with what that leaves out.
std::string headline(const Comparison& comparison, const ComparisonRow& winner) {
  const SimulationResult& result = winner.result;
  const bool beaten = std::any_of(
      comparison.rows.begin(), comparison.rows.end(), [&result](const ComparisonRow& row) {
        return row.ran() && row.result.iteration_seconds < result.iteration_seconds;
      });
  return fmt::format("{}{} is the fastest{}",
                     result.fits ? "" : "no schedule fits into the memory of a GPU; of all, ",
                     winner.schedule,
                     beaten ? " that fits" : "");
}

// One sentence on the winner.
std::string why(const Comparison& comparison, const ComparisonRow& winner, const TimeUnit& unit) {
  const SimulationResult& result = winner.result;
  const std::string text = headline(comparison, winner);
  const ComparisonRow* rival = find_rival(comparison, winner);
  if (rival == nullptr || result.iteration_seconds <= 0) {
    return text + limit(result);
  }
  return text + fmt::format(", {:.2f}x as fast as {}: {}{}",
                            rival->result.iteration_seconds / result.iteration_seconds,
                            rival->schedule,
                            differences(result, rival->result, unit),
                            limit(result));
}

// Which numbers in brackets and abbreviations the table has.
std::string legend(const Comparison& comparison) {
  const auto any = [&](auto has) {
    return std::any_of(comparison.rows.begin(), comparison.rows.end(), has);
  };
  std::string text = "degrees: forward / backward";
  if (any([](const auto& row) { return row.result.non_moe_degree.has_value(); })) {
    text += " (non-MoE)";
  }
  if (any([](const auto& row) { return row.result.largest_degree_tried; })) {
    text += ", * the largest tried";
  }
  const ComparisonRow* baseline = find_row(comparison, comparison.baseline);
  if (baseline == nullptr || !baseline->ran()) {
    return text + fmt::format("; no speed-ups: the baseline {} cannot run\n", comparison.baseline);
  }
  return text + fmt::format("; speed-up over {}\n", comparison.baseline);
}

// What cannot run, and why.
std::string errors(const Comparison& comparison) {
  std::string text;
  for (const ComparisonRow& row : comparison.rows) {
    text += row.ran() ? "" : fmt::format("  - {}: {}\n", row.schedule, row.error);
  }
  return text.empty() ? "" : "\ncannot run\n" + text;
}

}  // namespace

std::string to_table(const Comparison& comparison) {
  const ComparisonRow* winner = fastest(comparison, [](const ComparisonRow&) { return true; });
  if (winner == nullptr) {
    return "nothing to compare\n" + errors(comparison);
  }
  double longest = 0;
  for (const ComparisonRow& row : comparison.rows) {
    longest = std::max(longest, row.result.iteration_seconds);
  }
  const TimeUnit unit(longest);
  const SimulationResult& any = winner->result;
  std::string text = fmt::format("{}, {} ranks\n\n", visible_in_line(any.scenario), any.num_ranks);
  text += rows_table(comparison, unit).to_string();
  text += legend(comparison) + errors(comparison) + "\n" + why(comparison, *winner, unit) + "\n";
  text += comparison.bottleneck_range ? to_table(*comparison.bottleneck_range) : "";
  const std::vector<SharedAssumption> assumptions = all_assumptions(comparison);
  if (!assumptions.empty()) {
    text += "\nassumptions\n";
    for (const SharedAssumption& assumption : assumptions) {
      text += "  - " + visible_in_line(assumption.line()) + "\n";
    }
  }
  return text;
}

}  // namespace moesim
