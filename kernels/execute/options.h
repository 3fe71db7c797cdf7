#pragma once

#include <string>
#include <variant>

#include "kernels/gpu/gpu.h"
#include "kernels/host/host_options.h"
#include "kernels/repeat.h"

namespace moesim {

// Where the ranks run: on threads of this process, or on the processes that mpirun started.
enum class TransportKind { kThreads, kMpi };

enum class BackendKind { kCpu, kCuda };

// What the command line of moesim-execute says. Empty paths mean "not given".
struct RunOptions {
  std::string program;
  std::string cluster;
  BackendKind backend = BackendKind::kCpu;
  TransportKind transport = TransportKind::kThreads;
  HostOptions host;
  RepeatOptions repeat{.num_warmups = 0, .rule = {.least = 1, .most = 1}};
  std::string trace;   // of the run with the median time
  std::string traces;  // folder for those of all accepted runs: 0.json, 1.json, …
  std::string results;
  std::string record;
  GpuRanks gpu;  // of kCuda
  bool kernels = false;
  std::string compare_attention;  // instead of other runs: fused beside products
  // Instead of running a Program:
  bool gpu_facts = false;
  std::string gpu_probes;
  GpuProbeRun probe_run;
};

// `--help` or `--version`: a text for standard output.
struct RunText {
  std::string text;
};

// Throws Error for what is not understood.
std::variant<RunOptions, RunText> parse_run_options(int argc, const char* const* argv);

}  // namespace moesim
