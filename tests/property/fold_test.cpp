// Random Programs with collectives on a cluster of 2 x 4 GPUs, symmetric and not: one
// representative per class gives exactly the times of every rank on its own, and the numbers of
// ranks and nodes mean nothing. A failure prints its seed.
#include <map>

#include <gtest/gtest.h>

#include "sim/cluster/groups.h"
#include "sim/engine/simulate.h"
#include "tests/property/random_engine_program.h"

namespace moesim {
namespace {

constexpr int kNumPrograms = 300;
constexpr int kNumRanks = 8;
constexpr int kLastOperation = static_cast<int>(CollectiveOperation::kBroadcast);

// What makes ranks differ.
enum class Asymmetry { kNone, kScalePerNode, kScalePerRank, kShifts, kIrregularGroup };
constexpr Asymmetry kAsymmetries[] = {Asymmetry::kNone,
                                      Asymmetry::kScalePerNode,
                                      Asymmetry::kScalePerRank,
                                      Asymmetry::kShifts,
                                      Asymmetry::kIrregularGroup};

Program make_program(Random& random, Asymmetry asymmetry) {
  ProgramMaker maker(kNumRanks);
  Program& program = maker.program();
  program.groups = make_groups({.mp = 4, .dp = 2, .esp = 2, .ep = 4, .edp = 1});
  if (asymmetry == Asymmetry::kIrregularGroup) {
    maker.group("irregular", pick_members(random, kNumRanks, kNumRanks));
  }
  for (int i = 0; i < kNumRanks; ++i) {
    if (asymmetry == Asymmetry::kScalePerNode) {
      program.rank_scale.push_back(i < 4 ? 1 : 1.3);
    } else if (asymmetry == Asymmetry::kScalePerRank) {
      program.rank_scale.push_back(random.uniform(0.5, 1.5));
    }
  }
  const int last_operation =
      static_cast<int>(asymmetry == Asymmetry::kShifts ? CollectiveOperation::kShift
                                                       : CollectiveOperation::kAllToAll);
  for (int i = pick(random, 5, 60); i > 0; --i) {
    const int num_tasks = static_cast<int>(program.tasks.size());
    std::vector<int> waits = pick_waits(random, num_tasks, 1);
    if (random.uniform() < 0.4) {
      maker.fixed("compute", pick(random, 0, 2000), std::move(waits));
    } else {
      maker.collective(
          pick_stream(random, 4),
          {.operation = static_cast<CollectiveOperation>(pick(random, 0, last_operation)),
           .group = pick(random, 0, static_cast<int>(program.groups.size()) - 1),
           .bytes = pick(random, 0, 3) * 500,
           .distance = pick(random, -2, 3),
           .wrap = random.uniform() < 0.7},
          std::move(waits));
    }
  }
  return program;
}

Profile make_profile(Random& random) {
  Profile profile;
  profile.hardware_queues = pick(random, 1, 3);
  profile.launch_overhead_seconds = pick(random, 0, 1) * 7e-12;
  for (int operation = 0; operation <= kLastOperation; ++operation) {
    for (const Span span : {Span::kNode, Span::kFabric}) {
      if (random.uniform() < 0.8) {
        CollectiveCost cost = make_cost(static_cast<CollectiveOperation>(operation),
                                        span,
                                        pick(random, 0, 50),
                                        random.uniform(0.1, 2));
        cost.weight = random.uniform() < 0.5 ? 1 : random.uniform(0.2, 4);
        profile.collectives.push_back(cost);
      }
    }
  }
  return profile;
}

using SpanKey = std::pair<int, int>;  // rank, task

std::map<SpanKey, TaskSpan> by_rank_and_task(const Trace& trace) {
  std::map<SpanKey, TaskSpan> spans;
  for (const TaskSpan& span : trace.spans) {
    spans[{span.rank, span.task}] = span;
  }
  return spans;
}

void expect_same_times(const TaskSpan& a, const TaskSpan& b) {
  EXPECT_EQ(a.launched, b.launched);
  EXPECT_EQ(a.start, b.start);
  EXPECT_EQ(a.transfer, b.transfer);
  EXPECT_EQ(a.end, b.end);
}

Trace run(const Program& program, const Profile& profile, Resolution resolution) {
  const Cluster cluster = make_cluster(2, 4);
  SimulationOptions options;
  options.resolution = resolution;
  return simulate(program, &cluster, &profile, options);
}

class FoldPropertyTest : public testing::TestWithParam<Asymmetry> {};

TEST_P(FoldPropertyTest, RepresentativesHaveTheTimesOfTheirClass) {
  for (int seed = 0; seed < kNumPrograms; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Program program = make_program(random, GetParam());
    const Profile profile = make_profile(random);
    const Trace fold = run(program, profile, Resolution::kFold);
    const Trace ports = run(program, profile, Resolution::kPorts);
    if (GetParam() == Asymmetry::kNone) {
      EXPECT_EQ(fold.classes.size(), 1U);
    }
    EXPECT_EQ(fold.end, ports.end);
    EXPECT_EQ(fold.pass_end, ports.pass_end);
    EXPECT_EQ(fold.assumptions, ports.assumptions);
    EXPECT_EQ(ports.spans.size(), program.tasks.size() * kNumRanks);
    const auto all_spans = by_rank_and_task(ports);
    const auto representative_spans = by_rank_and_task(fold);
    for (const RankClass& rank_class : fold.classes) {
      for (const int rank : rank_class.ranks) {
        for (int task = 0; task < static_cast<int>(program.tasks.size()); ++task) {
          expect_same_times(representative_spans.at({rank_class.representative, task}),
                            all_spans.at({rank, task}));
        }
      }
    }
    ASSERT_FALSE(HasFailure());
  }
}

// Swaps the nodes and turns the GPUs of each by one.
int relabelled(int rank) {
  return (1 - rank / 4) * 4 + (rank + 1) % 4;
}

Program relabel(Program program) {
  for (Group& group : program.groups) {
    for (std::vector<int>& members : group.members) {
      for (int& rank : members) {
        rank = relabelled(rank);
      }
    }
  }
  const std::vector<double> scale = program.rank_scale;
  for (std::size_t rank = 0; rank < scale.size(); ++rank) {
    program.rank_scale[relabelled(static_cast<int>(rank))] = scale[rank];
  }
  return program;
}

TEST_P(FoldPropertyTest, RelabellingRanksChangesNothing) {
  for (int seed = 0; seed < kNumPrograms; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Program program = make_program(random, GetParam());
    const Profile profile = make_profile(random);
    const Trace before = run(program, profile, Resolution::kPorts);
    const Trace after = run(relabel(program), profile, Resolution::kPorts);
    EXPECT_EQ(before.end, after.end);
    EXPECT_EQ(run(program, profile, Resolution::kFold).classes.size(),
              run(relabel(program), profile, Resolution::kFold).classes.size());
    const auto spans_after = by_rank_and_task(after);
    for (const TaskSpan& span : before.spans) {
      expect_same_times(span, spans_after.at({relabelled(span.rank), span.task}));
    }
    ASSERT_FALSE(HasFailure());
  }
}

INSTANTIATE_TEST_SUITE_P(Asymmetries, FoldPropertyTest, testing::ValuesIn(kAsymmetries));

TEST(RepeatPropertyTest, SameTraceAfterAHundredOtherSimulations) {
  Random random(1);
  const Program program = make_program(random, Asymmetry::kScalePerRank);
  const Profile profile = make_profile(random);
  const Trace first = run(program, profile, Resolution::kPorts);
  for (int seed = 0; seed < 100; ++seed) {
    Random other(1000 + seed);
    const Program other_program = make_program(other, Asymmetry::kScalePerRank);
    run(other_program, make_profile(other), Resolution::kFold);
  }
  const Trace again = run(program, profile, Resolution::kPorts);
  ASSERT_EQ(first.spans.size(), again.spans.size());
  for (std::size_t i = 0; i < first.spans.size(); ++i) {
    EXPECT_EQ(first.spans[i].rank, again.spans[i].rank);
    EXPECT_EQ(first.spans[i].task, again.spans[i].task);
    expect_same_times(first.spans[i], again.spans[i]);
  }
  EXPECT_EQ(first.assumptions, again.assumptions);
}

}  // namespace
}  // namespace moesim
