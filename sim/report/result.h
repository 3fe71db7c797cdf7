#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/kernel_times.h"
#include "sim/analysis/bounds.h"
#include "sim/analysis/memory.h"
#include "sim/base/time.h"
#include "sim/io/cluster.h"
#include "sim/io/profile.h"
#include "sim/io/program.h"
#include "sim/io/scenario.h"
#include "sim/io/trace.h"
#include "sim/report/bottleneck_range.h"
#include "sim/report/measured_runs.h"
#include "sim/schedule/schedule.h"

namespace moesim {

// One effect turned off (simulate --ablate).
struct AblatedEffect {
  std::string effect;            // "launch_overhead"
  double iteration_seconds = 0;  // without it
  double cost_seconds = 0;       // what it costs: the iteration with it minus without it
};

// How ranks differ, and operations vary, from what the profile says.
struct ResultVariation {
  int num_other_speeds = 0;  // ranks that compute at another speed
  double slowest = 1;        // factors
  double fastest = 1;
  std::optional<Jitter> jitter;
};

// Everything that `simulate` says of one Program, in the units of its JSON.
struct SimulationResult {
  std::string version;
  std::string inputs_hash;  // of every input file and override, hexadecimal
  std::string scenario;     // name; the Program's name when there is no scenario
  std::string schedule;
  std::string policy;   // of the Plan, or "" for a Program
  std::string variant;  // parm: the schedule it chose
  std::string resolution;
  int num_classes = 0;
  int num_ranks = 0;
  uint64_t seed = 0;
  double iteration_seconds = 0;
  int forward_degree = 0;  // the maximum over layers
  int backward_degree = 0;
  std::optional<int> non_moe_degree;      // sp_moe
  std::vector<std::vector<int>> degrees;  // per layer {forward, backward}, when layers differ
  double tokens_per_second = 0;           // 0 for a Program without a scenario
  double model_flops_utilization = 0;     // of the profile's GEMM rate; 0 when unknown
  MemoryUse memory;                       // of the fullest rank at its fullest
  int64_t gpu_memory_bytes = 0;           // 0 without a cluster
  bool fits = true;
  double dropped_share = 0;  // of the tokens' choices
  std::map<std::string, double> stream_busy_seconds;
  double exposed_communication_seconds = 0;
  double straggler_wait_seconds = 0;
  std::optional<double> stage_wait_seconds;             // of a Program with stages
  double computing_seconds = 0;                         // mean over ranks
  std::map<std::string, double> critical_path_seconds;  // by kind
  double busiest_seconds = 0;
  std::string busiest;  // the stream or port of that bound: "stream compute", "port inter-node out"
  double dependency_chain_seconds = 0;
  std::string bottleneck;            // "inter-node AlltoAll", "compute", "stragglers", "bubble"
  double bottleneck_share = 0;       // of the iteration
  double bottleneck_path_share = 0;  // of the critical path
  std::string bound_by;              // one sentence on them
  std::optional<SharingStanding> sharing;
  bool largest_degree_tried = false;     // no larger one was looked at than was chosen
  std::optional<std::string> runner_up;  // one sentence: what was not chosen, and its time
  std::vector<std::string> assumptions;
  std::optional<ResultVariation> variation;         // where there is any
  std::vector<AblatedEffect> ablation;              // empty unless asked for
  std::optional<BottleneckRange> bottleneck_range;  // likewise
  std::string backend;                              // of an execution
  std::optional<MeasuredRuns> measured;             // likewise
  std::vector<KernelTime> kernels;                  // likewise, empty unless asked for
};

// What a result is made of. `scenario`, `cluster`, `profile` and `plan` are null for a Program that
// came without them.
struct ResultInputs {
  const Program* program = nullptr;
  const Trace* trace = nullptr;
  const Cluster* cluster = nullptr;
  const Profile* profile = nullptr;
  const Scenario* scenario = nullptr;
  const Plan* plan = nullptr;
  std::string schedule;
  std::string inputs_hash;
};

// Runs the analyses and fills in a result. The trace must have its spans.
SimulationResult make_result(const ResultInputs& inputs);

// The same with lower bounds that the caller knows already.
SimulationResult make_result(const ResultInputs& inputs, const LowerBounds& bounds);

// Only what costs next to nothing, for sweeps: everything but streams, critical path, bounds and
// the two communication times. Peak memory needs the trace's spans; without them it stays 0.
SimulationResult make_summary(const ResultInputs& inputs);

// The lower bounds of a Program on a cluster: lower_bounds of its uncontended tasks, and the work
// of its busiest port where the collectives of several streams share one.
LowerBounds uncontended_bounds(const ResultInputs& inputs);

// The same from what a simulation has told already.
struct UncontendedWork;
LowerBounds uncontended_bounds(const ResultInputs& inputs, const UncontendedWork& work);

// Row of `compare`: a schedule's result, or why it has none.
struct ComparisonRow {
  std::string schedule;
  SimulationResult result;
  std::string error;              // where the schedule cannot run; nothing else holds then
  std::optional<double> speedup;  // the baseline's time over this one's; not where that has none

  [[nodiscard]] bool ran() const { return error.empty(); }
};

struct Comparison {
  std::string baseline;
  std::vector<ComparisonRow> rows;
  std::optional<BottleneckRange> bottleneck_range{};  // where it was asked for
};

ComparisonRow row_of(SimulationResult result);
ComparisonRow row_of_error(const std::string& schedule, const std::string& error);

// Adds the speed-ups. `baseline` is the schedule of one of the rows.
Comparison make_comparison(std::vector<ComparisonRow> rows, const std::string& baseline);

// What the rows' numbers rest on, each once, in order of first use.
struct SharedAssumption {
  std::string text;
  std::vector<std::string> schedules;  // whose numbers rest on it
  bool holds_for_all = false;          // of those that ran

  // The text, and in front of it which schedules it holds for, where it does not for all.
  [[nodiscard]] std::string line() const;
};
std::vector<SharedAssumption> all_assumptions(const Comparison& comparison);

// JSON texts with the keys of the contract, indented, ending in a newline. Every double is printed
// so that reading it gives the same double: seconds recover their picoseconds. With a trace, also
// {"spans": [{rank, stream, task, start_seconds, end_seconds}]}: an entry for every rank of a
// class.
std::string to_json(const SimulationResult& result);
std::string to_json(const SimulationResult& result, const Program& program, const Trace& trace);
std::string to_json(const Comparison& comparison);

// Tables for people.
std::string to_table(const SimulationResult& result);
std::string to_table(const Comparison& comparison);

}  // namespace moesim
