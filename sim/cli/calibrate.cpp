#include <fmt/core.h>

#include "calibration/gpu_findings.h"
#include "kernels/gpu/gpu.h"
#include "sim/cli/backend.h"
#include "sim/cli/calibration.h"
#include "sim/cli/commands.h"
#include "sim/cli/inputs.h"
#include "sim/cli/output.h"
#include "sim/io/files.h"
#include "sim/io/gpu_check.h"
#include "sim/io/output_paths.h"
#include "sim/report/text.h"

namespace moesim {
namespace {

// Programs for whoever runs them elsewhere: DIR/probe_00.json, …
int write_probes(const Inputs& inputs, const std::string& folder) {
  const std::vector<Program> programs =
      programs_of(plan_for(inputs, inputs.scenario.schedules, true));
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    paths.push_back(fmt::format("{}/probe_{:02}.json", folder, i));
  }
  check_outputs(paths, files_of(inputs));
  for (std::size_t i = 0; i < programs.size(); ++i) {
    write_file_atomically(paths[i], program_to_json(programs[i]));
  }
  print_out(fmt::format("{}: {}\n", folder, counted(programs.size(), "Program")));
  return kExitOk;
}

// What the GPU's own probes know better than Programs: GEMMs alone, and its memory.
void add_gpu_probes(const CalibrateOptions& options, Profile& profile) {
  const std::string& file = options.gpu_probes;
  GpuProbeRun run{.device = options.backend.gpu.cuda.device,
                  .hardware_queues = profile.hardware_queues};
  if (!file.empty()) {
    run.keep = keeping_in(file);
  }
  const GpuProbes probes = run_gpu_probes(run);
  if (!file.empty()) {
    write_file_atomically(file, probes_to_json(probes));
  }
  const Profile gpu = gpu_profile({probes});
  profile.gemm = gpu.gemm;
  profile.memory_bytes_per_second = gpu.memory_bytes_per_second;
  profile.environment.push_back(
      fmt::format("{} of the GPU alone", counted(probes.readings.size(), "probe")));
  profile.environment.insert(
      profile.environment.end(), probes.not_run.begin(), probes.not_run.end());
}

}  // namespace

int run_calibrate(const CalibrateOptions& options) {
  if (!options.nccl_logs.empty()) {
    return run_calibrate_logs(options);
  }
  const Inputs inputs = load_scenario_inputs(options.input, false);
  check_outputs({options.out, options.gpu_probes}, files_of(inputs));
  if (!options.probes.empty()) {
    return write_probes(inputs, options.probes);
  }
  const Backend backend(options.backend, inputs);
  Profile profile = calibrated_profile(inputs, inputs.scenario.schedules, backend);
  if (backend.is_cuda() && options.backend.launcher.empty()) {
    add_gpu_probes(options, profile);
  }
  const std::string text = profile_to_text(profile);
  if (options.out.empty()) {
    print_out(text);
    return kExitOk;
  }
  write_file_atomically(options.out, text);
  print_out(fmt::format("{}: {}, {}\n",
                        options.out,
                        counted(profile.collectives.size(), "collective"),
                        counted(profile.operations.size(), "operation")));
  return kExitOk;
}

}  // namespace moesim
