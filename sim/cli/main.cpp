// moesim: reads the command line, runs one command, and turns what is thrown into an exit code.
#include <exception>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/base/message.h"
#include "sim/cli/command_line.h"
#include "sim/cli/commands.h"
#include "sim/cli/output.h"
#include "sim/io/standard_streams.h"

namespace moesim {
namespace {

struct Runner {
  int operator()(const SimulateOptions& options) const { return run_simulate(options); }
  int operator()(const ExecuteOptions& options) const { return run_execute(options); }
  int operator()(const CalibrateOptions& options) const { return run_calibrate(options); }
  int operator()(const PredictCollectiveOptions& options) const {
    return run_predict_collective(options);
  }
  int operator()(const CrosscheckOptions& options) const { return run_crosscheck(options); }
  int operator()(const CompareOptions& options) const { return run_compare(options); }
  int operator()(const SweepOptions& options) const { return run_sweep(options); }
  int operator()(const VerifyOptions& options) const { return run_verify(options); }
  int operator()(const ProgramOptions& options) const { return run_program(options); }
  int operator()(const CheckOptions& options) const { return run_check(options); }
  int operator()(const ValidateOptions& options) const { return run_validate(options); }
  int operator()(const TopologyOptions& options) const { return run_topology(options); }
  int operator()(const TextRequest& request) const {
    print_out(request.text);
    return kExitOk;
  }
};

int run(int argc, const char* const* argv) {
  try {
    return std::visit(Runner(), parse_command_line(argc, argv));
  } catch (const Error& error) {
    print_error(fmt::format("{}\n", error.what()));
    return kExitBadInput;
  } catch (const Failure& error) {
    print_error(fmt::format("moesim: {}\n", visible(error.what())));
    return kExitFailed;
  } catch (const std::exception& error) {
    print_error(fmt::format("moesim: internal error: {}\n", error.what()));
    return kExitFailed;
  }
}

}  // namespace
}  // namespace moesim

int main(int argc, char** argv) {
  moesim::occupy_closed_streams();
  return moesim::run(argc, argv);
}
