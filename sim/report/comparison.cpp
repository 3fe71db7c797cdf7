#include <algorithm>
#include <set>
#include <utility>

#include "sim/base/check.h"
#include "sim/report/result.h"

namespace moesim {

Comparison make_comparison(std::vector<SimulationResult> results, const std::string& baseline) {
  const auto is_baseline = [&](const SimulationResult& result) {
    return result.schedule == baseline;
  };
  const auto found = std::find_if(results.begin(), results.end(), is_baseline);
  CHECK(found != results.end(), "no result of the baseline {}", baseline);
  const double baseline_seconds = found->iteration_seconds;
  Comparison comparison;
  comparison.baseline = baseline;
  for (SimulationResult& result : results) {
    ComparisonRow row;
    row.schedule = result.schedule;
    row.iteration_seconds = result.iteration_seconds;
    // Iterations without length are all as fast as each other.
    row.speedup = result.iteration_seconds > 0 ? baseline_seconds / result.iteration_seconds : 1;
    row.forward_degree = result.forward_degree;
    row.backward_degree = result.backward_degree;
    row.result = std::move(result);
    comparison.rows.push_back(std::move(row));
  }
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
