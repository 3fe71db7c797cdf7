#include "sim/cli/command_options.h"

#include <CLI/App.hpp>
#include <fmt/core.h>

#include "sim/cli/option_values.h"
#include "sim/schedule/schedule.h"

namespace moesim {
namespace {

// The names of all schedules, a few to a line.
std::string schedule_list() {
  constexpr std::size_t kWidth = 50;
  std::string text;
  std::size_t width = 0;
  for (const std::string& name : schedule_names()) {
    const bool fits = width + name.size() + 2 <= kWidth;
    text += text.empty() ? "" : fits ? ", " : ",\n";
    width = fits ? width + name.size() + 2 : name.size();
    text += name;
  }
  return text;
}

void add_gpu(CLI::App* app, GpuRanks& gpu) {
  app->add_option_function<std::string>(
         "--gpus",
         [&gpu](const std::string& text) { gpu.one_gpu_each = parse_gpus(text); },
         "Of cuda. one: all ranks share a GPU; each: rank r\n"
         "has GPU r, and NCCL. Default: one")
      ->option_text("one|each");
  app->add_option_function<std::string>(
         "--storage",
         [&gpu](const std::string& text) { gpu.cuda.storage = parse_storage(text); },
         "Of cuda. fp32: floating tensors are FP32, as on the\n"
         "CPU; bf16: what the model's dtype says. Default: bf16")
      ->option_text("fp32|bf16");
  app->add_option_function<std::string>(
         "--attention",
         [&gpu](const std::string& text) { gpu.fuses_attention = parse_attention(text); },
         "Of cuda. fused: by cuDNN where tensors are BF16 and it\n"
         "has a kernel. Default: products and softmax rows")
      ->option_text("products|fused");
  app->add_option("--gemm-sms", gpu.cuda.gemm_sms, "Of cuda: SMs that cuBLASLt counts on")
      ->option_text("N")
      ->check(CLI::Range(1, kMaxSms));
  app->add_option_function<int>(
         "--ctas",
         [&gpu](int ctas) { gpu.least_ctas = gpu.most_ctas = ctas; },
         "Of --gpus each: CTAs of NCCL's communicators")
      ->option_text("N")
      ->check(CLI::Range(1, kMaxCtas));
  app->add_flag("--nccl-alltoall",
                gpu.nccl_all_to_all,
                "Of --gpus each: AlltoAll of equal parts by ncclAlltoAll\n"
                "(NCCL 2.28). Default: by grouped sends");
  app->add_flag("--graph", gpu.cuda.uses_graph, "Of cuda: an iteration is one CUDA graph");
}

void add_runs(CLI::App* app, BackendOptions& backend) {
  constexpr int kMaxRuns = 100'000;
  app->add_option("--runs",
                  backend.num_runs,
                  "Accepted runs of a Program, after one that does\n"
                  "not count: exactly N. Default: 10, and more until\n"
                  "the median is known to --spread")
      ->option_text("N")
      ->check(CLI::Range(1, kMaxRuns));
  app->add_option("--max-runs",
                  backend.max_runs,
                  "The most accepted runs; --runs then says the least.\n"
                  "Default: 30, with --runs N as many as that")
      ->option_text("N")
      ->check(CLI::Range(1, kMaxRuns));
  app->add_option_function<std::string>(
         "--spread",
         [&backend](const std::string& text) { backend.spread = parse_share("--spread", text); },
         "How well the median iteration is to be known: half\n"
         "its 95 % confidence interval. Default: 1%")
      ->option_text("E");
}

}  // namespace

std::set<std::string> given_options(const CLI::App& app) {
  std::set<std::string> given;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0) {
      given.insert(option->get_name());
    }
  }
  return given;
}

void add_text(CLI::App* app,
              const std::string& name,
              std::string& value,
              const std::string& placeholder,
              const std::string& description) {
  // An empty value would read as an option that was not given: a shell variable that is not set.
  const auto not_empty = [placeholder](const std::string& text) {
    return text.empty() ? fmt::format("it is empty; give {} or leave it out", placeholder) : "";
  };
  app->add_option(name, value, description)->option_text(placeholder)->check(not_empty);
}

void add_scenario(CLI::App* app, ScenarioOptions& options) {
  app->add_option("SCENARIO", options.scenario, "Scenario file (.txtpb or .json)");
  add_text(app, "--cluster", options.cluster, "FILE", "Cluster file instead of the scenario's");
  add_text(app, "--profile", options.profile, "FILE", "Profile file instead of the scenario's");
  app->add_option("--set",
                  options.overrides,
                  "Overrides a field, as often as needed:\n"
                  "model.sequence=2048, cluster.num_nodes=4,\n"
                  "profile.hardware_queues=1")
      ->option_text("PATH=VALUE")
      ->allow_extra_args(false);
  app->add_option("--algorithm",
                  options.algorithms,
                  "Algorithm of a collective, as often as needed:\n"
                  "ALL_TO_ALL=HIERARCHICAL, ALL_REDUCE=FASTEST.\n"
                  "docs/inputs.md lists them. Default: what the\n"
                  "profile says, else DIRECT and RING")
      ->option_text("OPERATION=NAME")
      ->allow_extra_args(false);
}

void add_schedule(CLI::App* app, std::string& schedule) {
  add_text(app,
           "--schedule",
           schedule,
           "NAME",
           "Default: the first that the scenario lists. One of\n" + schedule_list());
}

