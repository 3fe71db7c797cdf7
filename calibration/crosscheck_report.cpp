#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibration/crosscheck.h"
#include "sim/base/message.h"
#include "sim/report/text.h"

namespace moesim {
namespace {

// "+1.2 %"; what rounds to zero has no sign.
std::string percent(double share) {
  const std::string text = fmt::format("{:+.1f} %", 100 * share);
  return text == "+0.0 %" || text == "-0.0 %" ? "0.0 %" : text;
}

TimeUnit unit_of(const Crosscheck& crosscheck) {
  double longest = 0;
  for (const ScheduleComparison& row : crosscheck.rows) {
    longest = std::max(longest, row.measured.median_seconds);
  }
  return TimeUnit(longest);
}

std::string schedules_table(const Crosscheck& crosscheck) {
  const std::vector<std::vector<std::string>> rows = schedule_cells(crosscheck);
  std::vector<Align> columns(rows.front().size(), Align::kRight);
  columns[0] = columns[1] = Align::kLeft;
  TextTable table(columns);
  table.add_row(rows.front());
  table.add_rule();
  for (std::size_t i = 1; i < rows.size(); ++i) {
    table.add_row(rows[i]);
  }
  return table.to_string();
}

std::string kinds_table(const Crosscheck& crosscheck, const TimeUnit& unit) {
  TextTable table({Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.add_row({"schedule", "tasks", "predicted", "measured", "error"});
  table.add_rule();
  for (const ScheduleComparison& row : crosscheck.rows) {
    std::string schedule = row.schedule;
    for (const KindComparison& kind : row.kinds) {
      const bool timed = kind.measured_seconds > 0;
      table.add_row({schedule,
                     kind.kind,
                     unit.format(kind.predicted_seconds),
                     unit.format(kind.measured_seconds),
                     timed ? percent(kind.predicted_seconds / kind.measured_seconds - 1) : "-"});
      schedule.clear();
    }
  }
  return table.to_string();
}

std::string ranking_text(const Ranking& order) {
  if (order.num_pairs == 0) {
    return {};
  }
  return fmt::format(
      "Ranking: of {} whose measured times differ by more than {:.0f} %, {} predicted in the "
      "measured order.\n",
      counted(static_cast<size_t>(order.num_pairs), "pair"),
      100 * kRankingMargin,
      order.num_agreeing == order.num_pairs ? "all are"
                                            : fmt::format("{} are", order.num_agreeing));
}

nlohmann::ordered_json row_json(const Crosscheck& crosscheck, const ScheduleComparison& row) {
  nlohmann::ordered_json kinds = nlohmann::ordered_json::object();
  for (const KindComparison& kind : row.kinds) {
    kinds[kind.kind] = {{"predicted_seconds", kind.predicted_seconds},
                        {"measured_seconds", kind.measured_seconds}};
  }
  nlohmann::ordered_json json = {{"schedule", row.schedule},
                                 {"forward_degree", row.forward_degree},
                                 {"backward_degree", row.backward_degree},
                                 {"predicted_seconds", row.predicted_seconds},
                                 {"measured_seconds", row.measured.median_seconds},
                                 {"measured_p25_seconds", row.measured.p25_seconds},
                                 {"error", row.error()},
                                 {"speedup_error", speedup_error(crosscheck, row)},
                                 {"runs", row.measured.accepted},
                                 {"rejected", row.measured.rejected},
                                 {"lateness_seconds", row.measured.lateness_seconds}};
  if (row.measured.delay_seconds) {
    json["delay_seconds"] = *row.measured.delay_seconds;
  }
  if (row.measured.spread) {
    json["spread"] = *row.measured.spread;
  }
  if (!row.measured.stopped.empty()) {
    json["stopped"] = row.measured.stopped;
  }
  json["kinds"] = kinds;
  return json;
}

nlohmann::ordered_json not_measured_json(const UnmeasuredSchedule& row) {
  return {{"schedule", row.schedule},
          {"forward_degree", row.forward_degree},
          {"backward_degree", row.backward_degree},
          {"predicted_seconds", row.predicted_seconds},
          {"reason", row.reason}};
}

// "609.243 ms ±0.4 % (608.193 ms)"
std::string measured_text(const ScheduleComparison& row, const TimeUnit& unit) {
  const std::string spread = row.measured.spread ? " ±" + format_percent(*row.measured.spread) : "";
  return fmt::format("{}{} ({})",
                     unit.format(row.measured.median_seconds),
                     spread,
                     unit.format(row.measured.p25_seconds));
}

std::string degrees_text(int forward, int backward) {
  return fmt::format("{} / {}", forward, backward);
}

// Where there are any.
void add_delays(const Crosscheck& crosscheck,
                const TimeUnit& unit,
                std::vector<std::vector<std::string>>& cells) {
  const auto has_delay = [](const ScheduleComparison& row) {
    return row.measured.delay_seconds.has_value();
  };
  if (!std::all_of(crosscheck.rows.begin(), crosscheck.rows.end(), has_delay)) {
    return;
  }
  cells.front().emplace_back("delay");
  for (std::size_t i = 1; i < cells.size(); ++i) {
    const bool is_measured = i <= crosscheck.rows.size();
    cells[i].push_back(is_measured ? unit.format(*crosscheck.rows[i - 1].measured.delay_seconds)
                                   : "-");
  }
}

std::string not_measured_text(const Crosscheck& crosscheck) {
  std::string text =
      fmt::format("\nNot measured, and in none of these figures (speed-ups are over {}):\n",
                  crosscheck.baseline);
  for (const UnmeasuredSchedule& row : crosscheck.not_measured) {
    text += fmt::format("- {}: {}\n", row.schedule, visible_in_line(row.reason));
  }
  return text;
}

}  // namespace

std::vector<std::vector<std::string>> schedule_cells(const Crosscheck& crosscheck) {
  const TimeUnit unit = unit_of(crosscheck);
  std::vector<std::vector<std::string>> cells = {{"schedule",
                                                  "degrees",
                                                  "predicted",
                                                  "measured (p25)",
                                                  "error",
                                                  "speed-up error",
                                                  "runs (rejected)",
                                                  "lateness"}};
  for (const ScheduleComparison& row : crosscheck.rows) {
    cells.push_back({row.schedule,
                     degrees_text(row.forward_degree, row.backward_degree),
                     unit.format(row.predicted_seconds),
                     measured_text(row, unit),
                     percent(row.error()),
                     percent(speedup_error(crosscheck, row)),
                     fmt::format("{} ({})", row.measured.accepted, row.measured.rejected),
                     unit.format(row.measured.lateness_seconds)});
  }
  for (const UnmeasuredSchedule& row : crosscheck.not_measured) {
    cells.push_back({row.schedule,
                     degrees_text(row.forward_degree, row.backward_degree),
                     unit.format(row.predicted_seconds),
                     "not measured",
                     "-",
                     "-",
                     "-",
                     "-"});
  }
  add_delays(crosscheck, unit, cells);
  return cells;
}

std::string to_table(const Crosscheck& crosscheck) {
  std::string text = schedules_table(crosscheck);
  text += fmt::format("\nAbsolute error: median {:.1f} %, largest {:.1f} %.\n",
                      100 * median_error(crosscheck),
                      100 * worst_error(crosscheck));
  text += ranking_text(ranking(crosscheck));
  text += "\nTime of a rank's tasks by kind, without waiting for other ranks:\n";
  text += kinds_table(crosscheck, unit_of(crosscheck));
  if (!crosscheck.not_measured.empty()) {
    text += not_measured_text(crosscheck);
  }
  if (!crosscheck.not_run.empty()) {
    text += fmt::format("\nNot run:\n- {}\n", fmt::join(crosscheck.not_run, "\n- "));
  }
  if (!crosscheck.assumptions.empty()) {
    text += "\nRests on:\n";
    for (const std::string& assumption : crosscheck.assumptions) {
      text += fmt::format("- {}\n", visible_in_line(assumption));
    }
  }
  return text;
}

std::string to_json(const Crosscheck& crosscheck) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const ScheduleComparison& row : crosscheck.rows) {
    rows.push_back(row_json(crosscheck, row));
  }
  nlohmann::ordered_json not_measured = nlohmann::ordered_json::array();
  for (const UnmeasuredSchedule& row : crosscheck.not_measured) {
    not_measured.push_back(not_measured_json(row));
  }
  const Ranking order = ranking(crosscheck);
  const nlohmann::ordered_json document = {{"backend", crosscheck.backend},
                                           {"baseline", crosscheck.baseline},
                                           {"modelled", crosscheck.modelled},
                                           {"rows", rows},
                                           {"not_measured", not_measured},
                                           {"not_run", crosscheck.not_run},
                                           {"median_error", median_error(crosscheck)},
                                           {"worst_error", worst_error(crosscheck)},
                                           {"ranked_pairs", order.num_pairs},
                                           {"agreeing_pairs", order.num_agreeing},
                                           {"assumptions", crosscheck.assumptions}};
  return document.dump(2) + "\n";
}

}  // namespace moesim
