#include "sim/cli/command_line.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/base/message.h"
#include "sim/base/version.h"
#include "sim/cli/command_options.h"
#include "sim/cli/help.h"
#include "sim/cli/option_values.h"
#include "sim/cli/usage.h"
#include "sim/io/suggestion.h"
#include "sim/schedule/schedule.h"

namespace moesim {
namespace {

constexpr int kMaxWorkers = 1024;
constexpr int kMaxExtent = 1 << 15;  // nodes, or GPUs on one: their product fits
constexpr int kMaxNode = 1 << 20;

// Prints the synopsis as the documentation has it, and of an option its name and value alone.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string_view synopsis) : synopsis_(synopsis) {
    column_width(28);
    label("Positionals", "Arguments");
  }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    const CLI::App* parent = app->get_parent();
    const std::string full = parent == nullptr ? app->get_name() : "moesim " + app->get_name();
    return fmt::format("\nUsage: {} {}\n", name.empty() ? full : name, synopsis_);
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_option_text().empty() ? "" : " " + option->get_option_text();
  }

 private:
  std::string synopsis_;
};

// All subcommands and where their options go. Not copied: CLI11 keeps pointers to the members.
class CommandLine {
 public:
  CommandLine();
  ~CommandLine() = default;
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;
  CommandLine(CommandLine&&) = delete;
  CommandLine& operator=(CommandLine&&) = delete;

  Command parse(int argc, const char* const* argv);

 private:
  CLI::App* add(const CommandHelp& help, Command (*chosen)(const CommandLine&));
  void add_simulate();
  void add_execute();
  void add_calibrate();
  void add_predict_collective();
  void add_crosscheck();
  void add_compare();
  void add_sweep();
  void add_verify();
  void add_program();
  void add_check();
  void add_validate();
  void add_topology();
  [[noreturn]] void explain(const CLI::ParseError& error, int argc, const char* const* argv) const;

  CLI::App app_{
      "moesim predicts how long one training iteration of a Mixture-of-Experts "
      "transformer\ntakes on a GPU cluster under a given schedule, and shows why.",
      "moesim"};
  // By subcommand: what the command line says of it.
  std::map<const CLI::App*, Command (*)(const CommandLine&)> chosen_;
  SimulateOptions simulate_;
  ExecuteOptions execute_;
  CalibrateOptions calibrate_;
  PredictCollectiveOptions predict_collective_;
  CrosscheckOptions crosscheck_;
  CompareOptions compare_;
  SweepOptions sweep_;
  VerifyOptions verify_;
  ProgramOptions program_;
  CheckOptions check_;
  ValidateOptions validate_;
  TopologyOptions topology_;
};

CommandLine::CommandLine() {
  app_.formatter(std::make_shared<HelpFormatter>("COMMAND [OPTIONS]"));
  app_.footer(fmt::format("{}\n{}", help::kProgramFooter, help::kExitCodes));
  app_.set_help_flag("-h,--help", "Prints this help");
  app_.set_version_flag("--version", fmt::format("moesim {}", version()), "Prints the version");
  app_.require_subcommand(1);
  add_simulate();
  add_compare();
  add_sweep();
  add_verify();
  add_program();
  add_check();
  add_validate();
  add_topology();
  add_execute();
  add_calibrate();
  add_predict_collective();
  add_crosscheck();
}

CLI::App* CommandLine::add(const CommandHelp& help, Command (*chosen)(const CommandLine&)) {
  CLI::App* app = app_.add_subcommand(std::string(help.name), std::string(help.description));
  app->group("Commands");
  app->formatter(std::make_shared<HelpFormatter>(help.synopsis));
  app->footer(fmt::format("{}\n{}", help.details, help::kExitCodes));
  chosen_[app] = chosen;
  return app;
}

void CommandLine::add_simulate() {
  CLI::App* app =
      add(help::kSimulate, [](const CommandLine& line) -> Command { return line.simulate_; });
  add_subject(app, simulate_);
  add_resolution(app, simulate_.resolution);
  app->add_flag("--unverified",
                simulate_.unverified,
                "Simulates also what the verifier rejects, but for out_of_bounds");
  app->add_flag("--ablate", simulate_.ablate, "Turns effects off one at a time, degrees kept");
  add_bottleneck_range(app, simulate_.bottleneck_range);
  add_outputs(app, simulate_.outputs);
  app->add_option_function<std::string>(
         "--link-load",
         [this](const std::string& text) { simulate_.outputs.link_load = parse_link_load(text); },
         "How busy each link is: a picture, or a table, by the\n"
         "ending. Of clusters that are described link by link")
      ->option_text("FILE.svg|.csv|.json");
}

