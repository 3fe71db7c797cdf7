#include "kernels/execute/steps.h"

#include <cstddef>
#include <cstdio>
#include <optional>
#include <stdexcept>

#include <fmt/core.h>

#include "kernels/host/machine_memory.h"
#include "kernels/tensor_store.h"
#include "sim/base/error.h"
#include "sim/base/hash.h"
#include "sim/base/message.h"
#include "sim/base/units.h"
#include "sim/io/cluster.h"
#include "sim/io/files.h"
#include "sim/io/gpu_check.h"
#include "sim/io/trace.h"
#include "sim/program/verifier.h"

namespace moesim {
namespace {

void check_program(const Program& program, const RunOptions& options) {
  const Verdict verdict = verify(program, {.hardware_queues = options.host.hardware_queues});
  if (verdict.ok()) {
    return;
  }
  std::string problems;
  for (const Problem& problem : verdict.problems) {
    problems += "\n  " + to_string(problem);
  }
  throw Error(options.program,
              fmt::format("the verifier rejects the program; mend it first{}", problems));
}

std::string to_text(const RepeatedRuns& runs) {
  std::string text = fmt::format("iteration  median {}, p25 {}, of {} runs\n",
                                 format_time(runs.iteration().median),
                                 format_time(runs.iteration().p25),
                                 runs.accepted.size());
  if (const std::optional<double> spread = runs.spread()) {
    text += fmt::format(
        "spread     {:.1f} % of the median ({})\n", 100 * *spread, to_string(runs.stopped));
  }
  text += fmt::format("lateness   {}\n", format_time(runs.lateness()));
  text += fmt::format("delay      {}\n", format_time(runs.delay()));
  text += fmt::format("rejected   {}\n", runs.num_rejected);
  for (const std::string& assumption : runs.accepted.front().trace.assumptions) {
    text += fmt::format("- {}\n", visible_in_line(assumption));
  }
  return text;
}

void print_out(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
    throw std::runtime_error("cannot write to standard output");
  }
}

std::string record_of(const RunOptions& options, const Program& program, const RepeatedRuns& runs) {
  MeasuredProgram measured{program.name, content_hash(read_file(options.program)), 0, {}};
  measured.num_ranks = program.num_ranks;
  for (const Execution& run : runs.accepted) {
    measured.runs.push_back({run.trace.end, run.trace.spans});
  }
  return measured_program_to_json(measured);
}

}  // namespace

Program load_verified(const RunOptions& options) {
  Program program = load_program(options.program);
  check_program(program, options);
  return program;
}

void check_memory(const Program& program, int num_ranks, const std::string& path) {
  const int64_t memory = available_memory();
  const int64_t needed = TensorStore::size(program, num_ranks);
  if (needed > memory) {
    throw Error(path,
                fmt::format("its tensors need {}, this machine has {} left; execute a smaller one",
                            format_bytes(needed),
                            format_bytes(memory)));
  }
}

HostOptions host_options(const RunOptions& options) {
  HostOptions host = options.host;
  if (!options.cluster.empty()) {
    host.cluster = load_cluster(options.cluster);
    if (host.cluster->wiring) {
      throw Error(options.cluster,
                  "describes links; moesim-execute paces ports: give intra_node and inter_node");
    }
  }
  return host;
}

bool are_enough(const RunOptions& options, const RepeatedRuns& runs) {
  return static_cast<int>(runs.accepted.size()) >= options.repeat.rule.least;
}

void report(const RunOptions& options, const Program& program, const ExecutedRuns& executed) {
  const RepeatedRuns& runs = executed.runs;
  if (!are_enough(options, runs)) {
    fmt::print(stderr,
               "{} of {} runs were disturbed, {} are left; try an idler machine or longer tasks\n",
               runs.num_rejected,
               runs.num_rejected + runs.accepted.size(),
               runs.accepted.size());
    return;
  }
  print_out(to_text(runs) + to_text(executed.kernels));
  if (!options.trace.empty()) {
    write_file_atomically(options.trace, trace_to_json(runs.typical().trace, program));
  }
  for (size_t run = 0; !options.traces.empty() && run < runs.accepted.size(); ++run) {
    write_file_atomically(fmt::format("{}/{}.json", options.traces, run),
                          trace_to_json(runs.accepted[run].trace, program));
  }
  if (!options.results.empty()) {
    write_file_atomically(options.results, executed.results);
  }
  if (!options.record.empty()) {
    write_file_atomically(options.record, record_of(options, program, runs));
  }
}

}  // namespace moesim
