#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/time.h"
#include "sim/io/cluster.h"
#include "sim/io/profile.h"
#include "sim/io/program.h"
#include "sim/io/scenario.h"
#include "sim/io/trace.h"
#include "sim/schedule/schedule.h"

namespace moesim {

// Everything that `simulate` says of one Program, in the units of its JSON (design: Results).
struct SimulationResult {
  std::string version;
  std::string inputs_hash;  // of every input file and override, hexadecimal
  std::string scenario;     // name; the Program's name when there is no scenario
  std::string schedule;
  std::string policy;       // "given", "search", "paper" or "" for a Program
  std::string variant;      // parm: the schedule it chose
  std::string resolution;
  int num_classes = 0;
  int num_ranks = 0;
  uint64_t seed = 0;
  double iteration_seconds = 0;
  int forward_degree = 0;   // the maximum over layers
  int backward_degree = 0;
  std::optional<int> non_moe_degree;     // sp_moe
  std::vector<std::vector<int>> degrees; // per layer {forward, backward}, when layers differ
  double tokens_per_second = 0;          // 0 for a Program without a scenario
  double model_flops_utilization = 0;    // of the profile's GEMM rate; 0 when unknown
  int64_t peak_memory_bytes = 0;
  bool fits = true;
  std::map<std::string, double> stream_busy_seconds;
  double exposed_communication_seconds = 0;
  double straggler_wait_seconds = 0;
  std::map<std::string, double> critical_path_seconds;  // by kind
  double busiest_seconds = 0;
  double dependency_chain_seconds = 0;
  std::string bound_by;  // one sentence
  std::optional<std::string> runner_up;  // one sentence: what was not chosen, and its time
  std::vector<std::string> assumptions;
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

// Runs the analyses and fills in a result.
SimulationResult make_result(const ResultInputs& inputs);

// Row of `compare`.
struct ComparisonRow {
  std::string schedule;
  double iteration_seconds = 0;
  double speedup = 0;  // of the baseline's time over this one's
  int forward_degree = 0;
  int backward_degree = 0;
  SimulationResult result;
};

struct Comparison {
  std::string baseline;
  std::vector<ComparisonRow> rows;
};

// JSON texts with the keys of the contract, indented, ending in a newline. `with_spans` adds
// {"spans": [{rank, stream, task, start_seconds, end_seconds}]}: one entry per rank of a class.
std::string to_json(const SimulationResult& result);
std::string to_json(const SimulationResult& result, const Program& program, const Trace& trace);
std::string to_json(const Comparison& comparison);

// Tables for people.
std::string to_table(const SimulationResult& result);
std::string to_table(const Comparison& comparison);

}  // namespace moesim
