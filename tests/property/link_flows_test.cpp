// One collective at a time over links, against an oracle that knows only messages: each is a fluid
// whose parts take their ways at one rate, rates are max-min fair, and the collective ends with its
// last message. Every resolution ends when the oracle does, also where a link is slower than
// others: of one collective no message is held longer than its busiest link takes (docs/model.md).
// A failure prints its seed.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/random.h"
#include "sim/cluster/cluster_links.h"
#include "sim/cluster/wired_cluster.h"
#include "sim/collective/link_loads.h"
#include "sim/engine/simulate.h"
#include "tests/property/random_wiring.h"
#include "tests/unit/engine/program_maker.h"

namespace moesim {
namespace {

constexpr double kBytes = 1e6;

struct Message {
  std::map<int, double> media;  // bytes on each, per byte of the message
  double left = 0;              // bytes
  double rate = 0;
};

// Max-min: all messages that are not held yet grow alike, until a medium is full, which holds those
// that use it (progressive filling; Bertsekas and Gallager, Data Networks, 1992, section 6.5.2).
void set_rates(const std::vector<double>& capacities, std::vector<Message>& messages) {
  std::vector<bool> held(messages.size());
  for (size_t i = 0; i < messages.size(); ++i) {
    held[i] = messages[i].left <= 0;
    messages[i].rate = 0;
  }
  while (std::ranges::find(held, false) != held.end()) {
    std::map<int, double> used;
    std::map<int, double> growing;
    for (size_t i = 0; i < messages.size(); ++i) {
      for (const auto& [medium, share] : messages[i].media) {
        used[medium] += share * messages[i].rate;
        growing[medium] += held[i] ? 0 : share;
      }
    }
    double step = INFINITY;
    int full = kNone;
    for (const auto& [medium, share] : growing) {
      const double room = share > 0 ? (capacities[medium] - used[medium]) / share : INFINITY;
      if (room < step) {
        step = std::max(0.0, room);
        full = medium;
      }
    }
    for (size_t i = 0; i < messages.size(); ++i) {
      messages[i].rate += held[i] ? 0 : step;
    }
    for (size_t i = 0; i < messages.size(); ++i) {
      held[i] = held[i] || messages[i].media.contains(full);
    }
  }
}

double end_of(const std::vector<double>& capacities, std::vector<Message> messages) {
  double now = 0;
  for (;;) {
    set_rates(capacities, messages);
    double next = INFINITY;
    for (const Message& message : messages) {
      next = message.left > 0 ? std::min(next, message.left / message.rate) : next;
    }
    if (next == INFINITY) {
      return now;
    }
    now += next;
    for (Message& message : messages) {
      message.left -= message.rate * next;
      message.left = message.left < 1e-6 ? 0 : message.left;
    }
  }
}

std::vector<Message> messages_of(const Cluster& cluster,
                                 const Collective& collective,
                                 const Group& group) {
  std::vector<Message> messages;
  for (const std::vector<int>& members : group.members) {
    const Seating seating(nodes_of(cluster, members));
    for_each_flow(collective, {}, seating, [&](const MemberFlow& flow) {
      Message& message = messages.emplace_back();
      message.left = flow.share * kBytes;
      for (const Hop& hop : cluster.links->routes.between(members[flow.from], members[flow.to])) {
        message.media[cluster.links->topology.links()[hop.link].medium] += hop.share;
      }
    });
  }
  return messages;
}

Group random_group(Random& random, int num_nodes, int gpus) {
  Group world{.name = "world", .members = {{}}};
  Group across{.name = "across", .members = std::vector<std::vector<int>>(gpus)};
  for (int rank = 0; rank < num_nodes * gpus; ++rank) {
    world.members[0].push_back(rank);
    across.members[rank % gpus].push_back(rank);
  }
  return random.uniform() < 0.5 ? world : across;
}

TEST(LinkFlowsTest, EndsWhereMessagesEnd) {
  constexpr std::uint64_t kSeed = 20261130;
  constexpr int kTrials = 1000;
  int num_changed = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    Random random(kSeed, static_cast<std::uint64_t>(trial));
    int num_nodes = 0;
    int gpus = 0;
    const RandomWiring made = random_wiring(random, num_nodes, gpus);
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", trial " + std::to_string(trial) + ": " +
                 made.text);
    const Cluster cluster = wired(parse_cluster(made.text, "c.txtpb"));
    ProgramMaker maker(cluster.num_gpus());
    maker.program().groups = {random_group(random, num_nodes, gpus)};
    const CollectiveOperation operations[] = {CollectiveOperation::kAllToAll,
                                              CollectiveOperation::kAllReduce,
                                              CollectiveOperation::kAllGather,
                                              CollectiveOperation::kShift};
    const Collective collective{.operation = operations[random.uniform_int(0, 3)],
                                .group = 0,
                                .bytes = static_cast<std::int64_t>(kBytes),
                                .distance = 1,
                                .wrap = true};
    maker.collective("s", collective);
    const double expected = end_of(cluster.links->topology.media(),
                                   messages_of(cluster, collective, maker.program().groups[0]));
    const Profile profile;
    for (const Resolution resolution :
         {Resolution::kFold, Resolution::kPorts, Resolution::kFlows}) {
      const double end =
          simulate(maker.program(), &cluster, &profile, {.resolution = resolution}).end.seconds();
      EXPECT_NEAR(end, expected, 1e-6 * expected);
    }
    num_changed += made.is_symmetric ? 0 : 1;
  }
  EXPECT_GT(num_changed, kTrials / 3);
}

}  // namespace
}  // namespace moesim
