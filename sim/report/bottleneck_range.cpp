#include "sim/report/bottleneck_range.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/check.h"
#include "sim/base/message.h"
#include "sim/report/text.h"

namespace moesim {
namespace {

using Json = nlohmann::ordered_json;

// By enumerator.
constexpr std::array kPlaces{"PORT", "PRIVATE", "LINK"};
constexpr std::array kSpans{"NODE", "FABRIC", "BOTH"};
constexpr std::array kSpanPhrases{"within nodes", "between nodes", "over both"};

std::string name(const BottleneckChoice& choice) {
  return kPlaces[static_cast<std::size_t>(choice.place)];
}

// "LINK gpu -- nvswitch": the same parts of all nodes go without saying.
std::string short_name(const BottleneckChoice& choice) {
  std::string text = choice.link;
  for (const std::string_view dropped : {"node:*/", ":*", "/*"}) {
    for (std::size_t at = text.find(dropped); at != std::string::npos; at = text.find(dropped)) {
      text.erase(at, dropped.size());
    }
  }
  return text.empty() ? name(choice) : name(choice) + " " + text;
}

template <typename Value>
std::optional<Extent> extent(const BottleneckRange& range, std::size_t schedule, Value value) {
  std::optional<Extent> found;
  for (const BottleneckRange::Row& row : range.rows) {
    if (const std::optional<double> number = value(row.of_schedule.at(schedule))) {
      found = found ? Extent{std::min(found->least, *number), std::max(found->most, *number)}
                    : Extent{*number, *number};
    }
  }
  return found;
}

TimeUnit unit_of(const BottleneckRange& range) {
  double longest = 0;
  for (std::size_t i = 0; i < range.schedules.size(); ++i) {
    longest = std::max(longest, seconds_of(range, i).value_or(Extent{}).most);
  }
  return TimeUnit(longest);
}

// "PORT, LINK gpu -- pcie_switch", by span.
std::vector<std::string> names(const BottleneckRange& range, const BottleneckRange::Row& row) {
  std::vector<std::string> names(range.spans.size(), "as the profile says");
  for (std::size_t i = 0; row.placement && i < names.size(); ++i) {
    names[i] = short_name(row.placement->choices[i]);
  }
  return names;
}

std::vector<std::string> span_names(const BottleneckRange& range) {
  std::vector<std::string> names;
  for (const Span span : range.spans) {
    names.emplace_back(kSpanPhrases[static_cast<std::size_t>(span)]);
  }
  return names;
}

// A row for each placement, and the extent below.
std::string table_of_one(const BottleneckRange& range) {
  const TimeUnit unit = unit_of(range);
  const std::size_t num_spans = range.spans.size();
  std::vector<Align> columns(num_spans, Align::kLeft);
  columns.push_back(Align::kRight);
  TextTable table(columns, 2);
  const auto add = [&](std::vector<std::string> cells, const std::string& time) {
    cells.push_back(time);
    table.add_row(std::move(cells));
  };
  add(span_names(range), "iteration");
  table.add_rule();
  for (const BottleneckRange::Row& row : range.rows) {
    const PlacedIteration& iteration = row.of_schedule.front();
    add(names(range, row), iteration.ran() ? unit.format(iteration.seconds) : "cannot run");
  }
  if (const std::optional<Extent> seconds = seconds_of(range, 0)) {
    table.add_rule();
    std::vector<std::string> title(num_spans);
    title.front() = "least";
    add(title, unit.format(seconds->least));
    title.front() = "most";
    add(title, unit.format(seconds->most));
  }
  return table.to_string();
}

// Of the first row that takes so long.
std::string place_of(const BottleneckRange& range, std::size_t schedule, double seconds) {
  for (const BottleneckRange::Row& row : range.rows) {
    const PlacedIteration& iteration = row.of_schedule[schedule];
    if (iteration.ran() && iteration.seconds == seconds) {
      return fmt::format("{}", fmt::join(names(range, row), ", "));
    }
  }
  return "";
}

// A row for each schedule: its extents, and where the first that is so short or long is.
std::string table_of_several(const BottleneckRange& range) {
  const TimeUnit unit = unit_of(range);
  TextTable table(
      {Align::kLeft, Align::kRight, Align::kLeft, Align::kRight, Align::kLeft, Align::kRight}, 2);
  const std::string spans = fmt::format("{}", fmt::join(span_names(range), ", "));
  table.add_row({"schedule", "least", spans, "most", spans, "speed-up"});
  table.add_rule();
  for (std::size_t i = 0; i < range.schedules.size(); ++i) {
    const std::optional<Extent> seconds = seconds_of(range, i);
    if (!seconds) {
      table.add_row({range.schedules[i], "cannot run", "", "", "", ""});
      continue;
    }
    const std::string least = unit.format(seconds->least);
    const std::string most = unit.format(seconds->most);
    const bool is_equal = least == most;  // as far as is shown
    const std::optional<Extent> speedups = speedups_of(range, i);
    table.add_row(
        {range.schedules[i],
         least,
         is_equal ? "wherever" : place_of(range, i, seconds->least),
         most,
         is_equal ? "" : place_of(range, i, seconds->most),
         speedups ? fmt::format("{:.2f}x-{:.2f}x", speedups->least, speedups->most) : ""});
  }
  return table.to_string();
}

Json row_json(const BottleneckRange& range, const BottleneckRange::Row& row) {
  Json bottlenecks;  // null: as the profile says
  for (std::size_t i = 0; row.placement && i < range.spans.size(); ++i) {
    const BottleneckChoice& choice = row.placement->choices[i];
    Json& json = bottlenecks.emplace_back(Json{
        {"span", kSpans[static_cast<std::size_t>(range.spans[i])]}, {"bottleneck", name(choice)}});
    if (choice.place == BottleneckPlace::kLink) {
      json["bottleneck_link"] = choice.link;
    }
  }
  Json rows = Json::array();
  for (std::size_t i = 0; i < range.schedules.size(); ++i) {
    const PlacedIteration& iteration = row.of_schedule[i];
    Json& json = rows.emplace_back(Json{{"schedule", range.schedules[i]}});
    if (!iteration.ran()) {
      json["error"] = iteration.error;
      continue;
    }
    json["iteration_seconds"] = iteration.seconds;
    json["speedup"] = iteration.speedup ? Json(*iteration.speedup) : Json();
    json["forward_degree"] = iteration.forward_degree;
    json["backward_degree"] = iteration.backward_degree;
  }
  return {{"bottlenecks", std::move(bottlenecks)}, {"rows", std::move(rows)}};
}

Json extent_json(const std::optional<Extent>& extent, double Extent::*which) {
  return extent ? Json((*extent).*which) : Json();
}

}  // namespace

void add_speedups(BottleneckRange& range, const std::string& baseline) {
  const auto found = std::ranges::find(range.schedules, baseline);
  CHECK(found != range.schedules.end(), "no iterations of the baseline {}", baseline);
  for (BottleneckRange::Row& row : range.rows) {
    const PlacedIteration& base = row.of_schedule[found - range.schedules.begin()];
    for (PlacedIteration& iteration : row.of_schedule) {
      if (base.ran() && iteration.ran() && iteration.seconds > 0) {
        iteration.speedup = base.seconds / iteration.seconds;
      }
    }
  }
}

std::optional<Extent> seconds_of(const BottleneckRange& range, std::size_t schedule) {
  return extent(range, schedule, [](const PlacedIteration& iteration) {
    return iteration.ran() ? std::optional(iteration.seconds) : std::nullopt;
  });
}

std::optional<Extent> speedups_of(const BottleneckRange& range, std::size_t schedule) {
  return extent(
      range, schedule, [](const PlacedIteration& iteration) { return iteration.speedup; });
}

std::string to_table(const BottleneckRange& range) {
  CHECK(!range.spans.empty() && !range.schedules.empty());
  const std::string title =
      fmt::format("\niteration by where the measured times are spent (bottleneck), {} ways\n",
                  range.rows.size());
  return title + (range.schedules.size() == 1 ? table_of_one(range) : table_of_several(range));
}

std::string to_json(const BottleneckRange& range) {
  Json schedules = Json::array();
  for (std::size_t i = 0; i < range.schedules.size(); ++i) {
    const std::optional<Extent> seconds = seconds_of(range, i);
    const std::optional<Extent> speedups = speedups_of(range, i);
    schedules.push_back({{"schedule", range.schedules[i]},
                         {"least_seconds", extent_json(seconds, &Extent::least)},
                         {"most_seconds", extent_json(seconds, &Extent::most)},
                         {"least_speedup", extent_json(speedups, &Extent::least)},
                         {"most_speedup", extent_json(speedups, &Extent::most)}});
  }
  Json placements = Json::array();
  for (const BottleneckRange::Row& row : range.rows) {
    placements.push_back(row_json(range, row));
  }
  const Json json = {{"schedules", std::move(schedules)}, {"placements", std::move(placements)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace moesim
