#include "sim/cli/usage.h"

#include <string>
#include <string_view>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/base/message.h"
#include "sim/cli/backend_usage.h"

namespace moesim {
namespace {

void check_source(const std::string& scenario, const std::string& program) {
  if (scenario.empty() == program.empty()) {
    throw Error(scenario.empty() ? "neither a scenario nor a Program is given; name a scenario "
                                   "file or give --program FILE"
                                 : "both a scenario and --program are given; leave one out");
  }
}

void check_file(const std::string& path, std::string_view what) {
  if (path.empty()) {
    throw Error(fmt::format("no {0} is given; name a {0} file", what));
  }
}

void refuse_with_program(bool given, std::string_view option) {
  if (given) {
    throw Error(
        fmt::format("{} says how a Program is built from a scenario; leave it out with "
                    "--program",
                    option));
  }
}

void check_subject(const SubjectOptions& options) {
  check_source(options.input.scenario, options.program);
  if (!options.program.empty()) {
    refuse_with_program(!options.schedule.empty(), "--schedule");
    refuse_with_program(options.plan.degree.has_value(), "--degree");
    refuse_with_program(options.plan.policy.has_value(), "--policy");
  }
}

void check_outputs(const IterationOutputs& outputs) {
  if (outputs.spans && !outputs.json) {
    throw Error("--spans adds to the JSON; give --json as well");
  }
  if (outputs.layers.last >= 0 && outputs.svg.empty()) {
    throw Error("--layers chooses what the picture shows; give --svg FILE as well");
  }
}

void check(const SimulateOptions& options) {
  check_subject(options);
  check_outputs(options.outputs);
}

void check(const ExecuteOptions& options) {
  check_subject(options);
  check_backend(options);
  check_outputs(options.outputs);
}

void check_overrides_of_logs(const ScenarioOptions& input) {
  for (const std::string& text : input.overrides) {
    if (text.starts_with("profile.") ? input.profile.empty() : !text.starts_with("cluster.")) {
      throw Error(fmt::format(
          "--set {} has no effect on logs; override fields of the cluster (cluster.…), or of a "
          "profile (profile.…) that --profile FILE names",
          visible_in_line(text)));
    }
  }
}

void check_logs(const CalibrateOptions& options) {
  if (!options.input.scenario.empty()) {
    throw Error("both a scenario and --nccl-tests are given: probes or logs; leave one out");
  }
  if (options.input.cluster.empty()) {
    throw Error("the logs do not say what cluster they ran on; give --cluster FILE");
  }
  if (!options.input.algorithms.empty()) {
    throw Error(fmt::format(
        "--algorithm {} chooses among collectives of a profile, which logs make; leave it out here",
        visible_in_line(options.input.algorithms[0])));
  }
  check_overrides_of_logs(options.input);
}

void check(const CalibrateOptions& options) {
  check_backend(options);
  if (!options.nccl_logs.empty()) {
    check_logs(options);
    return;
  }
  if (options.layout) {
    throw Error("--layout says how the ranks of a log sat; give --nccl-tests FILE as well");
  }
  check_file(options.input.scenario, "scenario");
  if (!options.input.profile.empty() && !options.backend.modelled) {
    throw Error(
        "--profile names measured costs, which calibrate makes; leave it out, or take the "
        "operations' costs from it with --modelled");
  }
}

void check(const PredictCollectiveOptions& options) {
  if (options.profile.empty()) {
    throw Error("no profile is given; give --profile FILE, which moesim calibrate writes");
  }
  if (!options.operation) {
    throw Error("no operation is given; give --operation ALL_TO_ALL or another one");
  }
  if (options.cluster.empty() && (options.nodes == 0 || options.gpus == 0) &&
      options.against.empty()) {
    throw Error("how many ranks is not given; give --nodes N --gpus G, or --cluster FILE");
  }
}

void check(const CrosscheckOptions& options) {
  check_file(options.input.scenario, "scenario");
  check_backend(options.backend);
}

void check(const CompareOptions& options) {
  check_file(options.input.scenario, "scenario");
}

void check(const SweepOptions& options) {
  check_file(options.sweep, "sweep");
}

void check(const VerifyOptions& options) {
  check_subject(options);
}

void check(const ProgramOptions& options) {
  check_file(options.input.scenario, "scenario");
}

void check(const CheckOptions& options) {
  if (options.update && !options.junit.empty()) {
    throw Error("--junit tells what a check found; leave it out with --update");
  }
}

void check(const ValidateOptions& options) {
  if (!options.file.empty() && options.section != "gpu") {
    throw Error(fmt::format("the section {} reads no file; only gpu does: moesim validate gpu FILE",
                            visible_in_line(options.section)));
  }
}

// The ending says what is written, unless --format does.
void check_export(const TopologyOptions& options) {
  const std::string& out = options.out;
  const bool is_known =
      out.empty() || out.ends_with(".svg") || out.ends_with(".dot") || out.ends_with(".gv");
  if (!is_known && !options.format) {
    throw Error(fmt::format(
        "--out '{}' is not understood; give a file that ends in .svg (a picture), .dot or .gv "
        "(Graphviz), or say which by --format",
        visible_in_line(out)));
  }
}

void check(const TopologyOptions& options) {
  if (!options.action) {
    throw Error("no action is given; write moesim topology show, check or export, then a cluster");
  }
  check_file(options.cluster, "cluster");
  for (const std::string& override_text : options.overrides) {
    if (!override_text.starts_with("cluster.")) {
      throw Error(fmt::format("--set {} is of no cluster; write cluster.FIELD=VALUE",
                              visible_in_line(override_text)));
    }
  }
  const bool is_show = options.action == TopologyAction::kShow;
  if (!is_show && (options.json || options.route)) {
    throw Error(
        fmt::format("{} is an option of show; leave it out", options.json ? "--json" : "--route"));
  }
  if (options.action != TopologyAction::kCheck && !options.profile.empty()) {
    throw Error("--profile is an option of check; leave it out");
  }
  const bool is_export = options.action == TopologyAction::kExport;
  if (!is_export && (options.format || !options.out.empty() || options.node)) {
    throw Error(fmt::format("{} is an option of export; leave it out",
                            options.format         ? "--format"
                            : !options.out.empty() ? "--out"
                                                   : "--node"));
  }
  check_export(options);
}

void check(const TextRequest& /*request*/) {}

}  // namespace

void check_usage(const Command& command) {
  std::visit([](const auto& options) { check(options); }, command);
}

}  // namespace moesim
