#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "kernels/gpu/gpu.h"
#include "kernels/host/host_options.h"
#include "sim/collective/layout.h"
#include "sim/engine/simulate.h"
#include "sim/schedule/schedule.h"

// What the command line says, as plain values. Empty paths and names mean "not given".
namespace moesim {

// A scenario and what replaces parts of it. Paths are relative to the working folder.
struct ScenarioOptions {
  std::string scenario;
  std::string cluster;
  std::string profile;
  std::vector<std::string> overrides;   // "path=value"
  std::vector<std::string> algorithms;  // "OPERATION=NAME", before those of the profile
};

// `--degree`: absent forward and backward mean "auto".
struct DegreeOption {
  std::string text;  // as given, for messages
  std::optional<int> forward;
  std::optional<int> backward;
};

// How a schedule's degrees are found. Without `degree` the scenario's own hold; what it leaves open
// is searched without `policy`.
struct PlanOptions {
  std::optional<DegreeOption> degree;
  std::optional<Policy> policy;
};

struct LayerRange {
  int first = 0;
  int last = -1;  // inclusive; -1: the last layer
};

// What Program a command looks at. Exactly one of `input.scenario` and `program` is given.
struct SubjectOptions {
  ScenarioOptions input;
  std::string program;
  std::string schedule;
  PlanOptions plan;
};

// What is said of one iteration.
struct IterationOutputs {
  bool json = false;
  bool spans = false;
  std::string trace;
  std::string svg;
  LayerRange layers;
  std::string link_load;  // of a simulation
};

struct SimulateOptions : SubjectOptions {
  Resolution resolution = Resolution::kAuto;
  bool unverified = false;
  bool ablate = false;
  bool bottleneck_range = false;
  IterationOutputs outputs;
};

// How Programs are run for real.
struct BackendOptions {
  std::string name = "cpu";  // or "cuda"
  GpuRanks gpu;              // of "cuda"
  HostClock clock = HostClock::kFree;
  bool modelled = false;  // operations last what the profile says, not what they take
  double dilation = 1;
  // Accepted runs of a Program. Without `max_runs`, exactly `num_runs`; without both, from 10 on
  // until the median is known to `spread`, 30 at most.
  std::optional<int> num_runs;
  std::optional<int> max_runs;
  double spread = 0.01;
  // A command that starts moesim-execute's processes; empty: threads of this process. Links are
  // then those that there are, and not paced.
  std::string launcher;
  std::set<std::string> given;  // the command line's options, also those with their defaults
};

struct ExecuteOptions : SubjectOptions {
  BackendOptions backend;
  bool in_processes = false;  // that mpirun started; else on threads
  std::string results;
  bool kernels = false;  // of one GPU: also its kernels' times
  IterationOutputs outputs;
};

// A log of nccl-tests, and what it need not say itself.
struct NcclLogOption {
  std::string path;
  std::string collective;  // "all_gather"; empty: the log says it
};

// Either probes of a scenario on a backend, or logs.
struct CalibrateOptions {
  ScenarioOptions input;
  BackendOptions backend;
  std::string gpu_probes;  // where to write what the GPU's probes took; empty: nowhere
  std::string probes;      // a folder for the Programs of the probes, instead of running them
  std::vector<NcclLogOption> nccl_logs;
  std::optional<Layout> layout;  // of logs that list no ranks
  std::string out;               // empty: standard output
};

struct PredictCollectiveOptions {
  std::string profile;
  std::string cluster;
  std::optional<CollectiveOperation> operation;
  int nodes = 0;  // 0: those of --against, else the cluster's
  int gpus = 0;
  std::optional<std::string> algorithm;  // over the cluster's links or ports; absent: the layouts
  std::vector<std::int64_t> sizes;       // empty: those of --against, else 64 KiB to 1 GiB
  std::string against;                   // a log
};

struct CrosscheckOptions {
  ScenarioOptions input;
  std::vector<std::string> schedules;
  std::string baseline;
  PlanOptions plan;
  BackendOptions backend;
  std::optional<double> max_error;  // of a schedule's prediction
  bool json = false;
  std::string svg;
};

struct CompareOptions {
  ScenarioOptions input;
  std::vector<std::string> schedules;
  std::string baseline;
  PlanOptions plan;
  Resolution resolution = Resolution::kAuto;
  bool bottleneck_range = false;
  bool json = false;
};

struct SweepOptions {
  std::string sweep;
  int workers = 0;  // 0: one per core
  std::string out;
};

struct VerifyOptions : SubjectOptions {
  bool json = false;
};

struct ProgramOptions {
  ScenarioOptions input;
  std::string schedule;
  PlanOptions plan;
  std::string out;  // empty: standard output
};

struct CheckOptions {
  std::vector<std::string> paths;  // expectation files, or folders of them
  bool update = false;
  std::string junit;
};

struct ValidateOptions {
  std::string section;  // empty: all
  std::string file;     // of the section gpu; empty: the one that is stored, if any
  std::string out;      // empty: docs/validation.md; of one section, standard output
};

enum class TopologyAction { kShow, kCheck, kExport };
enum class GraphFormat { kDot, kSvg };

// `--route A,B`
struct RouteOption {
  int from = 0;
  int to = 0;
};

struct TopologyOptions {
  std::optional<TopologyAction> action;
  std::string cluster;
  std::vector<std::string> overrides;
  std::string profile;               // whose GPU is compared; empty: none
  std::optional<RouteOption> route;  // absent: examples
  bool json = false;
  std::optional<GraphFormat> format;  // absent: by the file's ending
  std::string out;                    // empty: standard output
  std::optional<int> node;            // that is drawn with its parts
};

// `--help` or `--version`: a text for standard output.
struct TextRequest {
  std::string text;
};

using Command = std::variant<SimulateOptions,
                             ExecuteOptions,
                             CalibrateOptions,
                             PredictCollectiveOptions,
                             CrosscheckOptions,
                             CompareOptions,
                             SweepOptions,
                             VerifyOptions,
                             ProgramOptions,
                             CheckOptions,
                             ValidateOptions,
                             TopologyOptions,
                             TextRequest>;

}  // namespace moesim
