// What one call of simulate() costs, classes and task costs included. Targets
// (docs/performance.md): a folded Program of 32 layers, degree 4, under 5 ms of CPU; a folded
// Program of about 200 tasks under 150 us; 1,024 skewed ranks x 500 collectives, each rank on its
// own, under 2 s.
#include <algorithm>

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "sim/engine/simulate.h"
#include "sim/schedule/schedule.h"

namespace moesim {
namespace {

// Of the whole process, with whatever ran before in it.
std::int64_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * std::int64_t{1024};
}

CollectiveCost line(CollectiveOperation operation, Span span, int size, double alpha, double beta) {
  CollectiveCost cost;
  cost.operation = operation;
  cost.span = span;
  cost.group_size = size;
  cost.startup_seconds = alpha;
  cost.seconds_per_byte = beta;
  return cost;
}

// FSMoE's testbed B as fitted there: 8 nodes of 4 GPUs (seconds, seconds per byte and FLOP).
Profile make_profile() {
  Profile profile;
  profile.gemm = GemmCost{9.24e-5, 2 * 4.42e-14, {}};
  profile.collectives = {
      line(CollectiveOperation::kAllToAll, Span::kFabric, 8, 1.75e-4, 3.06e-10),
      line(CollectiveOperation::kAllGather, Span::kNode, 4, 3.2e-5, 1.68e-10),
      line(CollectiveOperation::kReduceScatter, Span::kNode, 4, 3.91e-5, 1.67e-10),
      line(CollectiveOperation::kAllReduce, Span::kFabric, 8, 8.37e-5, 5.99e-10)};
  return profile;
}

Cluster make_cluster(int nodes, int gpus_per_node) {
  Cluster cluster;
  cluster.num_nodes = nodes;
  cluster.gpus_per_node = gpus_per_node;
  cluster.intra_node = {100e9, 5e-6};
  cluster.inter_node = {12.5e9, 5e-6};
  return cluster;
}

// Mixtral-7B on 8 x 4 GPUs.
Scenario make_scenario(int layers) {
  Scenario scenario;
  ModelConfig& model = scenario.model;
  model.layers = layers;
  model.batch = 4;
  model.sequence = 1024;
  model.embedding = 4096;
  model.hidden = 14336;
  model.heads = 32;
  model.kv_heads = 8;
  model.experts = 8;
  model.top_k = 2;
  model.capacity_factor = 1.0;
  model.feed_forward = FeedForward::kSwiglu;
  scenario.parallel = {.mp = 4, .dp = 8, .esp = 4, .ep = 8, .edp = 1};
  return scenario;
}

Program make_folded_program(const std::string& schedule, int layers, int degree) {
  const Cluster cluster = make_cluster(8, 4);
  const Profile profile = make_profile();
  Evaluator evaluator;
  evaluator.durations = [&](const Program& program) {
    return task_durations(program, &cluster, &profile);
  };
  return build_schedule(
      schedule, make_scenario(layers), Degrees::uniform(layers, degree, degree), evaluator);
}

void run_folded(benchmark::State& state, const Program& program) {
  const Cluster cluster = make_cluster(8, 4);
  const Profile profile = make_profile();
  SimulationOptions options;
  options.keep_spans = state.range(0) != 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(simulate(program, &cluster, &profile, options).end);
  }
  state.counters["tasks"] = static_cast<double>(program.tasks.size());
}

void folded_fsmoe_32_layers(benchmark::State& state) {
  run_folded(state, make_folded_program("fsmoe", 32, 4));
}
BENCHMARK(folded_fsmoe_32_layers)->ArgName("spans")->Arg(1)->Arg(0)->Unit(benchmark::kMicrosecond);

void folded_parm_s2_4_layers(benchmark::State& state) {
  run_folded(state, make_folded_program("parm_s2", 4, 1));
}
BENCHMARK(folded_parm_s2_4_layers)->ArgName("spans")->Arg(1)->Unit(benchmark::kMicrosecond);

void folded_fsmoe_2_layers(benchmark::State& state) {
  run_folded(state, make_folded_program("fsmoe", 2, 4));
}
BENCHMARK(folded_fsmoe_2_layers)->ArgName("spans")->Arg(1)->Arg(0)->Unit(benchmark::kMicrosecond);

void durations_fsmoe_2_layers(benchmark::State& state) {
  const Program program = make_folded_program("fsmoe", 2, 4);
  const Cluster cluster = make_cluster(8, 4);
  const Profile profile = make_profile();
  for (auto _ : state) {
    benchmark::DoNotOptimize(task_durations(program, &cluster, &profile).data());
  }
}
BENCHMARK(durations_fsmoe_2_layers)->Unit(benchmark::kMicrosecond);

// 1,024 experts on as many GPUs (128 x 8) without capacity, popularity by Zipf's law: every rank
// sends, receives and computes another amount. Five collectives a layer.
Program make_skewed_program(int layers) {
  Scenario scenario = make_scenario(layers);
  scenario.model.experts = 1024;
  scenario.model.capacity_factor.reset();
  scenario.parallel = {.mp = 1, .dp = 1024, .esp = 1, .ep = 1024, .edp = 1};
  scenario.routing.kind = RoutingKind::kZipf;
  scenario.routing.zipf_exponent = 0.5;
  return build_schedule("deepspeed_moe", scenario, Degrees::uniform(layers, 1, 1), Evaluator());
}

void skewed_1024_ranks_500_collectives(benchmark::State& state) {
  const Program program = make_skewed_program(100);
  const Cluster cluster = make_cluster(128, 8);
  const Profile profile = make_profile();
  SimulationOptions options;
  options.resolution = Resolution::kPorts;
  for (auto _ : state) {
    benchmark::DoNotOptimize(simulate(program, &cluster, &profile, options).end);
  }
  state.counters["tasks"] = static_cast<double>(program.tasks.size());
  state.counters["collectives"] = static_cast<double>(
      std::count_if(program.tasks.begin(), program.tasks.end(), [&](const Task& task) {
        const auto* collective = std::get_if<Collective>(&task.descriptor);
        return collective != nullptr &&
               program.groups[collective->group].members.front().size() > 1;
      }));
  state.counters["peak_MB"] = static_cast<double>(peak_resident_bytes()) / 1e6;
}
BENCHMARK(skewed_1024_ranks_500_collectives)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace moesim
