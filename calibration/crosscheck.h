#pragma once

#include <string>
#include <vector>

#include "sim/io/program.h"
#include "sim/io/trace.h"
#include "sim/report/measured_runs.h"

namespace moesim {

// The tasks of one kind: their time on a rank (mean over ranks, waiting for a collective's other
// members not counted), predicted and measured (median over runs).
struct KindComparison {
  std::string kind;
  double predicted_seconds = 0;
  double measured_seconds = 0;
};

// One schedule, predicted by the simulator and run for real.
struct ScheduleComparison {
  std::string schedule;
  int forward_degree = 0;
  int backward_degree = 0;
  double predicted_seconds = 0;
  MeasuredRuns measured;
  std::vector<KindComparison> kinds;

  // Of the prediction, relative to the measured median: above zero it was too slow.
  double error() const { return predicted_seconds / measured.median_seconds - 1; }
};

// A schedule that was predicted, but whose runs failed.
struct UnmeasuredSchedule {
  std::string schedule;
  int forward_degree = 0;
  int backward_degree = 0;
  double predicted_seconds = 0;
  std::string reason;
};

// Predictions of several schedules beside their execution on one backend.
struct Crosscheck {
  std::string backend;
  std::string baseline;
  std::vector<ScheduleComparison> rows;
  std::vector<std::string> not_run;  // "schedule: why" of those that cannot run the scenario
  std::vector<std::string> assumptions;
  bool modelled = false;  // operations last what the profile says, in both: a test of the wiring
  std::vector<UnmeasuredSchedule> not_measured{};  // they count in no error and no ranking
};

// Makes a row's kinds from the prediction and the measured traces of one Program.
std::vector<KindComparison> compare_kinds(const Program& program,
                                          const Trace& predicted,
                                          const std::vector<Trace>& measured);

// Speed-up over the baseline, predicted over measured, minus 1.
double speedup_error(const Crosscheck& crosscheck, const ScheduleComparison& row);

// Pairs of schedules whose measured medians differ by more than `margin` (relative): how many there
// are, and in how many the prediction puts the same one first.
struct Ranking {
  int num_pairs = 0;
  int num_agreeing = 0;
};
inline constexpr double kRankingMargin = 0.02;
Ranking ranking(const Crosscheck& crosscheck);

// The median over the schedules of |error|; the largest of them.
double median_error(const Crosscheck& crosscheck);
double worst_error(const Crosscheck& crosscheck);

// A table of the schedules: its header, then a row for each.
std::vector<std::vector<std::string>> schedule_cells(const Crosscheck& crosscheck);

std::string to_table(const Crosscheck& crosscheck);
std::string to_json(const Crosscheck& crosscheck);

}  // namespace moesim
