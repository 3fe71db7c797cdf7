// Every schedule, balanced, skewed and with a straggler, on 2 x 4 GPUs: the fold gives the times of
// all ranks, nothing deadlocks whatever the hardware queues, and an iteration is never shorter than
// the work of any stream or port.
#include <array>
#include <map>

#include <gtest/gtest.h>

#include "sim/engine/simulate.h"
#include "sim/engine/task_cost.h"
#include "tests/unit/engine/program_maker.h"
#include "tests/unit/schedule/small_scenario.h"

namespace moesim {
namespace {

Profile make_profile() {
  Profile profile;
  profile.gemm = GemmCost{1e-6, 1e-12, {}};
  profile.memory_bytes_per_second = 1e11;
  profile.launch_overhead_seconds = 1e-7;
  // AlltoAll over nodes and GPUs, SHIFT and BROADCAST have no figures of their own.
  for (const auto operation : {CollectiveOperation::kAllGather,
                               CollectiveOperation::kReduceScatter,
                               CollectiveOperation::kAllReduce,
                               CollectiveOperation::kAllToAll}) {
    profile.collectives.push_back(make_cost(operation, Span::kNode, 1e6, 11));
    profile.collectives.push_back(make_cost(operation, Span::kFabric, 2e6, 97));
  }
  return profile;
}

struct Case {
  std::string schedule;
  bool skewed = false;
  bool straggler = false;
};

std::string name_of(const Case& example) {
  return example.schedule + (example.skewed ? "_skewed" : "") +
         (example.straggler ? "_straggler" : "");
}

void PrintTo(const Case& example, std::ostream* out) {
  *out << name_of(example);
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const std::string& schedule : schedule_names()) {
    cases.push_back({schedule, false});
    cases.push_back({schedule, true});
    cases.push_back({schedule, false, true});
  }
  return cases;
}

class FoldSchedulesTest : public ::testing::TestWithParam<Case> {
 protected:
  Program make_program() {
    Scenario scenario = testing::small_scenario();
    scenario.model.optimizer = OptimizerAlgorithm::kSgd;
    if (GetParam().skewed) {
      scenario.routing.kind = RoutingKind::kZipf;
      scenario.routing.zipf_exponent = 1;
      scenario.model.capacity_factor.reset();
    }
    if (GetParam().straggler) {  // GPU 1 of node 1
      scenario.variation.rank_speed = {1, 1, 1, 1, 1, 0.7, 1, 1};
    }
    Evaluator evaluator = unit_evaluator();
    evaluator.durations = [this](const Program& program) {
      return task_durations(program, &cluster_, &profile_);
    };
    return build_schedule(
        GetParam().schedule, scenario, testing::degrees(scenario, 2, 2), evaluator);
  }

  Trace run(const Program& program, Resolution resolution) {
    SimulationOptions options;
    options.resolution = resolution;
    return simulate(program, &cluster_, &profile_, options);
  }

  Cluster cluster_ = make_cluster(2, 4);
  Profile profile_ = make_profile();
};

TEST_P(FoldSchedulesTest, FoldHasTheTimesOfAllRanks) {
  const Program program = make_program();
  for (const int queues : {32, 1}) {
    profile_.hardware_queues = queues;
    const Trace fold = run(program, Resolution::kFold);
    const Trace ports = run(program, Resolution::kPorts);
    EXPECT_EQ(fold.end, ports.end);
    EXPECT_GT(fold.end, Time::zero());
    EXPECT_EQ(fold.pass_end, ports.pass_end);
    EXPECT_EQ(fold.assumptions, ports.assumptions);
    std::map<std::pair<int, int>, TaskSpan> of_representatives;
    for (const TaskSpan& span : fold.spans) {
      of_representatives[{span.rank, span.task}] = span;
    }
    std::map<int, int> representative;
    for (const RankClass& rank_class : fold.classes) {
      for (const int rank : rank_class.ranks) {
        representative[rank] = rank_class.representative;
      }
    }
    for (const TaskSpan& span : ports.spans) {
      const TaskSpan& expected = of_representatives.at({representative.at(span.rank), span.task});
      EXPECT_EQ(span.launched, expected.launched);
      EXPECT_EQ(span.start, expected.start);
      EXPECT_EQ(span.transfer, expected.transfer);
      EXPECT_EQ(span.end, expected.end);
    }
  }
}

TEST_P(FoldSchedulesTest, NoStreamOrPortIsFasterThanItsWork) {
  const Program program = make_program();
  const Trace trace = run(program, Resolution::kPorts);
  TaskCosts costs(program, &cluster_, &profile_);
  for (int rank = 0; rank < program.num_ranks; ++rank) {
    std::array<Time, kNumPorts> on_port{};
    std::vector<Time> on_stream(program.streams.size());
    for (const Task& task : program.tasks) {
      const auto* collective = std::get_if<Collective>(&task.descriptor);
      if (collective == nullptr) {
        on_stream[task.stream] += costs.duration(task, rank);
      } else if (costs.groups().instance(collective->group, rank) != kNone) {
        const CollectiveLoad load = costs.load(task, rank);
        on_stream[task.stream] += load.alone();
        for (int port = 0; port < kNumPorts; ++port) {
          on_port[port] += load.load[port];
        }
      }
    }
    for (const Time work : on_port) {
      EXPECT_LE(work, trace.end);
    }
    for (const Time work : on_stream) {
      EXPECT_LE(work, trace.end);
    }
  }
}

TEST_P(FoldSchedulesTest, WhatIsSentIsReceived) {
  // One rate everywhere: the loads of a group add up to the bytes that its members send, and that
  // they receive, on each kind of port.
  profile_.collectives.clear();
  const Program program = make_program();
  TaskCosts costs(program, &cluster_, &profile_);
  for (const Task& task : program.tasks) {
    const auto* collective = std::get_if<Collective>(&task.descriptor);
    if (collective == nullptr || collective->operation != CollectiveOperation::kAllToAll) {
      continue;
    }
    for (const std::vector<int>& members : program.groups[collective->group].members) {
      std::array<Time, kNumPorts> sum{};
      for (const int rank : members) {
        const CollectiveLoad load = costs.load(task, rank);
        for (int port = 0; port < kNumPorts; ++port) {
          sum[port] += load.load[port];
        }
      }
      EXPECT_EQ(sum[static_cast<int>(Port::kIntraOut)], sum[static_cast<int>(Port::kIntraIn)]);
      EXPECT_EQ(sum[static_cast<int>(Port::kInterOut)], sum[static_cast<int>(Port::kInterIn)]);
    }
  }
}

TEST_P(FoldSchedulesTest, NothingSharedIsNeverSlower) {
  const Program program = make_program();
  SimulationOptions options;
  options.effects.port_sharing = false;
  const Trace free = simulate(program, &cluster_, &profile_, options);
  EXPECT_LE(free.end, run(program, Resolution::kFold).end);
}

INSTANTIATE_TEST_SUITE_P(Schedules,
                         FoldSchedulesTest,
                         ::testing::ValuesIn(all_cases()),
                         [](const auto& test) { return name_of(test.param); });

}  // namespace
}  // namespace moesim
