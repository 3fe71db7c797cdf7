#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/analysis/recurrence.h"
#include "sim/cli/gpu_check_plan.h"
#include "sim/cli/validate/finding.h"
#include "sim/engine/simulate.h"
#include "sim/io/inputs.h"
#include "sim/schedule/closed_form.h"
#include "sim/schedule/schedule.h"

namespace moesim::validation {

// Random Programs of fixed tasks against the execution model's rules, solved as equations.
struct RecurrenceStudy {
  using Solve = std::vector<TaskSpan> (*)(const Program&, const RecurrenceOptions&);

  int num_programs = 1000;
  std::uint64_t seed = 20260201;
  Solve solve = solve_recurrence;
};
Finding study_recurrence(const RecurrenceStudy& study);

// MoE regions of the pipelined schedules against the papers' formulas.
struct ClosedFormStudy {
  using Formula = double (*)(int, const ChunkTimes&);

  int num_sets = 2000;
  std::uint64_t seed = 20260202;
  Formula fsmoe = fsmoe_bound;
  Formula pipemoe = pipemoe_time;
};
Finding study_closed_forms(const ClosedFormStudy& study);

// FSMoE's Table 2, milliseconds of one layer. Holds nothing to a bar.
struct Table2Study {
  Inputs gpt2xl_a;
  Inputs mixtral_a;
  Inputs gpt2xl_b;
  Inputs mixtral_b;
};
Finding study_table2(const Table2Study& study);

// FSMoE's grid of 1458 layers on each testbed, in worker processes.
struct PublishedSpeedups {  // averages over Tutel
  double tutel_improved = 0;
  double fsmoe_no_iio = 0;
  double fsmoe = 0;
};
struct GridStudy {
  Inputs testbed_a;
  Inputs testbed_b;
  int num_workers = 1;
  int stride = 1;  // every stride-th point
  PublishedSpeedups published_a = {1.09, 1.12, 1.18};
  PublishedSpeedups published_b = {1.08, 1.16, 1.22};
};
Finding study_grid(const GridStudy& study);

// The same grid on boards that the testbeds may have had. The clusters describe one board each and
// are not wired. In worker processes.
struct BoardsStudy {
  Inputs testbed_a;
  Inputs testbed_b;
  Inputs gpt2xl_a;
  Inputs gpt2xl_b;
  int num_workers = 1;
  int stride = 7;  // every stride-th point of the grid
  double published_a = 1.18;
  double published_b = 1.22;
};
Finding study_boards(const BoardsStudy& study);

// Parm over its baseline, and SP-MoE against other systems, on grids that are assumed: nothing is
// held to a bar. In worker processes.
struct ParmStudy {
  Inputs testbed_a;
  Inputs testbed_b;
  int num_workers = 1;
};
Finding study_parm(const ParmStudy& study);

struct SpMoeStudy {
  Inputs testbed_a;
  Inputs testbed_b;
  int num_workers = 1;
};
Finding study_sp_moe(const SpMoeStudy& study);

// FSMoE over Tutel on two stages. In worker processes.
struct StagesStudy {
  Inputs gpt2xl_a;
  Inputs mixtral_a;
  Inputs gpt2xl_b;
  Inputs mixtral_b;
  int num_workers = 1;
};
Finding study_stages(const StagesStudy& study);

// What Programs compute against an unpartitioned reference. In worker processes.
struct EqualityStudy {
  using Build = Program (*)(const std::string&, const Scenario&, const Degrees&, const Evaluator&);

  int num_workers = 1;
  std::vector<std::string> schedules = schedule_names();
  Build build = build_schedule;
};
Finding study_equality(const EqualityStudy& study);

// Results of `moesim crosscheck` that are stored in a folder. Measures nothing.
struct CrosscheckStudy {
  std::string folder = "calibration/measured";
};
Finding study_crosscheck(const CrosscheckStudy& study);

// What tests/gpu/run.sh measured on a GPU: a result file that is named, else the one that is
// stored; where there is none, a line that says so.
// What was to be shown and failed, and a file in which nothing was compared, count as missed bars.
// Throws Error where the file is damaged or of another build.
struct GpuStudy {
  GpuCheckScenarios scenarios;
  std::string file{};
  std::string stored = "calibration/measured/gpu_check.json";
};
Finding study_gpu(const GpuStudy& study);

// Collectives on layouts and sizes that the calibration did not see, from published logs of
// nccl-tests whose figures are stored in a folder.
struct LinksStudy {
  std::string folder = "calibration/measured/nccl_tests";
  double h100_median = 0.05;
  double h100_worst = 0.2;
  double polaris_median = 0.3;
  double size_median = 0.15;
};
Finding study_links(const LinksStudy& study);

// Fold, ports and flows on the same Programs: equal where a result says so, within its bound
// elsewhere.
struct ResolutionsStudy {
  using Simulate = Trace (*)(const Program&,
                             const Cluster*,
                             const Profile*,
                             const SimulationOptions&);

  Inputs quickstart;
  int num_random = 300;
  int num_numberings = 20;
  std::uint64_t seed = 20261204;
  Simulate simulate = moesim::simulate;
};
Finding study_resolutions(const ResolutionsStudy& study);

// The same bytes again, from other numbers of workers, and after other scenarios. In worker
// processes. `report` says what a schedule does with a scenario; report_hash: the hash of what
// `simulate --json --spans` prints.
std::string report_hash(const Inputs& inputs, const std::string& schedule);

struct DeterminismStudy {
  Inputs inputs;
  int num_others = 1000;
  std::string (*report)(const Inputs&, const std::string&) = report_hash;
};
Finding study_determinism(const DeterminismStudy& study);

}  // namespace moesim::validation
