#pragma once

#include <set>
#include <string>
#include <vector>

#include "sim/cli/options.h"

namespace CLI {
class App;
}  // namespace CLI

// Options that several subcommands have, each said once.
namespace moesim {

void add_text(CLI::App* app,
              const std::string& name,
              std::string& value,
              const std::string& placeholder,
              const std::string& description);
void add_scenario(CLI::App* app, ScenarioOptions& options);
void add_schedule(CLI::App* app, std::string& schedule);
void add_plan(CLI::App* app, PlanOptions& plan);
// The scenario or the Program, and how it is planned.
void add_subject(CLI::App* app, SubjectOptions& options);
void add_resolution(CLI::App* app, Resolution& resolution);
void add_bottleneck_range(CLI::App* app, bool& asked);
void add_json(CLI::App* app, bool& json);
void add_outputs(CLI::App* app, IterationOutputs& outputs);
void add_lineup(CLI::App* app, std::vector<std::string>& schedules, std::string& baseline);
void add_backend(CLI::App* app, BackendOptions& backend);
void add_execution(CLI::App* app, ExecuteOptions& execute);
// What becomes of calibrate's probes beside a profile.
void add_probes(CLI::App* app, CalibrateOptions& calibrate);

// What the command line names of a subcommand, also defaults: "--backend".
std::set<std::string> given_options(const CLI::App& app);

}  // namespace moesim
