// FSMoE's grids on both testbeds, 1458 layers each, under five schedules with policy search, on all
// cores. Target (docs/performance.md): under 120 s on two cores. Runs in the repository root.
#include <algorithm>
#include <thread>

#include <benchmark/benchmark.h>

#include "sim/cli/validate/grid_point_times.h"
#include "sim/cli/validate/in_workers.h"

namespace moesim {
namespace {

using validation::fsmoe_grid;
using validation::GridPoint;
using validation::kGridRuns;
using validation::kLayersPerPoint;
using validation::WorkerRun;

constexpr int kNumSchedules = 5;  // the first runs: tutel … fsmoe, 32 queues, search

struct Layer {
  GridPoint point;
  const Inputs* testbed;
};

// Each point as often as the grid has it, one layer for each number of heads.
std::vector<Layer> all_layers(const Inputs& testbed_a, const Inputs& testbed_b) {
  std::vector<Layer> layers;
  for (int heads = 0; heads < kLayersPerPoint; ++heads) {
    for (const GridPoint& point : fsmoe_grid({512, 1024, 2048})) {
      layers.push_back({point, &testbed_a});
    }
    for (const GridPoint& point : fsmoe_grid({256, 512, 1024})) {
      layers.push_back({point, &testbed_b});
    }
  }
  return layers;
}

void both_grids_five_schedules(benchmark::State& state) {
  const Inputs testbed_a = load_inputs("scenarios/mixtral_testbed_a.txtpb");
  const Inputs testbed_b = load_inputs("scenarios/mixtral_testbed_b.txtpb");
  const std::vector<Layer> layers = all_layers(testbed_a, testbed_b);
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  const WorkerRun run{"layers", static_cast<int>(layers.size()), std::max(cores, 1)};
  for (auto _ : state) {
    const auto seconds = validation::records_in_workers<double>(run, [&layers](int index) {
      const Layer& layer = layers[static_cast<std::size_t>(index)];
      double sum = 0;
      for (int schedule = 0; schedule < kNumSchedules; ++schedule) {
        sum += validation::layer_seconds(
            kGridRuns[static_cast<std::size_t>(schedule)], layer.point, *layer.testbed);
      }
      return sum;
    });
    benchmark::DoNotOptimize(seconds.data());
  }
  state.counters["workers"] = run.num_workers;
  state.counters["layers"] = run.count;
}
BENCHMARK(both_grids_five_schedules)->Iterations(1)->UseRealTime()->Unit(benchmark::kSecond);

}  // namespace
}  // namespace moesim
