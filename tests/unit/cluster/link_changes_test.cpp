// Which links a change means, and what becomes of them.
#include "sim/cluster/link_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cluster/build_topology.h"
#include "tests/unit/cluster/small_clusters.h"

namespace moesim {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Three nodes of two GPUs and two NICs at a fat tree of two leaves and a spine.
const char* const kFabric = "fabric { fat_tree { down: [4, 2] } }";

Topology changed(const std::string& changes) {
  return build_topology(small_cluster(3, 2, plain_nodes(2) + kFabric + changes));
}

// Names of the links, one way each, whose rate is not what it was, and what it is times.
std::vector<std::string> differences(const Topology& topology) {
  const Topology before = changed("");
  std::vector<std::string> found;
  for (int link = 0; link < std::ssize(topology.links()); link += 2) {
    EXPECT_EQ(topology.rate(link) / before.rate(link), topology.rate(link + 1) / before.rate(link));
    if (topology.rate(link) != before.rate(link)) {
      found.push_back(link_name(topology, link) + " * " +
                      std::to_string(topology.rate(link) / before.rate(link)).substr(0, 4));
    }
  }
  return found;
}

using Links = std::vector<std::string>;

TEST(LinkChangesTest, APartMeansAllItsLinks) {
  EXPECT_EQ(
      differences(changed("changes { at: 'node:1/nic:0' rate_factor: 0.5 }")),
      (Links{"node:1/nic:0 -> node:1/root_port:2 * 0.50", "node:1/nic:0 -> switch:0/0 * 0.50"}));
}

TEST(LinkChangesTest, AKindNarrowsIt) {
  EXPECT_EQ(differences(changed("changes { at: 'node:1/nic:0' kind: NETWORK rate_factor: 0.5 }")),
            (Links{"node:1/nic:0 -> switch:0/0 * 0.50"}));
}

// Either way round.
TEST(LinkChangesTest, TwoPartsMeanTheLinksBetweenThem) {
  for (const char* at : {"node:2/gpu:1 -- node:2/nvswitch:0", "node:2/nvswitch:0--node:2/gpu:1"}) {
    EXPECT_EQ(differences(changed(std::string("changes { at: '") + at + "' remove: true }")),
              (Links{"node:2/gpu:1 -> node:2/nvswitch:0 * 0.00"}));
  }
}

TEST(LinkChangesTest, AStarIsAnyNumber) {
  EXPECT_EQ(differences(changed("changes { at: 'node:*/nic:1' kind: NETWORK rate_factor: 2 }")),
            (Links{"node:0/nic:1 -> switch:0/0 * 2.00",
                   "node:1/nic:1 -> switch:0/0 * 2.00",
                   "node:2/nic:1 -> switch:0/1 * 2.00"}));
  EXPECT_EQ(differences(changed("changes { at: 'switch:0/* -- switch:1/0' rate_factor: 0.25 }")),
            (Links{"switch:0/0 -> switch:1/0 * 0.25", "switch:0/1 -> switch:1/0 * 0.25"}));
}

TEST(LinkChangesTest, OneAfterTheOther) {
  EXPECT_EQ(differences(changed("changes { at: 'switch:0/1 -- switch:1/0' rate_factor: 0.5 } "
                                "changes { at: 'switch:1/0' rate_factor: 0.5 }")),
            (Links{"switch:0/0 -> switch:1/0 * 0.50", "switch:0/1 -> switch:1/0 * 0.25"}));
}

// Both ways of memory are one medium, which is scaled once.
TEST(LinkChangesTest, AHalfDuplexMediumIsScaledOnce) {
  EXPECT_EQ(differences(changed("changes { at: 'node:0/memory:0' rate_factor: 0.5 }")),
            (Links{"node:0/socket:0 -> node:0/memory:0 * 0.50"}));
}

// What is removed no longer leaves its element, but keeps its place.
TEST(LinkChangesTest, RemovedLinksAreNotThere) {
  const Topology topology = changed(
      "changes { at: 'node:2/gpu:1 -- node:2/nvswitch:0' remove: "
      "true }");
  EXPECT_EQ(topology.links().size(), changed("").links().size());
  for (const int link : topology.out(topology.gpus()[5])) {
    EXPECT_NE(topology.links()[link].kind, LinkKind::kNvLink);
  }
  EXPECT_TRUE(topology.nodes()[2].changed);
  EXPECT_FALSE(topology.nodes()[1].changed);
}

TEST(LinkChangesTest, AChangeOfNothingIsAnError) {
  const auto error = [](const std::string& at) {
    return error_of([&] { changed("changes { at: '" + at + "' rate_factor: 0.5 }"); });
  };
  EXPECT_EQ(error("node:7/nic:0"),
            "c.txtpb:3:51: no link at \"node:7/nic:0\"; `moesim topology show` lists them");
  EXPECT_THAT(error("node:0/gpu:0 -- node:1/gpu:0"), HasSubstr("no link at"));
  for (const char* at : {"nic:0",
                         "node:0",
                         "node:0/nic",
                         "node:0/nic:x",
                         "node:0/port:1",
                         "node:/nic:0",
                         "switch:1",
                         "switch:1/",
                         "node:0/nic:1 --",
                         "node:99999999999/nic:1"}) {
    EXPECT_THAT(error(at), StartsWith("c.txtpb:3:51: ")) << at;
    EXPECT_THAT(error(at), HasSubstr("names no part")) << at;
  }
}

TEST(LinkChangesTest, ACutIsAnError) {
  EXPECT_THAT(error_of([] { changed("changes { at: 'switch:0/1 -- switch:1/0' remove: true }"); }),
              testing::AllOf(StartsWith("c.txtpb:"),
                             HasSubstr("no way from node:0/gpu:0 to node:2/gpu:0")));
}

}  // namespace
}  // namespace moesim
