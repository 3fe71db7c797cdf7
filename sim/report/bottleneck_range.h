#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/engine/bottleneck_places.h"

namespace moesim {

// A schedule's iteration with measured times spent at one placement.
struct PlacedIteration {
  double seconds = 0;
  int forward_degree = 0;  // chosen for this placement; the maximum over layers
  int backward_degree = 0;
  std::string error{};              // why it cannot run like that; nothing else holds then
  std::optional<double> speedup{};  // over the baseline at the same placement

  [[nodiscard]] bool ran() const { return error.empty(); }
};

// Iterations over all places where measured times may be spent (`bottleneck`).
struct BottleneckRange {
  struct Row {
    std::optional<BottleneckPlacement> placement;  // absent: as the profile says
    std::vector<PlacedIteration> of_schedule;
  };

  std::vector<Span> spans;             // of which measured times are used
  std::vector<std::string> schedules;  // of a Program: its name
  std::vector<Row> rows;
};

// Adds the speed-ups over one of the schedules.
void add_speedups(BottleneckRange& range, const std::string& baseline);

// From the least to the most of what ran, of one schedule.
struct Extent {
  double least = 0;
  double most = 0;
};
std::optional<Extent> seconds_of(const BottleneckRange& range, std::size_t schedule);
std::optional<Extent> speedups_of(const BottleneckRange& range, std::size_t schedule);

// A block of a table: of one schedule every row, of several their extents. A JSON text of all.
std::string to_table(const BottleneckRange& range);
std::string to_json(const BottleneckRange& range);

}  // namespace moesim
