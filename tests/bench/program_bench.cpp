// Building and verifying FSMoE programs. A layer of degree r has 8 + 10 r tasks.
#include <benchmark/benchmark.h>

#include "sim/program/builder.h"
#include "sim/program/valid_rows.h"
#include "sim/program/verifier.h"
#include "tests/unit/program/example_programs.h"

namespace moesim {
namespace {

using testing::ExampleSizes;
using testing::fsmoe_program;

ExampleSizes deep(int layers) {
  ExampleSizes sizes;
  sizes.layers = layers;
  sizes.rows_per_expert = 64;
  sizes.forward_degree = 4;
  sizes.backward_degree = 4;
  return sizes;
}

void report_size(benchmark::State& state, const Program& program) {
  std::size_t num_regions = 0;
  for (const Task& task : program.tasks) {
    num_regions += task.reads.size() + task.writes.size();
  }
  state.counters["tasks"] = static_cast<double>(program.tasks.size());
  state.counters["regions"] = static_cast<double>(num_regions);
}

void build_program(benchmark::State& state) {
  const ExampleSizes sizes = deep(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(fsmoe_program(sizes));
  }
  report_size(state, fsmoe_program(sizes));
}
BENCHMARK(build_program)->Arg(4)->Arg(32)->Arg(64)->Unit(benchmark::kMillisecond);

// Without names and regions: what the derivation of waits and bytes alone takes.
void derive_waits(benchmark::State& state) {
  const Program program = fsmoe_program(deep(static_cast<int>(state.range(0))));
  for (auto _ : state) {
    state.PauseTiming();
    std::vector<Task> tasks = program.tasks;
    ProgramBuilder builder(program.name, program.num_ranks);
    for (const Group& group : program.groups) {
      builder.add_group(group);
    }
    for (const Tensor& tensor : program.tensors) {
      builder.add_tensor(tensor);
    }
    for (const std::string& stream : program.streams) {
      builder.stream(stream);
    }
    for (Task& task : tasks) {
      task.waits.clear();
    }
    state.ResumeTiming();
    for (Task& task : tasks) {
      builder.add_task(std::move(task));
    }
  }
  report_size(state, program);
}
BENCHMARK(derive_waits)->Arg(4)->Arg(32)->Arg(64)->Unit(benchmark::kMillisecond);

void verify_program(benchmark::State& state) {
  const Program program = fsmoe_program(deep(static_cast<int>(state.range(0))));
  for (auto _ : state) {
    benchmark::DoNotOptimize(verify(program));
  }
  report_size(state, program);
}
BENCHMARK(verify_program)->Arg(4)->Arg(32)->Arg(1365)->Unit(benchmark::kMillisecond);

void follow_valid_rows(benchmark::State& state) {
  ExampleSizes sizes = deep(static_cast<int>(state.range(0)));
  sizes.routing = {{64, 0}, {48, 16}, {32, 32}, {16, 48}};
  const Program program = fsmoe_program(sizes);
  for (auto _ : state) {
    benchmark::DoNotOptimize(ValidRows(program));
  }
  report_size(state, program);
}
BENCHMARK(follow_valid_rows)->Arg(32)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace moesim
