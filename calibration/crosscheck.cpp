#include "calibration/crosscheck.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "calibration/robust_fit.h"
#include "sim/base/check.h"

namespace moesim {
namespace {

// Seconds of each kind of task, summed over ranks: from a collective's transfer, else from the
// start, to the end. A class counts for each of its ranks.
std::map<std::string, double> kind_seconds(const Program& program, const Trace& trace) {
  std::map<int, size_t> num_ranks;
  for (const RankClass& ranks : trace.classes) {
    num_ranks[ranks.representative] = ranks.ranks.size();
  }
  std::map<std::string, double> seconds;
  for (const TaskSpan& span : trace.spans) {
    seconds[program.tasks[span.task].kind] +=
        (span.end - span.transfer).seconds() * static_cast<double>(num_ranks.at(span.rank));
  }
  return seconds;
}

const ScheduleComparison& baseline_row(const Crosscheck& crosscheck) {
  const auto row = std::find_if(
      crosscheck.rows.begin(), crosscheck.rows.end(), [&](const ScheduleComparison& candidate) {
        return candidate.schedule == crosscheck.baseline;
      });
  CHECK(row != crosscheck.rows.end(), "no row of the baseline '{}'", crosscheck.baseline);
  return *row;
}

std::vector<double> absolute_errors(const Crosscheck& crosscheck) {
  std::vector<double> errors;
  for (const ScheduleComparison& row : crosscheck.rows) {
    errors.push_back(std::abs(row.error()));
  }
  return errors;
}

}  // namespace

std::vector<KindComparison> compare_kinds(const Program& program,
                                          const Trace& predicted,
                                          const std::vector<Trace>& measured) {
  std::vector<std::map<std::string, double>> runs;
  for (const Trace& trace : measured) {
    runs.push_back(kind_seconds(program, trace));
  }
  std::vector<KindComparison> kinds;
  for (const auto& [kind, seconds] : kind_seconds(program, predicted)) {
    std::vector<double> times;
    for (const std::map<std::string, double>& run : runs) {
      times.push_back(run.at(kind) / program.num_ranks);
    }
    kinds.push_back({kind, seconds / program.num_ranks, quantile(times, 0.5)});
  }
  return kinds;
}

double speedup_error(const Crosscheck& crosscheck, const ScheduleComparison& row) {
  const ScheduleComparison& baseline = baseline_row(crosscheck);
  const double predicted = baseline.predicted_seconds / row.predicted_seconds;
  const double measured = baseline.measured.median_seconds / row.measured.median_seconds;
  return predicted / measured - 1;
}

Ranking ranking(const Crosscheck& crosscheck) {
  Ranking result;
  for (auto left = crosscheck.rows.begin(); left != crosscheck.rows.end(); ++left) {
    for (auto right = left + 1; right != crosscheck.rows.end(); ++right) {
      const double measured = left->measured.median_seconds / right->measured.median_seconds - 1;
      if (std::abs(measured) > kRankingMargin) {
        const double predicted = left->predicted_seconds / right->predicted_seconds - 1;
        ++result.num_pairs;
        result.num_agreeing += (measured > 0) == (predicted > 0) ? 1 : 0;
      }
    }
  }
  return result;
}

double median_error(const Crosscheck& crosscheck) {
  return quantile(absolute_errors(crosscheck), 0.5);
}

double worst_error(const Crosscheck& crosscheck) {
  return quantile(absolute_errors(crosscheck), 1);
}

}  // namespace moesim
