#include <fmt/core.h>

#include "sim/cli/backend.h"
#include "sim/cli/calibration.h"
#include "sim/cli/commands.h"
#include "sim/cli/inputs.h"
#include "sim/cli/output.h"
#include "sim/io/files.h"
#include "sim/io/output_paths.h"
#include "sim/report/text.h"

namespace moesim {

int run_calibrate(const CalibrateOptions& options) {
  if (!options.nccl_logs.empty()) {
    return run_calibrate_logs(options);
  }
  const Inputs inputs = load_scenario_inputs(options.input, false);
  check_outputs({options.out}, files_of(inputs.scenario));
  const Backend backend(options.backend, inputs);
  const Profile profile = calibrated_profile(inputs, inputs.scenario.schedules, backend);
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
