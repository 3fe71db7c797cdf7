#pragma once

#include "sim/cli/options.h"

// One function per subcommand, each in a file of its own. They print the answer on standard output,
// progress on standard error where that is a terminal, and return the exit code.
namespace moesim {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;    // the run failed
inline constexpr int kExitBadInput = 2;  // bad usage or input
inline constexpr int kExitMissed = 3;    // a bound was missed

int run_simulate(const SimulateOptions& options);
int run_execute(const ExecuteOptions& options);
int run_calibrate(const CalibrateOptions& options);
int run_calibrate_logs(const CalibrateOptions& options);
int run_predict_collective(const PredictCollectiveOptions& options);
int run_crosscheck(const CrosscheckOptions& options);
int run_compare(const CompareOptions& options);
int run_sweep(const SweepOptions& options);
int run_verify(const VerifyOptions& options);
int run_program(const ProgramOptions& options);
int run_check(const CheckOptions& options);
int run_validate(const ValidateOptions& options);
int run_topology(const TopologyOptions& options);

}  // namespace moesim
