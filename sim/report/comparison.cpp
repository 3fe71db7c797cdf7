#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

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

std::string SharedAssumption::line() const {
  return holds_for_all ? text : fmt::format("{}: {}", fmt::join(schedules, ", "), text);
}

std::vector<SharedAssumption> all_assumptions(const Comparison& comparison) {
  std::vector<SharedAssumption> all;
  std::map<std::string, std::size_t> known;  // places in `all`
  std::size_t num_ran = 0;
  for (const ComparisonRow& row : comparison.rows) {
    num_ran += row.ran() ? 1 : 0;
    for (const std::string& text : row.result.assumptions) {
      const auto [found, is_new] = known.try_emplace(text, all.size());
      if (is_new) {
        all.push_back({.text = text, .schedules = {}});
      }
      all[found->second].schedules.push_back(row.schedule);
    }
  }
  for (SharedAssumption& assumption : all) {
    assumption.holds_for_all = assumption.schedules.size() == num_ran;
  }
  return all;
}

}  // namespace moesim