void CommandLine::add_execute() {
  CLI::App* app =
      add(help::kExecute, [](const CommandLine& line) -> Command { return line.execute_; });
  add_subject(app, execute_);
  add_backend(app, execute_.backend);
  add_execution(app, execute_);
  add_outputs(app, execute_.outputs);
}

void CommandLine::add_calibrate() {
  CLI::App* app =
      add(help::kCalibrate, [](const CommandLine& line) -> Command { return line.calibrate_; });
  add_scenario(app, calibrate_.input);
  add_backend(app, calibrate_.backend);
  app->add_option_function<std::vector<std::string>>(
         "--nccl-tests",
         [this](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             calibrate_.nccl_logs.push_back(parse_nccl_log_option(text));
           }
         },
         "Logs of nccl-tests instead of a scenario, several\n"
         "or again. COLLECTIVE=FILE says what a log does not:\n"
         "all_gather=a.log")
      ->option_text("FILE...");
  app->add_option_function<std::string>(
         "--layout",
         [this](const std::string& text) { calibrate_.layout = parse_layout(text); },
         "Nodes and GPUs on each, of logs that list no\n"
         "ranks: 10x4")
      ->option_text("NxG");
  add_probes(app, calibrate_);
  add_text(app, "--out", calibrate_.out, "FILE", "The profile. Default: standard output");
}

void CommandLine::add_predict_collective() {
  CLI::App* app = add(help::kPredictCollective,
                      [](const CommandLine& line) -> Command { return line.predict_collective_; });
  PredictCollectiveOptions& options = predict_collective_;
  add_text(app, "--profile", options.profile, "FILE", "Profile file: what was measured");
  add_text(app, "--cluster", options.cluster, "FILE", "Cluster file: how many nodes and GPUs");
  app->add_option_function<std::string>(
         "--operation",
         [&options](const std::string& text) { options.operation = parse_operation(text); },
         "ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL,\n"
         "SHIFT or BROADCAST, or its name in nccl-tests")
      ->option_text("NAME");
  app->add_option("--algorithm",
                  options.algorithm,
                  "Over the links or ports of --cluster instead:\n"
                  "TREE, HIERARCHICAL, FASTEST, ... (docs/inputs.md)")
      ->option_text("NAME");
  app->add_option("--nodes", options.nodes, "Default: those of --against, else the cluster's")
      ->option_text("N")
      ->check(CLI::Range(1, kMaxExtent));
  app->add_option("--gpus", options.gpus, "On each node. Default: likewise")
      ->option_text("G")
      ->check(CLI::Range(1, kMaxExtent));
  app->add_option_function<std::string>(
         "--sizes",
         [&options](const std::string& text) { options.sizes = parse_sizes(text); },
         "A range that doubles, or sizes between commas.\n"
         "Default: those of --against, else 64KiB..1GiB")
      ->option_text("A..B");
  add_text(app,
           "--against",
           options.against,
           "LOG",
           "A log of nccl-tests: adds what was measured and\n"
           "the error");
}

void CommandLine::add_crosscheck() {
  CLI::App* app =
      add(help::kCrosscheck, [](const CommandLine& line) -> Command { return line.crosscheck_; });
  add_scenario(app, crosscheck_.input);
  add_lineup(app, crosscheck_.schedules, crosscheck_.baseline);
  add_plan(app, crosscheck_.plan);
  add_backend(app, crosscheck_.backend);
  app->add_option_function<std::string>(
         "--max-error",
         [this](const std::string& text) {
           crosscheck_.max_error = parse_share("--max-error", text);
         },
         "Exit code 3 when a schedule is predicted worse\n"
         "than this: 5%")
      ->option_text("E");
  add_json(app, crosscheck_.json);
  add_text(app, "--svg", crosscheck_.svg, "FILE", "Draws predicted and measured timelines");
}

void CommandLine::add_compare() {
  CLI::App* app =
      add(help::kCompare, [](const CommandLine& line) -> Command { return line.compare_; });
  add_scenario(app, compare_.input);
  add_lineup(app, compare_.schedules, compare_.baseline);
  add_plan(app, compare_.plan);
  add_resolution(app, compare_.resolution);
  add_bottleneck_range(app, compare_.bottleneck_range);
  add_json(app, compare_.json);
}

void CommandLine::add_sweep() {
  CLI::App* app = add(help::kSweep, [](const CommandLine& line) -> Command { return line.sweep_; });
  app->add_option("FILE", sweep_.sweep, "Sweep file (.txtpb or .json)");
  app->add_option("--workers", sweep_.workers, "Worker processes; default: one per core")
      ->option_text("N")
      ->check(CLI::Range(1, kMaxWorkers));
  add_text(app,
           "--out",
           sweep_.out,
           "CSV",
           "Where the table goes. Default: the sweep file's\n"
           "name with .csv, in the working folder");
}

