#include <array>

#include <fmt/format.h>

#include "sim/cli/validate/axis.h"
#include "sim/cli/validate/in_workers.h"
#include "sim/cli/validate/layer_time.h"
#include "sim/cli/validate/range.h"
#include "sim/cli/validate/sections.h"
#include "sim/cli/validate/study_layer.h"
#include "sim/schedule/task_kinds.h"

namespace moesim::validation {
namespace {

// A machine of the grid, and a configuration on it.
struct Machine {
  const char* name;
  Inputs inputs;
};

struct ParmPoint : StudyLayer {
  int machine = 0;
  int shards = 0;  // N_MP = N_ESP
  int top_k = 0;
};

// One node of testbed A is the 8-GPU server, testbed B the 32-GPU cluster.
std::vector<Machine> make_machines(const ParmStudy& study) {
  std::vector<Machine> machines{{"8-GPU server", study.testbed_a},
                                {"32-GPU cluster", study.testbed_b}};
  machines.front().inputs.cluster.num_nodes = 1;
  return machines;
}

constexpr std::array<std::optional<double>, 3> kFactors{1.2, 2.4, std::nullopt};
constexpr std::array kTopK{1, 2};
constexpr std::array kShards{2, 4};
constexpr std::array kHiddenRatios{2, 4};
constexpr std::array kEmbeddings{1024, 2048, 4096};
constexpr std::array kSequences{512, 1024, 2048};
constexpr std::array kBatches{1, 2, 4};
constexpr std::array kMachines{0, 1};

std::vector<ParmPoint> make_points() {
  return grid_points<ParmPoint>([](ParmPoint& point, int& number) {
    point.capacity_factor = take(number, kFactors);
    point.top_k = take(number, kTopK);
    point.shards = take(number, kShards);
    point.hidden_ratio = take(number, kHiddenRatios);
    point.embedding = take(number, kEmbeddings);
    point.sequence = take(number, kSequences);
    point.batch = take(number, kBatches);
    point.machine = take(number, kMachines);
  });
}

Scenario scenario_at(const ParmPoint& point, const Inputs& inputs) {
  Scenario scenario = inputs.scenario;
  const int experts = inputs.cluster.num_gpus() / point.shards;
  scenario.parallel = {.mp = point.shards, .dp = experts, .esp = point.shards, .ep = experts};
  set_layer(point, experts, scenario);
  scenario.model.top_k = point.top_k;
  return scenario;
}

// Speed-ups over the baseline: of a whole layer, forward and backward, and of its MoE part forward.
struct ParmTimes {
  double layer_s1 = 0;
  double layer_s2 = 0;
  double moe_s1 = 0;
  double moe_s2 = 0;
};

ParmTimes simulate_point(const ParmPoint& point, const Inputs& inputs) {
  const Scenario scenario = scenario_at(point, inputs);
  const auto speedup = [&](const char* schedule, const Evaluator& evaluator) {
    return ratio(searched_layer_time("parm_baseline", scenario, evaluator),
                 searched_layer_time(schedule, scenario, evaluator));
  };
  const Evaluator whole = fixed_kinds_evaluator(inputs.cluster, inputs.profile, {});
  const Evaluator moe = forward_only(
      fixed_kinds_evaluator(inputs.cluster,
                            inputs.profile,
                            {{task_kind::kAttention, {}, {}}, {task_kind::kMpAllReduce, {}, {}}}));
  return {speedup("parm_s1", whole),
          speedup("parm_s2", whole),
          speedup("parm_s1", moe),
          speedup("parm_s2", moe)};
}

std::vector<std::string> row(const std::string& name, const char* part, const Range& range) {
  return {name,
          part,
          fmt::format("{}", range.count()),
          fmt::format("{:.2f}", range.least()),
          fmt::format("{:.2f}", range.mean()),
          fmt::format("{:.2f}", range.largest())};
}

}  // namespace

Finding study_parm(const ParmStudy& study) {
  const std::vector<Machine> machines = make_machines(study);
  const std::vector<ParmPoint> points = make_points();
  const WorkerRun run{"layers", static_cast<int>(points.size()), study.num_workers};
  const auto times = records_in_workers<ParmTimes>(run, [&](int index) {
    const ParmPoint& point = points[static_cast<std::size_t>(index)];
    return simulate_point(point, machines[static_cast<std::size_t>(point.machine)].inputs);
  });

  SectionWriter writer;
  writer.say(fmt::format(
      "Parm (`parm`, the better of S1 and S2) over `parm_baseline`, published 1.13 to 5.77 on 1296 "
      "layers of an 8-GPU server and a 32-GPU cluster. The published grid is not available, nor "
      "are "
      "the task lists; the grid here is assumed: {} layers = {{one node of testbed A, testbed B}} "
      "x "
      "B {{1, 2, 4}} x L {{512, 1024, 2048}} x M {{1024, 2048, 4096}} x H/M {{2, 4}} x N_MP = "
      "N_ESP "
      "{{2, 4}} x k {{1, 2}} x f {{1.2, 2.4, no drop}}, E = N_EP, simple feed-forward layers. "
      "A whole layer is forward and backward with attention; the MoE part is forward only, from "
      "the "
      "replicated input to the replicated output. Collectives without a fitted figure take the "
      "port's rate.",
      points.size()));
  Table table({"Machine", "part", "layers", "least", "mean", "largest"});
  int num_s1 = 0;
  for (std::size_t machine = 0; machine < machines.size(); ++machine) {
    Range layer;
    Range moe;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (points[i].machine == static_cast<int>(machine)) {
        layer.add(std::max(times[i].layer_s1, times[i].layer_s2));
        moe.add(std::max(times[i].moe_s1, times[i].moe_s2));
        num_s1 += times[i].layer_s1 >= times[i].layer_s2 ? 1 : 0;
      }
    }
    table.add(row(machines[machine].name, "whole layer", layer));
    table.add(row(machines[machine].name, "MoE part", moe));
  }
  writer.add(table);
  writer.say(
      fmt::format("S1 is chosen for {} whole layers, S2 for {}. Standing: *rests on "
                  "assumptions*, held to no bar.",
                  num_s1,
                  points.size() - static_cast<std::size_t>(num_s1)));
  return std::move(writer).finish();
}

}  // namespace moesim::validation