void add_plan(CLI::App* app, PlanOptions& plan) {
  app->add_option_function<std::string>(
         "--degree",
         [&plan](const std::string& text) { plan.degree = parse_degree(text); },
         "Number of chunks of both passes, or of each (RF,RB:\n"
         "fsmoe, fsmoe_no_iio); auto: chosen by the policy.\n"
         "sp_moe: R is its MoE degree, the non-MoE one is\n"
         "--set degrees.non_moe=R. deepspeed_moe and parm*\n"
         "have no chunks and ignore it.\n"
         "Default: what the scenario says, else auto")
      ->option_text("auto|R|RF,RB");
  app->add_option_function<std::string>(
         "--policy",
         [&plan](const std::string& text) { plan.policy = parse_policy(text); },
         fmt::format("How auto chooses: search simulates degrees 1..{}\n"
                     "and takes the best that fits; paper follows the\n"
                     "authors' closed forms (tutel, tutel_improved,\n"
                     "pipemoe, lina, fsmoe, fsmoe_no_iio, parm) and\n"
                     "searches for the others. Default: search",
                     kMaxDegree))
      ->option_text("search|paper");
}

void add_subject(CLI::App* app, SubjectOptions& options) {
  add_scenario(app, options.input);
  add_text(app, "--program", options.program, "FILE", "Program file instead of a scenario");
  add_schedule(app, options.schedule);
  add_plan(app, options.plan);
}

void add_resolution(CLI::App* app, Resolution& resolution) {
  app->add_option_function<std::string>(
         "--resolution",
         [&resolution](const std::string& text) { resolution = parse_resolution(text); },
         "fold: one rank of each class of identical ranks;\n"
         "ports: every rank; flows: every message, all sharing links\n"
         "at once, for up to some hundred ranks. Default: auto, fold")
      ->option_text("auto|fold|ports|flows");
}

void add_bottleneck_range(CLI::App* app, bool& asked) {
  app->add_flag("--bottleneck-range",
                asked,
                "The iteration for every place where measured times\n"
                "of collectives may be spent: PORT, PRIVATE, LINK");
}

void add_json(CLI::App* app, bool& json) {
  app->add_flag("--json", json, "Prints JSON instead of a table");
}

void add_outputs(CLI::App* app, IterationOutputs& outputs) {
  add_json(app, outputs.json);
  app->add_flag("--spans", outputs.spans, "With --json: also every task's interval");
  add_text(app, "--trace", outputs.trace, "FILE", "Writes a trace for https://ui.perfetto.dev");
  add_text(app, "--svg", outputs.svg, "FILE", "Writes a timeline as a picture");
  app->add_option_function<std::string>(
         "--layers",
         [&outputs](const std::string& text) { outputs.layers = parse_layers(text); },
         "Layers in the picture, counted from 0.\n"
         "Default: all")
      ->option_text("A..B");
}

void add_lineup(CLI::App* app, std::vector<std::string>& schedules, std::string& baseline) {
  app->add_option_function<std::vector<std::string>>(
         "--schedules",
         [&schedules](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             const std::vector<std::string> names = parse_names(text);
             schedules.insert(schedules.end(), names.begin(), names.end());
           }
         },
         "Default: the scenario's. Any of\n" + schedule_list())
      ->option_text("A,B,...")
      ->allow_extra_args(false);
  add_text(app,
           "--baseline",
           baseline,
           "NAME",
           "What speed-ups are measured against.\n"
           "Default: the scenario's, else the first schedule");
}

void add_backend(CLI::App* app, BackendOptions& backend) {
  backend.gpu.cuda.storage = Storage::kOwnType;  // what training computes with
  app->add_option("--backend", backend.name, "Where it runs. Default: cpu, this machine's cores")
      ->option_text("cpu|cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  app->add_option_function<std::string>(
         "--clock",
         [&backend](const std::string& text) { backend.clock = parse_clock(text); },
         "free: honest; anchored: planned starts, blind to\n"
         "this machine's delays; raw: nothing is paced.\n"
         "Default: free")
      ->option_text("free|anchored|raw");
  app->add_option("--dilation",
                  backend.dilation,
                  "An operation lasts K times its CPU time, so that\n"
                  "small ones stand for long ones. Default: 1")
      ->option_text("K")
      ->check(CLI::Range(1.0, 1e6));
  app->add_flag("--modelled",
                backend.modelled,
                "Operations compute, but last what the profile\n"
                "says: a check of wiring, links and sharing that\n"
                "busy cores do not disturb")
      ->excludes("--dilation");
  add_text(app,
           "--launcher",
           backend.launcher,
           "COMMAND",
           "Starts moesim-execute as MPI processes, whose links\n"
           "are real: 'mpirun -np 4 build/release/moesim-execute'.\n"
           "A shell reads it: quote paths with spaces in it");
  add_gpu(app, backend.gpu);
  add_runs(app, backend);
}

void add_execution(CLI::App* app, ExecuteOptions& execute) {
  app->add_option_function<std::string>(
         "--transport",
         [&execute](const std::string& text) { execute.in_processes = parse_transport(text); },
         "mpi: the ranks are dealt out to the processes that\n"
         "mpirun started, whose links are real and not paced.\n"
         "Default: threads of one process")
      ->option_text("threads|mpi");
  add_text(app,
           "--results",
           execute.results,
           "FILE",
           "Writes a line for each rank's buffers: a hash of\n"
           "what it holds after the last run");
  app->add_flag("--kernels",
                execute.kernels,
                "Of cuda: also times each kernel by name, alone on the\n"
                "GPU, in an iteration of its own");
}

void add_probes(CLI::App* app, CalibrateOptions& calibrate) {
  add_text(app,
           "--gpu-probes",
           calibrate.gpu_probes,
           "FILE",
           "Of --backend cuda: writes every time that the GPU's\n"
           "own probes took, as JSON");
  add_text(app,
           "--probes",
           calibrate.probes,
           "DIR",
           "Writes the Programs of the probes there instead of\n"
           "running them");
}

}  // namespace moesim
