#include <algorithm>
#include <set>
#include <utility>

#include "sim/base/check.h"
#include "sim/report/result.h"

namespace moesim {
namespace {

// Iterations without length are all as fast as each other.
double speedup(const ComparisonRow& row, double baseline_seconds) {
  const double seconds = row.result.iteration_seconds;
  return seconds > 0 ? baseline_seconds / seconds : 1;
}

}  // namespace

ComparisonRow row_of(SimulationResult result) {
  ComparisonRow row;
  row.schedule = result.schedule;
  row.result = std::move(result);
  return row;
}

ComparisonRow row_of_error(const std::string& schedule, const std::string& error) {
  ComparisonRow row;
  row.schedule = schedule;
  row.error = error;
  return row;
}

Comparison make_comparison(std::vector<ComparisonRow> rows, const std::string& baseline) {
  const auto is_baseline = [&](const ComparisonRow& row) { return row.schedule == baseline; };
  const auto found = std::find_if(rows.begin(), rows.end(), is_baseline);
  CHECK(found != rows.end(), "no row of the baseline {}", baseline);
  Comparison comparison{baseline, {}};
  if (found->ran()) {
    const double baseline_seconds = found->result.iteration_seconds;
    for (ComparisonRow& row : rows) {
      if (row.ran()) {
        row.speedup = speedup(row, baseline_seconds);
      }
    }
  }
  comparison.rows = std::move(rows);
  return comparison;
}

std::vector<std::string> all_assumptions(const Comparison& comparison) {
  std::vector<std::string> assumptions;
  std::set<std::string> seen;
  for (const ComparisonRow& row : comparison.rows) {
    for (const std::string& assumption : row.result.assumptions) {
      if (seen.insert(assumption).second) {
        assumptions.push_back(assumption);
      }
    }
  }
  return assumptions;
}

}  // namespace moesim