void CommandLine::add_verify() {
  CLI::App* app =
      add(help::kVerify, [](const CommandLine& line) -> Command { return line.verify_; });
  add_subject(app, verify_);
  add_json(app, verify_.json);
}

void CommandLine::add_program() {
  CLI::App* app =
      add(help::kProgram, [](const CommandLine& line) -> Command { return line.program_; });
  add_scenario(app, program_.input);
  add_schedule(app, program_.schedule);
  add_plan(app, program_.plan);
  add_text(app,
           "--out",
           program_.out,
           "FILE",
           "JSON or text, by the ending .json or .txtpb.\n"
           "Default: JSON on standard output");
}

void CommandLine::add_check() {
  CLI::App* app = add(help::kCheck, [](const CommandLine& line) -> Command { return line.check_; });
  app->add_option("PATHS",
                  check_.paths,
                  "Expectation files, or folders of them.\n"
                  "Default: scenarios/expected");
  app->add_flag("--update", check_.update, "Rewrites the files with what is predicted now");
  add_text(app, "--junit", check_.junit, "FILE", "Writes the outcome as JUnit XML");
}

void CommandLine::add_validate() {
  CLI::App* app =
      add(help::kValidate, [](const CommandLine& line) -> Command { return line.validate_; });
  app->add_option("SECTION",
                  validate_.section,
                  "One section only: recurrence, closed_forms,\n"
                  "table2, grid, boards, parm, sp_moe, stages,\n"
                  "equality, crosscheck, gpu, links, resolutions,\n"
                  "determinism");
  app->add_option("FILE", validate_.file, "Of gpu: what tests/gpu/run.sh wrote");
  add_text(app,
           "--out",
           validate_.out,
           "FILE",
           "Default: docs/validation.md; of a section,\nstandard output");
}

void CommandLine::add_topology() {
  CLI::App* app =
      add(help::kTopology, [](const CommandLine& line) -> Command { return line.topology_; });
  app->add_option_function<std::string>(
         "ACTION",
         [this](const std::string& text) { topology_.action = parse_topology_action(text); },
         "What to do")
      ->option_text("show|check|export");
  app->add_option("CLUSTER", topology_.cluster, "Cluster file (.txtpb or .json)");
  app->add_option("--set",
                  topology_.overrides,
                  "Overrides a field, as often as needed:\n"
                  "cluster.num_nodes=4")
      ->option_text("PATH=VALUE")
      ->allow_extra_args(false);
  app->add_option_function<std::string>(
         "--route",
         [this](const std::string& text) { topology_.route = parse_route(text); },
         "show: the route between these ranks alone")
      ->option_text("A,B");
  add_text(app,
           "--profile",
           topology_.profile,
           "FILE",
           "check: warns where its computing is another GPU's");
  add_json(app, topology_.json);
  app->add_option_function<std::string>(
         "--format",
         [this](const std::string& text) { topology_.format = parse_graph_format(text); },
         "export: Graphviz or a picture. Default: by the\n"
         "ending of --out (.dot, .gv, .svg), without it dot")
      ->option_text("dot|svg");
  add_text(app, "--out", topology_.out, "FILE", "export: where to. Default: standard output");
  app->add_option("--node", topology_.node, "export: the node that is drawn with its parts: 0")
      ->option_text("N")
      ->check(CLI::Range(0, kMaxNode));
}

void CommandLine::explain(const CLI::ParseError& error, int argc, const char* const* argv) const {
  const auto chosen = app_.get_subcommands();
  if (!chosen.empty()) {
    throw Error(fmt::format(
        "{}; see moesim {} --help", visible_in_line(error.what()), chosen.front()->get_name()));
  }
  const std::string word = argc > 1 ? argv[1] : "";
  if (word.empty() || word.starts_with("-")) {
    throw Error(fmt::format("{}; see moesim --help", visible_in_line(error.what())));
  }
  std::vector<std::string> names;
  for (const CLI::App* command : app_.get_subcommands({})) {
    names.push_back(command->get_name());
  }
  throw Error(fmt::format("there is no command {}; {}", in_quotes(word), suggestion(word, names)));
}

Command CommandLine::parse(int argc, const char* const* argv) {
  try {
    app_.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return TextRequest{app_.help()};
  } catch (const CLI::CallForVersion& version) {
    return TextRequest{fmt::format("{}\n", version.what())};
  } catch (const CLI::ParseError& error) {
    explain(error, argc, argv);
  }
  const CLI::App* chosen = app_.get_subcommands().front();
  execute_.backend.given = given_options(*chosen);
  calibrate_.backend.given = crosscheck_.backend.given = execute_.backend.given;
  return chosen_.at(chosen)(*this);
}

}  // namespace

Command parse_command_line(int argc, const char* const* argv) {
  Command command = CommandLine().parse(argc, argv);
  check_usage(command);
  return command;
}

}  // namespace moesim
