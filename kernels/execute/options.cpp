#include "kernels/execute/options.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/core.h>

#include "kernels/execute/gpu_options.h"
#include "kernels/execute/option_choice.h"
#include "sim/base/error.h"
#include "sim/base/ignored_options.h"
#include "sim/base/units.h"
#include "sim/base/version.h"
#include "sim/io/output_paths.h"
#include "sim/io/profile.h"

namespace moesim {
namespace {

constexpr int kMaxRuns = 100'000;
constexpr double kMaxDilation = 1e6;

constexpr const char* kDescription =
    "moesim-execute runs a Program file for real on this machine: every rank and stream is a\n"
    "thread, data are computed and moved, links and long operations are paced. With --backend\n"
    "cuda it runs on GPUs, where nothing is paced.";

constexpr const char* kDetails =
    R"(The verifier judges the Program first; one that it rejects is not run. Runs that this machine
disturbed (a task late by more than 2 % of the iteration, or the iteration delayed by more than 5 %)
are rejected and repeated. The trace is that of the run with the median iteration.

Clocks:
  free      honest: a task starts when its thread runs
  anchored  a task starts at the planned end of what it waited for: the same times in every run,
            blind to delays of this machine and therefore partly circular
  raw       nothing is paced: copies and operations fight for cores and memory for real; run no more
            ranks than the machine has cores

With --backend cuda all ranks share one GPU as logical ranks, whose collectives are copies within
its memory, or each has a GPU of its own and NCCL (--gpus each). With --results every tensor is kept
whole, which takes more memory. --gpu-facts and --gpu-probes take no PROGRAM.

With --transport mpi nothing paces collectives: they take as long as Open MPI and the network take.
With --backend cuda as well, each rank has a process and a GPU, and collectives are NCCL's.
Process 0 prints and writes the files. When a process dies or the ranks hang, all end.

Examples:
  moesim program scenarios/quickstart.txtpb --schedule fsmoe --out program.json
  moesim-execute program.json --cluster cluster.txtpb --dilation 16 --repeat 10
  moesim-execute program.json --data integer --rounding exact --results results.txt
  mpirun -np 4 moesim-execute program.json --transport mpi --trace trace.json
  moesim-execute program.json --backend cuda --storage bf16 --repeat 10 --trace trace.json
  srun -n 16 --mpi=pmix moesim-execute program.json --backend cuda --transport mpi --repeat 10
  moesim-execute --gpu-probes probes.json --budget 120

Exit codes: 0 right answer, 1 the run failed (a hang, too many disturbed runs, no GPU), 2 bad usage
or input, 77 --compare-attention without a cuDNN that fuses it
)";

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    column_width(28);
    label("Positionals", "Arguments");
  }

  std::string make_usage(const CLI::App*, std::string) const override {
    return "\nUsage: moesim-execute PROGRAM [OPTIONS]\n";
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_option_text().empty() ? "" : " " + option->get_option_text();
  }
};

void add_machine(CLI::App& app, RunOptions& options) {
  add_choice<TransportKind>(app,
                            "--transport",
                            options.transport,
                            {{"threads", TransportKind::kThreads}, {"mpi", TransportKind::kMpi}},
                            "mpi: the ranks are dealt out to the processes that\n"
                            "mpirun started. Default: threads");
  app.add_option("--cluster",
                 options.cluster,
                 "The fabric that paces collectives.\n"
                 "Default: none, they take as long as copying")
      ->option_text("FILE");
  add_choice<HostClock>(
      app,
      "--clock",
      options.host.clock,
      {{"free", HostClock::kFree}, {"anchored", HostClock::kAnchored}, {"raw", HostClock::kRaw}},
      "What a start counts as, see below. Default: free");
  app.add_option("--dilation",
                 options.host.dilation,
                 "Operations last K times their CPU time.\n"
                 "Default: as long as they take")
      ->option_text("K")
      ->check(CLI::Range(0.0, kMaxDilation));
  app.add_option("--hardware-queues", options.host.hardware_queues, "Of each GPU. Default: 32")
      ->option_text("N")
      ->check(CLI::Range(1, kMaxHardwareQueues));
  app.add_option_function<std::string>(
         "--launch-overhead",
         [&options](const std::string& text) { options.host.launch_overhead = parse_time(text); },
         "What a launch takes: \"5 us\". Default: 0")
      ->option_text("TIME");
}

