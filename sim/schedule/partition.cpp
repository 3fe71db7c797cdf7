#include "sim/schedule/partition.h"

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "sim/base/check.h"

namespace moesim {
namespace {

const RegionLine& best_line(const PartitionLayer& layer, double slice) {
  return *std::min_element(layer.regions.begin(),
                           layer.regions.end(),
                           [slice](const RegionLine& left, const RegionLine& right) {
                             return left.seconds(slice) < right.seconds(slice);
                           });
}

// What step 1 leaves over, cumulative over layers: extra rows may go to layer i only after the
// layers above it have made them.
std::vector<int> fill_free_slots(const PartitionProblem& problem, Partition& partition) {
  std::vector<int> left_over;
  int remaining = 0;
  for (const PartitionLayer& layer : problem.layers) {
    const RegionLine& line = best_line(layer, 0);
    remaining += problem.rows_per_layer;
    const int region = std::min(remaining, problem.reduction.rows_within(line.hidden()));
    remaining -= region;
    const int dense = std::min(remaining, problem.reduction.rows_within(layer.dense_slot));
    remaining -= dense;
    partition.region_rows.push_back(region);
    partition.dense_rows.push_back(dense);
    partition.degrees.push_back(line.degree);
    left_over.push_back(remaining);
  }
  for (size_t i = left_over.size(); i-- > 1;) {
    left_over[i - 1] = std::min(left_over[i - 1], left_over[i]);
  }
  return left_over;
}

// A partial solution of step 2: extra rows given out so far and what that costs.
struct Label {
  int given = 0;
  double cost = 0;
  int parent = -1;  // index into the previous layer's labels
  int extra = 0;
};

constexpr size_t kMaxLabels = 256;

// Keeps labels that no cheaper label with fewer rows given beats.
std::vector<Label> prune(std::vector<Label> labels, int available) {
  std::sort(labels.begin(), labels.end(), [](const Label& left, const Label& right) {
    return std::tie(left.given, left.cost, left.parent) <
           std::tie(right.given, right.cost, right.parent);
  });
  std::vector<Label> kept;
  for (const Label& label : labels) {
    if (kept.empty() || label.cost < kept.back().cost) {
      kept.push_back(label);
    }
  }
  if (kept.size() <= kMaxLabels) {
    return kept;
  }
  const int width = available / static_cast<int>(kMaxLabels) + 1;
  std::vector<Label> sparse;
  for (const Label& label : kept) {
    const bool same_range = !sparse.empty() && sparse.back().given / width == label.given / width;
    if (same_range) {
      sparse.back() = label;  // later labels are cheaper
    } else {
      sparse.push_back(label);
    }
  }
  return sparse;
}

std::vector<int> extra_amounts(const PartitionProblem& problem,
                               const PartitionLayer& layer,
                               int base,
                               int available) {
  std::vector<int> amounts{0, available};
  for (const RegionLine& line : layer.regions) {
    // The last whole row that is hidden, and the one that is hidden in part.
    const int last_hidden = problem.reduction.rows_within(line.hidden()) - base;
    for (const int amount : {last_hidden, last_hidden + 1}) {
      if (amount > 0 && amount < available) {
        amounts.push_back(amount);
      }
    }
  }
  std::sort(amounts.begin(), amounts.end());
  amounts.erase(std::unique(amounts.begin(), amounts.end()), amounts.end());
  return amounts;
}

}  // namespace

Partition partition_gradient(const PartitionProblem& problem) {
  Partition partition;
  if (problem.layers.empty()) {
    return partition;
  }
  const std::vector<int> left_over = fill_free_slots(problem, partition);
  std::vector<std::vector<Label>> labels{{Label{}}};
  for (size_t i = 0; i < problem.layers.size(); ++i) {
    const PartitionLayer& layer = problem.layers[i];
    std::vector<Label> next;
    for (size_t parent = 0; parent < labels.back().size(); ++parent) {
      const Label& label = labels.back()[parent];
      const int base = partition.region_rows[i];
      const int available = left_over[i] - label.given;
      for (const int extra : extra_amounts(problem, layer, base, std::max(0, available))) {
        // A row given to a region need not ride on the last AllReduce.
        const double slice = problem.reduction.of(base + extra);
        const double cost =
            best_line(layer, slice).seconds(slice) - problem.reduction.per_row * extra;
        next.push_back({label.given + extra, label.cost + cost, static_cast<int>(parent), extra});
      }
    }
    labels.push_back(prune(std::move(next), left_over[i]));
  }
  // The cheapest label is the last one: along the list costs fall.
  int at = static_cast<int>(labels.back().size()) - 1;
  for (size_t i = problem.layers.size(); i-- > 0;) {
    const Label& label = labels[i + 1][static_cast<size_t>(at)];
    partition.region_rows[i] += label.extra;
    const double slice = problem.reduction.of(partition.region_rows[i]);
    partition.degrees[i] = best_line(problem.layers[i], slice).degree;
    at = label.parent;
  }
  return partition;
}

}  // namespace moesim
