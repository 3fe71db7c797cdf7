#include "calibration/nccl_profile.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibration/calibrate.h"
#include "sim/collective/cost_curve.h"

namespace moesim {
namespace {

struct Case {
  CollectiveOperation operation = CollectiveOperation::kAllReduce;
  Layout layout;

  friend auto operator<=>(const Case&, const Case&) = default;
};

std::vector<MeasuredPoint> points_of(const std::vector<Sample>& samples) {
  std::vector<MeasuredPoint> points;
  for (const Sample& sample : median_table(samples)) {
    points.push_back({static_cast<std::int64_t>(sample.size), sample.seconds});
  }
  return points;
}

// Of the fitted line; a measured time contains it, also where the line does not hold. One point has
// nothing to tell a start-up from.
double startup_of(const std::vector<MeasuredPoint>& table, const std::vector<Sample>& samples) {
  return table.size() > 1 ? std::min(fit_line(samples).startup_seconds, table.front().seconds) : 0;
}

// A message that is one whatever the number of ranks has one start-up.
StartupPer usual_startup(CollectiveOperation operation) {
  return operation == CollectiveOperation::kShift ? StartupPer::kTask : StartupPer::kPeer;
}

Span span_of(const Layout& layout) {
  return layout.nodes == 1 ? Span::kNode : layout.gpus_per_node == 1 ? Span::kFabric : Span::kBoth;
}

// One point for each size, with what the other sizes say of it.
std::vector<NcclPoint> compare(const std::vector<Sample>& samples,
                               const std::vector<MeasuredPoint>& table,
                               const Line& line) {
  std::map<double, std::vector<double>> by_size;
  for (const Sample& sample : samples) {
    by_size[sample.size].push_back(sample.seconds);
  }
  std::vector<NcclPoint> points;
  for (const MeasuredPoint& entry : table) {
    const auto size = static_cast<double>(entry.size);
    const bool is_end = points.empty() || points.size() + 1 == table.size();
    points.push_back({.bytes = entry.size,
                      .measured_seconds = quantile(by_size.at(size), 0.5),
                      .table_seconds = entry.seconds,
                      .line_seconds = line.at(size),
                      .without_seconds = is_end ? 0 : time_without(samples, size)});
  }
  return points;
}

NcclEntry make_entry(const Case& measured, const std::vector<Sample>& samples) {
  NcclEntry entry{.operation = measured.operation, .layout = measured.layout};
  const std::vector<MeasuredPoint> table = points_of(samples);
  if (table.size() == 1) {  // a rate, and nothing to tell a start-up from
    entry.line.seconds_per_unit = table[0].seconds / static_cast<double>(table[0].size);
    entry.line.fit.num_samples = static_cast<int>(samples.size());
  } else {
    entry.line = fit_line(samples);
  }
  entry.points = compare(samples, table, entry.line);
  entry.line_holds =
      table.size() > 1 &&
      std::all_of(entry.points.begin(), entry.points.end(), [](const NcclPoint& point) {
        return std::abs(point.line_seconds / point.measured_seconds - 1) <= kWorstResidual;
      });
  return entry;
}

CollectiveCost cost_of(const NcclEntry& entry) {
  CollectiveCost cost{.operation = entry.operation,
                      .span = span_of(entry.layout),
                      .group_size = entry.layout.size(),
                      .num_nodes = entry.layout.nodes};
  for (const NcclPoint& point : entry.points) {
    cost.points.push_back({point.bytes, point.table_seconds});
  }
  // A measured time contains the start-up, also where the line does not hold.
  cost.startup_seconds = std::min(entry.line.startup_seconds, cost.points.front().seconds);
  cost.startup_per = usual_startup(entry.operation);
  cost.fit.num_samples = entry.line.fit.num_samples;
  if (entry.line_holds) {
    cost.fit = entry.line.fit;
  }
  return cost;
}

// Whether start-ups of the fewest and the most ranks show that they do not grow with them.
bool is_paid_once(const std::vector<const CollectiveCost*>& costs) {
  const auto [least, most] = std::minmax_element(
      costs.begin(), costs.end(), [](const CollectiveCost* a, const CollectiveCost* b) {
        return a->group_size < b->group_size;
      });
  const bool tells = (*least)->group_size < (*most)->group_size && (*least)->startup_seconds > 0 &&
                     (*most)->startup_seconds > 0;
  return tells && std::log((*most)->startup_seconds / (*least)->startup_seconds) <
                      0.5 * std::log(static_cast<double>((*most)->group_size - 1) /
                                     ((*least)->group_size - 1));
}

// Start-ups are whole so far: those of a kind of layout are made to be of one peer, or stay.
void share_out_startups(std::vector<CollectiveCost>& costs) {
  std::map<std::pair<CollectiveOperation, int>, std::vector<const CollectiveCost*>> kinds;
  const auto kind = [](const CollectiveCost& cost) {
    const int on_node = cost.num_nodes == 1 ? 0 : cost.group_size / cost.num_nodes;
    return std::pair(cost.operation, on_node);
  };
  for (const CollectiveCost& cost : costs) {
    kinds[kind(cost)].push_back(&cost);
  }
  std::map<std::pair<CollectiveOperation, int>, bool> paid_once;
  for (const auto& [key, members] : kinds) {
    paid_once[key] = is_paid_once(members);
  }
  for (CollectiveCost& cost : costs) {
    if (paid_once.at(kind(cost))) {
      cost.startup_per = StartupPer::kTask;
    }
    if (cost.startup_per == StartupPer::kPeer) {
      cost.startup_seconds /= cost.group_size - 1;
    }
  }
}

void add_once(const std::vector<std::string>& from, std::vector<std::string>& to) {
  for (const std::string& text : from) {
    if (std::find(to.begin(), to.end(), text) == to.end()) {
      to.push_back(text);
    }
  }
}

}  // namespace

double time_without(const std::vector<Sample>& samples, double size) {
  std::vector<Sample> others;
  for (const Sample& sample : samples) {
    if (sample.size != size) {
      others.push_back(sample);
    }
  }
  const std::vector<MeasuredPoint> points = points_of(others);
  return interpolate(points, size, startup_of(points, others));
}

NcclCalibration calibrate_from_logs(const std::vector<NcclLog>& logs) {
  NcclCalibration result;
  std::map<Case, std::vector<Sample>> samples;
  std::vector<std::string> names;
  for (const NcclLog& log : logs) {
    names.push_back(std::filesystem::path(log.path).filename().string());
    for (const NcclRun& run : log.runs) {
      const NcclCollective& collective = *find_nccl_collective(run.collective);
      if (!collective.operation) {
        result.left_out.push_back(fmt::format("{}: {} on {}: moesim has no such collective",
                                              names.back(),
                                              run.collective,
                                              to_string(run.layout)));
        continue;
      }
      for (const NcclRow& row : run.rows) {
        samples[{*collective.operation, run.layout}].push_back(
            {static_cast<double>(row.bytes), row.seconds()});
      }
      add_once(run.environment, result.profile.environment);
    }
  }
  for (const auto& [measured, times] : samples) {
    result.entries.push_back(make_entry(measured, times));
    result.profile.collectives.push_back(cost_of(result.entries.back()));
  }
  share_out_startups(result.profile.collectives);
  result.profile.source = fmt::format("nccl-tests logs {}", fmt::join(names, ", "));
  return result;
}

}  // namespace moesim