void add_data(CLI::App& app, RunOptions& options) {
  add_choice<Rounding>(app,
                       "--rounding",
                       options.host.rounding,
                       {{"exact", Rounding::kExact}, {"none", Rounding::kOff}},
                       "exact: operations round what they read to 1/8,\n"
                       "so that sums do not depend on their order.\n"
                       "Default: none");
  add_choice<InputData>(app,
                        "--data",
                        options.repeat.data,
                        {{"integer", InputData::kInteger}, {"real", InputData::kReal}},
                        "What input tensors hold. Default: real");
}

void add_runs(CLI::App& app, RunOptions& options) {
  app.add_option("--repeat", options.repeat.rule.least, "Accepted runs. Default: 1")
      ->option_text("N")
      ->check(CLI::Range(1, kMaxRuns));
  app.add_option("--max-repeat",
                 options.repeat.rule.most,
                 "More than --repeat: goes on until the median is\n"
                 "known to --spread, or for M runs.\n"
                 "Default: no more than --repeat")
      ->option_text("M")
      ->check(CLI::Range(1, kMaxRuns));
  app.add_option("--spread",
                 options.repeat.rule.spread,
                 "Half the width of the median's 95 % confidence\n"
                 "interval, as a share of it. Default: 0.01")
      ->option_text("SHARE")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--warmup",
                 options.repeat.num_warmups,
                 "Runs before those, which do not count. Default: 0")
      ->option_text("N")
      ->check(CLI::Range(0, kMaxRuns));
  app.add_option("--max-rejected", options.repeat.max_rejected, "Then it gives up. Default: 30")
      ->option_text("N")
      ->check(CLI::Range(0, kMaxRuns));
  app.add_option("--trace", options.trace, "Writes the trace as JSON")->option_text("FILE");
  app.add_option("--traces", options.traces, "Writes the trace of every run: DIR/0.json, ...")
      ->option_text("DIR")
      ->check(CLI::ExistingDirectory);
  app.add_option("--record",
                 options.record,
                 "Writes the spans of all accepted runs, and a hash of\n"
                 "the Program: what the GPU check is put together from")
      ->option_text("FILE");
  app.add_option("--results",
                 options.results,
                 "Writes a line for each rank's buffers: a hash of\n"
                 "what it holds after the last run")
      ->option_text("FILE");
}

// What one option alone does not show; a number may still be NaN.
void check(const CLI::App& app, const RunOptions& options) {
  if (!std::isfinite(options.host.dilation) || !std::isfinite(options.repeat.rule.spread)) {
    throw Error("--dilation and --spread take numbers; see moesim-execute --help");
  }
  if (app.count("--max-repeat") > 0 && options.repeat.rule.most < options.repeat.rule.least) {
    throw Error(fmt::format("--max-repeat {} is less than --repeat {}; give more, or leave it out",
                            options.repeat.rule.most,
                            options.repeat.rule.least));
  }
  refuse_ignored(
      {{{"--spread"},
        options.repeat.rule.most <= options.repeat.rule.least && app.count("--max-repeat") == 0,
        "says how soon runs may end, and there are to be exactly so many",
        "give a larger --max-repeat as well, or leave it out"}},
      [&app](const std::string& name) { return app.count(name) > 0; });
  check_gpu(app, options);
  check_outputs({options.trace,
                 options.results,
                 options.record,
                 options.gpu_probes,
                 options.compare_attention},
                {options.program, options.cluster});
}

}  // namespace

std::variant<RunOptions, RunText> parse_run_options(int argc, const char* const* argv) {
  RunOptions options;
  CLI::App app(kDescription, "moesim-execute");
  app.formatter(std::make_shared<HelpFormatter>());
  app.footer(kDetails);
  app.set_help_flag("-h,--help", "Prints this help");
  app.set_version_flag(
      "--version", fmt::format("moesim-execute {}", version()), "Prints the version");
  app.add_option("PROGRAM", options.program, "Program file (.txtpb or .json)");
  add_machine(app, options);
  add_data(app, options);
  add_runs(app, options);
  add_gpu(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return RunText{app.help()};
  } catch (const CLI::CallForVersion& version) {
    return RunText{fmt::format("{}\n", version.what())};
  } catch (const CLI::ParseError& error) {
    throw Error(fmt::format("{}; see moesim-execute --help", error.what()));
  }
  if (options.program.empty() && !options.gpu_facts && options.gpu_probes.empty()) {
    throw Error("no PROGRAM given; see moesim-execute --help");
  }
  check(app, options);
  options.repeat.rule.most = std::max(options.repeat.rule.least, options.repeat.rule.most);
  return options;
}

}  // namespace moesim
