// Every algorithm on random clusters, with groups of equal and of unequal numbers on their nodes,
// of balanced and of routed tokens: folded ranks take the times of separate ones, a collective
// alone takes what it is said to take, and FASTEST is no slower than any. A failure prints its
// seed.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/random.h"
#include "sim/cluster/wired_cluster.h"
#include "sim/engine/simulate.h"
#include "tests/unit/engine/program_maker.h"

namespace moesim {
namespace {

constexpr std::uint64_t kSeed = 20261201;

Cluster random_cluster(Random& random, int nodes, int gpus) {
  const auto pick = [&](std::vector<std::string> texts) {
    return texts[static_cast<size_t>(random.uniform_int(0, std::ssize(texts) - 1))];
  };
  if (random.uniform() < 0.3) {
    Cluster cluster = make_cluster(nodes, gpus);
    cluster.inter_node.bytes_per_second = 0.25e12;
    cluster.inter_node.latency_seconds = 1e-9;
    return cluster;
  }
  return wired(parse_cluster(
      "num_nodes: " + std::to_string(nodes) + " gpus_per_node: " + std::to_string(gpus) +
          " gpu_memory: '1 GiB' nodes { node { pcie_rate: '" + pick({"20 GB/s", "80 GB/s"}) +
          "' memory_rate: '200 GB/s' nvlink { rate: '300 GB/s' switches: 3 latency: '1 us' } "
          "gpus_per_pcie_switch: 1 nics: " +
          pick({"1", std::to_string(gpus)}) + " nic_rate: '25 GB/s' } } fabric { " +
          pick({"single_switch {}",
                "fat_tree { down: [2, 8] }",
                "fat_tree { down: [2, 8] rails: true }"}) +
          " link_latency: '1 us' } transfers { pxn: " + pick({"true", "false"}) + " }",
      "c.txtpb"));
}

// Of all ranks, or of some of them: then numbers on nodes differ.
int random_group(Random& random, ProgramMaker& maker, int num_ranks) {
  std::vector<int> members;
  const bool is_whole = random.uniform() < 0.5;
  for (int rank = 0; rank < num_ranks; ++rank) {
    if (is_whole || random.uniform() < 0.7 || rank < 2) {
      members.push_back(rank);
    }
  }
  return maker.group("g" + std::to_string(maker.program().groups.size()), {members});
}

Collective random_collective(Random& random, CollectiveOperation operation, Program& program) {
  Collective collective{.operation = operation, .bytes = random.uniform_int(1, 64) * 65'536};
  if (operation == CollectiveOperation::kShift) {
    collective.distance = 1;
    collective.wrap = true;
  }
  if (operation == CollectiveOperation::kBroadcast) {
    collective.root = 1;
  }
  if (operation == CollectiveOperation::kAllToAll) {
    collective.num_experts = 2 * program.num_ranks;
    collective.top_k = static_cast<int>(random.uniform_int(1, 4));
    collective.combine = random.uniform() < 0.5;
    if (random.uniform() < 0.5) {
      Routing routing{.name = "r", .tokens = {}};
      for (int rank = 0; rank < program.num_ranks; ++rank) {
        std::vector<int>& counts = routing.tokens.emplace_back();
        for (int expert = 0; expert < collective.num_experts; ++expert) {
          counts.push_back(static_cast<int>(random.uniform_int(0, 9)));
        }
      }
      program.routings = {routing};
      collective.routing = 0;
    }
  }
  return collective;
}

CollectiveCost startup(CollectiveOperation operation, Span span) {
  CollectiveCost cost = make_cost(operation, span, 2e6, 0);
  cost.startup_per = StartupPer::kStep;
  cost.only_startup = true;
  cost.peer_bytes_per_second = 15e9;
  return cost;
}

TEST(AlgorithmPropertyTest, FoldedAndSeparateRanksAgree) {
  constexpr int kTrials = 400;
  for (int trial = 0; trial < kTrials; ++trial) {
    Random random(kSeed, static_cast<std::uint64_t>(trial));
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", trial " + std::to_string(trial));
    const auto nodes = static_cast<int>(random.uniform_int(1, 4));
    const auto gpus = static_cast<int>(random.uniform_int(2, 4));
    const Cluster cluster = random_cluster(random, nodes, gpus);
    ProgramMaker maker(cluster.num_gpus());
    const auto operation = static_cast<CollectiveOperation>(random.uniform_int(0, 5));
    Collective collective = random_collective(random, operation, maker.program());
    collective.group = random_group(random, maker, cluster.num_gpus());
    const int first = maker.collective("a", collective);
    if (random.uniform() < 0.5) {
      maker.collective("b", collective, {first});
      maker.collective("c", collective, {first});
    }
    for (const Algorithm algorithm : algorithms_of(operation)) {
      SCOPED_TRACE(std::string(to_string(operation)) + " " + to_string(algorithm));
      Profile profile;
      profile.algorithms = {{.operation = operation, .span = {}, .algorithm = algorithm}};
      if (random.uniform() < 0.5) {
        profile.collectives = {startup(operation, Span::kNode), startup(operation, Span::kFabric)};
      }
      const Trace fold = simulate(maker.program(), &cluster, &profile, {});
      const Trace ports =
          simulate(maker.program(), &cluster, &profile, {.resolution = Resolution::kPorts});
      EXPECT_EQ(fold.end, ports.end);
      if (maker.program().tasks.size() == 1) {
        EXPECT_EQ(task_durations(maker.program(), &cluster, &profile)[0], ports.end);
      }
      EXPECT_GT(ports.end, Time::zero());
    }
  }
}

TEST(AlgorithmPropertyTest, FastestIsNoSlower) {
  constexpr int kTrials = 100;
  for (int trial = 0; trial < kTrials; ++trial) {
    Random random(kSeed + 1, static_cast<std::uint64_t>(trial));
    SCOPED_TRACE("seed " + std::to_string(kSeed + 1) + ", trial " + std::to_string(trial));
    const auto nodes = static_cast<int>(random.uniform_int(1, 4));
    const auto gpus = static_cast<int>(random.uniform_int(2, 4));
    const Cluster cluster = random_cluster(random, nodes, gpus);
    ProgramMaker maker(cluster.num_gpus());
    const auto operation = static_cast<CollectiveOperation>(random.uniform_int(0, 5));
    Collective collective = random_collective(random, operation, maker.program());
    collective.routing = kNone;
    collective.group = random_group(random, maker, cluster.num_gpus());
    maker.collective("a", collective);
    Profile profile;
    profile.collectives = {startup(operation, Span::kNode), startup(operation, Span::kFabric)};
    const auto end = [&](Algorithm algorithm) {
      profile.algorithms = {{.operation = operation, .span = {}, .algorithm = algorithm}};
      return simulate(maker.program(), &cluster, &profile, {}).end;
    };
    Time least = Time::max();
    for (const Algorithm algorithm : algorithms_of(operation)) {
      least = std::min(least, end(algorithm));
    }
    EXPECT_EQ(end(Algorithm::kFastest), least) << to_string(operation);
  }
}

}  // namespace
}  // namespace moesim
