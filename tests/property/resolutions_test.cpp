// Random Programs of collectives on random clusters in all resolutions. Where a result says that it
// is exact, flows ends with it; where not, flows ends between the lower bounds and the end that the
// result states. One collective alone is always exact, unequal or not. A failure prints its seed.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/random.h"
#include "sim/cluster/cluster_links.h"
#include "sim/cluster/wired_cluster.h"
#include "sim/engine/simulate.h"
#include "sim/engine/uncontended_work.h"
#include "tests/property/random_wiring.h"
#include "tests/unit/engine/program_maker.h"

namespace moesim {
namespace {

using enum CollectiveOperation;

constexpr double kRelative = 1e-9;    // sums of doubles beside sums of integers
constexpr double kPicoseconds = 100;  // a rounding for every beginning and end

double slack(Time end) {
  return kPicoseconds * 1e-12 + kRelative * end.seconds();
}

struct Case {
  Cluster cluster;
  Profile profile;
  ProgramMaker maker{0};
  std::string text;
};

void add_groups(int num_nodes, int gpus, ProgramMaker& maker) {
  std::vector<std::vector<int>> across(static_cast<size_t>(gpus));
  std::vector<std::vector<int>> inside(static_cast<size_t>(num_nodes));
  std::vector<int> world;
  for (int rank = 0; rank < num_nodes * gpus; ++rank) {
    world.push_back(rank);
    across[rank % gpus].push_back(rank);
    inside[rank / gpus].push_back(rank);
  }
  maker.group("world", {world});
  maker.group("across", across);
  maker.group("inside", inside);
}

// Figures for some operations, so that ports are loaded too.
Profile random_profile(Random& random) {
  Profile profile;
  for (const CollectiveOperation operation : {kAllToAll, kAllReduce, kAllGather}) {
    for (const Span span : {Span::kNode, Span::kFabric}) {
      if (random.uniform() < 0.3) {
        CollectiveCost cost =
            make_cost(operation, span, 1e6 * random.uniform(), random.uniform(100, 2000));
        cost.weight = random.uniform() < 0.7 ? 1 : random.uniform(0.5, 2);
        cost.bottleneck =
            random.uniform() < 0.7 ? BottleneckPlace::kPort : BottleneckPlace::kPrivate;
        profile.collectives.push_back(cost);
      }
    }
  }
  return profile;
}

// Every third cluster has two ports a GPU and no links.
Case random_case(Random& random) {
  Case made;
  int num_nodes = 0;
  int gpus = 0;
  const RandomWiring wiring = random_wiring(random, num_nodes, gpus);
  made.text = wiring.text;
  made.cluster = wired(parse_cluster(wiring.text, "c.txtpb"));
  if (random.uniform() < 0.33) {
    made.text = "ports";
    made.cluster = make_cluster(num_nodes, gpus);
    made.cluster.intra_node.bytes_per_second = 4e9;
    made.cluster.inter_node.bytes_per_second = 1e9;
  }
  made.profile = random_profile(random);
  made.maker = ProgramMaker(num_nodes * gpus);
  add_groups(num_nodes, gpus, made.maker);
  return made;
}

// A routing of random counts over one expert for each rank.
int random_routing(Random& random, Program& program) {
  Routing& routing = program.routings.emplace_back();
  routing.name = "r" + std::to_string(program.routings.size());
  routing.tokens.resize(static_cast<size_t>(program.num_ranks));
  for (auto& row : routing.tokens) {
    for (int i = 0; i < program.num_ranks; ++i) {
      row.push_back(static_cast<int>(random.uniform_int(0, 20)));
    }
    row[0] += 1;  // somebody sends
  }
  return static_cast<int>(program.routings.size()) - 1;
}

void add_collective(Random& random, const std::string& stream, Case& made) {
  const CollectiveOperation operations[] = {kAllToAll, kAllReduce, kAllGather, kShift, kBroadcast};
  Collective collective{.operation = operations[random.uniform_int(0, 4)],
                        .group = static_cast<int>(random.uniform_int(0, 2)),
                        .bytes = 1000 * random.uniform_int(100, 2000),
                        .distance = 1,
                        .wrap = true};
  if (collective.operation == kAllToAll && collective.group == 0 && random.uniform() < 0.4) {
    collective.routing = random_routing(random, made.maker.program());
  }
  made.maker.collective(stream, collective);
}

Trace run(const Case& made, Resolution resolution) {
  return simulate(made.maker.program(), &made.cluster, &made.profile, {.resolution = resolution});
}

// Every task on every rank.
void expect_same_ends(const Trace& ports, const Trace& flows) {
  std::map<std::pair<int, int>, Time> end_of;
  for (const TaskSpan& span : ports.spans) {
    end_of[{span.rank, span.task}] = span.end;
  }
  ASSERT_EQ(ports.spans.size(), flows.spans.size());
  for (const TaskSpan& span : flows.spans) {
    const Time end = end_of.at({span.rank, span.task});
    EXPECT_NEAR(span.end.seconds(), end.seconds(), slack(ports.end));
  }
}

// How much later flows ends than ports, or earlier (below 1).
double compare(const Case& made, int& num_exact) {
  const Trace fold = run(made, Resolution::kFold);
  const Trace ports = run(made, Resolution::kPorts);
  const Trace flows = run(made, Resolution::kFlows);
  EXPECT_EQ(fold.end, ports.end);
  EXPECT_TRUE(fold.sharing && ports.sharing && flows.sharing);
  EXPECT_TRUE(flows.sharing->is_exact);
  EXPECT_EQ(flows.sharing->at_most, flows.end);
  if (fold.sharing->is_exact || ports.sharing->is_exact) {
    expect_same_ends(ports, flows);
    ++num_exact;
  }
  const Time latest = std::min(fold.sharing->at_most, ports.sharing->at_most);
  EXPECT_LE(flows.end.seconds(), latest.seconds() + slack(latest));
  EXPECT_LE(ports.end, latest);
  const UncontendedWork work = uncontended_work(made.maker.program(), &made.cluster, &made.profile);
  Time least;
  for (const MediumWork& medium : work.media) {
    least = std::max(least, medium.load);
  }
  for (const Time load : work.port_loads) {
    least = std::max(least, load);
  }
  EXPECT_GE(flows.end.seconds(), least.seconds() - slack(least));
  return ratio(flows.end, ports.end);
}

TEST(ResolutionsTest, OneCollectiveAloneIsExact) {
  constexpr std::uint64_t kSeed = 20261202;
  constexpr int kTrials = 300;
  for (int trial = 0; trial < kTrials; ++trial) {
    Random random(kSeed, static_cast<std::uint64_t>(trial));
    Case made = random_case(random);
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", trial " + std::to_string(trial) + ": " +
                 made.text);
    add_collective(random, "s", made);
    std::get<Collective>(made.maker.task(0).descriptor).group = 0;
    int num_exact = 0;
    compare(made, num_exact);
    EXPECT_EQ(num_exact, 1);
  }
}

// Two to four copies of a collective, each behind a delay of its own of up to 4 ms, of which most
// are under way together: on a cluster without links and on symmetric ones all are exact. In every
// fourth trial the last one has twice the bytes, and is no copy.
TEST(ResolutionsTest, CopiesThatBeginAtDifferentTimesAreExact) {
  constexpr std::uint64_t kSeed = 20261205;
  constexpr int kTrials = 300;
  int num_exact = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    Random random(kSeed, static_cast<std::uint64_t>(trial));
    Case made = random_case(random);
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", trial " + std::to_string(trial) + ": " +
                 made.text);
    const auto num_copies = static_cast<int>(random.uniform_int(2, 4));
    for (int i = 0; i < num_copies; ++i) {
      const std::string stream(1, "abcd"[i]);
      made.maker.fixed(stream, random.uniform_int(0, 4'000'000'000));
      if (i == 0) {
        add_collective(random, stream, made);
      } else {
        Collective copy = std::get<Collective>(made.maker.task(1).descriptor);
        copy.bytes *= trial % 4 == 0 && i == num_copies - 1 ? 2 : 1;
        made.maker.collective(stream, copy);
      }
    }
    compare(made, num_exact);
    ASSERT_FALSE(HasFailure());
  }
  RecordProperty("exact", num_exact);
  EXPECT_GT(num_exact, kTrials / 2);
}

TEST(ResolutionsTest, ExactWhereSaidAndBoundedElsewhere) {
  constexpr std::uint64_t kSeed = 20261203;
  constexpr int kTrials = 400;
  int num_exact = 0;
  double latest = 1;
  double earliest = 1;
  for (int trial = 0; trial < kTrials; ++trial) {
    Random random(kSeed, static_cast<std::uint64_t>(trial));
    Case made = random_case(random);
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", trial " + std::to_string(trial) + ": " +
                 made.text);
    for (auto i = random.uniform_int(2, 6); i > 0; --i) {
      add_collective(random, std::string(1, "abc"[random.uniform_int(0, 2)]), made);
    }
    const double later = compare(made, num_exact);
    latest = std::max(latest, later);
    earliest = std::min(earliest, later);
  }
  RecordProperty("latest", std::to_string(latest));
  RecordProperty("earliest", std::to_string(earliest));
  EXPECT_GT(num_exact, kTrials / 20);
  EXPECT_LT(num_exact, kTrials * 9 / 10);
  EXPECT_GT(latest, 1 + 1e-3);  // else nothing here is bounded
}

}  // namespace
}  // namespace moesim
