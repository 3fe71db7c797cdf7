#include <chrono>
#include <cstdio>
#include <exception>
#include <sstream>
#include <thread>
#include <vector>

#include <fmt/core.h>

#include "kernels/execute/execute.h"
#include "kernels/execute/steps.h"
#include "kernels/mpi/collect.h"
#include "kernels/mpi/mpi_executor.h"
#include "kernels/mpi/mpi_world.h"
#include "sim/base/error.h"

namespace moesim {
namespace {

// The lines of all processes in the order that one process would write: tensor by tensor.
std::string interleave(const std::vector<std::string>& texts, int ranks_per_process) {
  std::vector<std::istringstream> streams(texts.begin(), texts.end());
  std::string all;
  while (streams.front().peek() != std::istringstream::traits_type::eof()) {
    for (std::istringstream& stream : streams) {
      std::string line;
      for (int i = 0; i < ranks_per_process && std::getline(stream, line); ++i) {
        all += line + '\n';
      }
    }
  }
  return all;
}

int run(MpiWorld& world, const RunOptions& options) {
  const Program program = load_verified(options);
  MpiExecutor executor(world, program, host_options(options));
  const int num_ranks = static_cast<int>(executor.ranks().size());
  check_memory(program, num_ranks, options.program);
  TensorStore tensors(program, executor.ranks());
  Outcome outcome{repeat(executor, options.repeat, tensors), {}};
  const std::vector<std::string> results = gather(executor.courier(), results_to_text(tensors));
  if (world.process() == 0) {
    outcome.results = interleave(results, num_ranks);
    report(options, program, outcome);
  }
  barrier(executor.courier());
  return are_enough(options, outcome.runs) ? kExitOk : kExitFailed;
}

// What all processes find wrong, process 0 says; the others leave it time to.
[[noreturn]] void end_all(const MpiWorld& world, const std::string& message, int exit_code) {
  if (world.process() == 0) {
    fmt::print(stderr, "{}\n", message);
  } else {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    fmt::print(stderr, "process {}: {}\n", world.process(), message);
  }
  MpiWorld::abort(exit_code);
}

}  // namespace

int execute_on_mpi(const RunOptions& options) {
  MpiWorld world;
  try {
    return run(world, options);
  } catch (const Error& error) {
    end_all(world, error.what(), kExitBadInput);
  } catch (const std::exception& error) {
    end_all(world, fmt::format("moesim-execute: {}", error.what()), kExitFailed);
  }
}

}  // namespace moesim
