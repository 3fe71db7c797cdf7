#include "sim/cli/validate/all_sections.h"

#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "sim/cli/inputs.h"
#include "sim/cli/validate/in_workers.h"
#include "sim/cli/validate/sections.h"

namespace moesim::validation {
namespace {

std::vector<Inputs> load_all(std::initializer_list<const char*> scenarios) {
  std::vector<Inputs> inputs;
  for (const char* scenario : scenarios) {
    inputs.push_back(load_inputs(fmt::format("scenarios/{}.txtpb", scenario)));
  }
  return inputs;
}

// Models on the testbeds' boards instead of their ports, first testbed A's.
std::vector<Inputs> on_boards(std::initializer_list<const char*> models) {
  std::vector<Inputs> inputs;
  for (const char* model : models) {
    for (const auto& [testbed, board] : {std::pair{"a", "a6000"}, std::pair{"b", "2080ti"}}) {
      inputs.push_back(load_inputs(fmt::format("scenarios/{}_testbed_{}.txtpb", model, testbed),
                                   {.cluster = fmt::format("topologies/pcie_{}.txtpb", board)}));
    }
  }
  return inputs;
}

// As tests/gpu/pack.sh takes them: two nodes of half the ranks each, or two ranks with a process
// each.
GpuCheckScenarios gpu_check_scenarios(const std::vector<Inputs>& timed) {
  return {
      .timed = timed,
      .compared = {load_scenario_inputs("scenarios/crosscheck.txtpb", {"cluster.gpus_per_node=2"}),
                   load_scenario_inputs("scenarios/crosscheck.txtpb", {"cluster.gpus_per_node=4"})},
      .in_processes = {load_inputs("scenarios/crosscheck_raw.txtpb",
                                   {.profile = "calibration/profiles/logical_gpu.txtpb"})}};
}

std::string names_of(const std::vector<Inputs>& inputs) {
  if (inputs.empty()) {
    return "none";
  }
  std::string names;
  for (const Inputs& input : inputs) {
    names += names.empty() ? "" : ", ";
    names += fmt::format("`{}` ({})", input.scenario.path, input.hash);
  }
  return names;
}

}  // namespace

const std::vector<std::string>& section_names() {
  static const std::vector<std::string> names = {"recurrence",
                                                 "closed_forms",
                                                 "table2",
                                                 "grid",
                                                 "boards",
                                                 "parm",
                                                 "sp_moe",
                                                 "stages",
                                                 "equality",
                                                 "crosscheck",
                                                 "gpu",
                                                 "links",
                                                 "resolutions",
                                                 "determinism"};
  return names;
}

std::vector<Section> all_sections(int num_workers, const std::string& gpu_check) {
  const std::vector<Inputs> testbeds = load_all({"mixtral_testbed_a", "mixtral_testbed_b"});
  const std::vector<Inputs> table2 =
      load_all({"gpt2xl_testbed_a", "mixtral_testbed_a", "gpt2xl_testbed_b", "mixtral_testbed_b"});
  using List = const std::vector<Inputs>&;
  return {{"recurrence",
           "Random Programs equal the execution model's rules",
           {},
           [](List) { return in_a_worker([] { return study_recurrence({}); }); }},
          {"closed_forms",
           "MoE regions equal the papers' formulas",
           {},
           [](List) { return in_a_worker([] { return study_closed_forms({}); }); }},
          {"table2",
           "FSMoE's Table 2",
           table2,
           [](List of) {
             return in_a_worker([&of] { return study_table2({of[0], of[1], of[2], of[3]}); });
           }},
          {"grid",
           "FSMoE's grid of 1458 layers",
           testbeds,
           [num_workers](List of) {
             return study_grid({of[0], of[1], num_workers});
           }},
          {"boards",
           "FSMoE's grid on boards that its testbeds may have had",
           on_boards({"mixtral", "gpt2xl"}),
           [num_workers](List of) {
             return study_boards({of[0], of[1], of[2], of[3], num_workers});
           }},
          {"parm",
           "Parm over its baseline",
           testbeds,
           [num_workers](List of) {
             return study_parm({of[0], of[1], num_workers});
           }},
          {"sp_moe",
           "SP-MoE against other systems",
           testbeds,
           [num_workers](List of) {
             return study_sp_moe({of[0], of[1], num_workers});
           }},
          {"stages",
           "FSMoE on two stages",
           table2,
           [num_workers](List of) {
             return study_stages({of[0], of[1], of[2], of[3], num_workers});
           }},
          {"equality",
           "Schedules compute what an unpartitioned model computes",
           {},
           [num_workers](List) { return study_equality({num_workers}); }},
          {"crosscheck", "Predicted and measured", {}, [](List) { return study_crosscheck({}); }},
          {"gpu",
           "Schedules on a GPU",
           load_all({"gpu_check_4", "gpu_check_8"}),
           [gpu_check](List of) {
             return study_gpu({.scenarios = gpu_check_scenarios(of), .file = gpu_check});
           }},
          {"links", "Collectives that were not measured", {}, [](List) { return study_links({}); }},
          {"resolutions",
           "Fold, ports and flows",
           load_all({"quickstart"}),
           [](List of) { return in_a_worker([&of] { return study_resolutions({of.front()}); }); }},
          {"determinism", "The same bytes again", load_all({"quickstart"}), [](List of) {
             return study_determinism({of.front()});
           }}};
}

Finding run(const Section& section) {
  Finding finding = section.study(section.inputs);
  finding.text = fmt::format("## {}\n\n`moesim validate {}` · inputs: {}\n\n{}",
                             section.title,
                             section.name,
                             names_of(section.inputs),
                             finding.text);
  return finding;
}

}  // namespace moesim::validation
