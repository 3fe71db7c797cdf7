// Random clusters, some with links removed: every route starts at the sender and ends at the
// receiver; at every part between them as much comes in as goes out, and it can be walked; none
// crosses a removed link; and the same cluster has the same routes.
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/base/random.h"
#include "sim/cluster/cluster_links.h"
#include "sim/cluster/wired_cluster.h"

namespace moesim {
namespace {

constexpr int kCases = 1000;

class RandomCluster {
 public:
  explicit RandomCluster(std::uint64_t seed) : random_(seed, 0) {}

  std::string text() {
    const int gpus = pick({1, 2, 4, 8});
    const int nodes = pick({1, 2, 3, 5, 8});
    std::string all =
        fmt::format("num_nodes: {} gpus_per_node: {} gpu_memory: '1 GiB'\n", nodes, gpus);
    all += node(gpus);
    all += fabric(nodes);
    all += transfers();
    for (int i = pick({0, 0, 1, 2, 4}); i > 0; --i) {
      all += change(nodes, gpus);
    }
    return all;
  }

 private:
  template <typename T>
  T pick(const std::vector<T>& from) {
    return from[random_.next() % from.size()];
  }
  int pick(std::initializer_list<int> from) { return pick(std::vector<int>(from)); }
  std::string word(std::initializer_list<const char*> from) {
    return pick(std::vector<const char*>(from));
  }

  std::string node(int gpus) {
    const int sockets = gpus > 1 ? pick({1, 2}) : 1;
    const int per_switch = pick({0, 1, gpus / sockets});
    nics_ = pick({1, 2, gpus, 2 * gpus});
    std::string text = fmt::format(
        "nodes {{ node {{ sockets: {} gpus_per_pcie_switch: {} pcie_rate: '{} GB/s' memory_rate: "
        "'100 GB/s' socket_interconnect_rate: '20 GB/s' nics: {} nic_rate: '10 GB/s' "
        "nic_placement: {}\n",
        sockets,
        per_switch,
        pick({8, 16}),
        nics_,
        per_switch > 0 ? word({"SWITCH", "ROOT_PORT"}) : "ROOT_PORT");
    switch (pick({0, 1, 2, 3})) {
      case 0:
        text += fmt::format("nvlink {{ rate: '90 GB/s' switches: {} }}", pick({1, 2, 3}));
        break;
      case 1:
        text += "nvlink { form: MESH rate: '90 GB/s' }";
        break;
      case 2:
        text += gpus > 1 ? "nvlink { form: PAIRS rate: '90 GB/s' }" : "";
        break;
      default:
        break;
    }
    return text + " } }\n";
  }

  std::string fabric(int nodes) {
    const int num_nics = nodes * nics_;
    std::string kind;
    switch (pick({0, 1, 2, 3, 4})) {
      case 0:
        kind = "single_switch {}";
        break;
      case 1:
        kind = fmt::format(
            "fat_tree {{ down: [4, {}] oversubscription: {} }}", (num_nics + 3) / 4, pick({1, 2}));
        break;
      case 2:
        kind = fmt::format(
            "fat_tree {{ down: [2, 2, {}] rails: {} }}", num_nics, word({"true", "false"}));
        break;
      case 3:
        kind = fmt::format(
            "dragonfly {{ routers_per_group: 4 nics_per_router: 2 global_links_per_router: {} }}",
            (num_nics + 7) / 8);
        break;
      default:
        kind =
            fmt::format("torus {{ dimensions: [3, {}] nics_per_router: 2 }}", (num_nics + 5) / 6);
    }
    const std::string routing = word({"SPRAY", "DMODK", "HASH"});
    const std::string seed = routing == "HASH" ? fmt::format(" seed: {}", pick({1, 2, 3})) : "";
    const std::string rate = kind.starts_with("single") ? "" : " link_rate: '10 GB/s'";
    return fmt::format("fabric {{ {} routing: {}{}{} }}\n", kind, routing, seed, rate);
  }

  std::string transfers() {
    return fmt::format("transfers {{ peer_access: {} no_gpudirect: {} pxn: {} }}\n",
                       word({"SYSTEM", "SOCKET", "PCIE_SWITCH", "NEVER"}),
                       word({"true", "false"}),
                       word({"true", "false"}));
  }

  std::string change(int nodes, int gpus) {
    const int node = static_cast<int>(random_.next() % nodes);
    std::string at;
    switch (pick({0, 1, 2})) {
      case 0:
        at = fmt::format("node:{}/nic:{}' kind: NETWORK", node, random_.next() % nics_);
        break;
      case 1:
        at = fmt::format("node:{}/gpu:{}'", node, random_.next() % gpus);
        break;
      default:
        at = "switch:0/0 -- switch:*/1'";
    }
    return fmt::format(
        "changes {{ at: '{} {} }}\n", at, word({"remove: true", "rate_factor: 0.5"}));
  }

  Random random_;
  int nics_ = 1;
};

// What flows into each part less what flows out of it is -1 at the sender, 1 at the receiver. Parts
// that the message passes twice (memory, the GPU of PXN) have as much in as out as well.
void expect_conserved(const ClusterLinks& links, int from, int to) {
  const Topology& topology = links.topology;
  std::map<int, double> balance;
  std::map<int, std::vector<int>> next;
  for (const Hop& hop : links.routes.between(from, to)) {
    const Link& link = topology.links()[hop.link];
    ASSERT_GT(topology.rate(hop.link), 0) << link_name(topology, hop.link) << " is removed";
    ASSERT_GT(hop.share, 0);
    ASSERT_LE(hop.share, 1 + 1e-9);
    balance[link.from] -= hop.share;
    balance[link.to] += hop.share;
    next[link.from].push_back(link.to);
  }
  for (const auto& [element, net] : balance) {
    const double expected = element == topology.gpus()[from] ? -1
                            : element == topology.gpus()[to] ? 1
                                                             : 0;
    ASSERT_NEAR(net, expected, 1e-9) << name(topology.elements()[element]);
  }
  // All links can be walked from the sender.
  std::map<int, bool> is_reached = {{topology.gpus()[from], true}};
  std::vector<int> reached = {topology.gpus()[from]};
  for (size_t i = 0; i < reached.size(); ++i) {
    for (const int element : next[reached[i]]) {
      if (!is_reached[element]) {
        is_reached[element] = true;
        reached.push_back(element);
      }
    }
  }
  for (const auto& [element, to_elements] : next) {
    ASSERT_TRUE(is_reached[element]) << name(topology.elements()[element]);
  }
}

bool same(const Route& a, const Route& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](Hop x, Hop y) {
           return x.link == y.link && x.share == y.share;
         });
}

TEST(TopologyPropertyTest, RoutesLeadFromSenderToReceiver) {
  int num_wired = 0;
  for (int seed = 0; seed < kCases; ++seed) {
    const std::string text = RandomCluster(static_cast<std::uint64_t>(seed)).text();
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    Cluster cluster;
    try {
      cluster = wired(parse_cluster(text, "c.txtpb"));
    } catch (const Error& error) {
      EXPECT_TRUE(error.location().starts_with("c.txtpb:")) << error.what();
      continue;
    }
    ++num_wired;
    const Cluster again = wired(parse_cluster(text, "c.txtpb"));
    for (int pair = 0; pair < cluster.num_gpus() * cluster.num_gpus(); ++pair) {
      const int from = pair / cluster.num_gpus();
      const int to = pair % cluster.num_gpus();
      if (from != to) {
        expect_conserved(*cluster.links, from, to);
        ASSERT_TRUE(
            same(cluster.links->routes.between(from, to), again.links->routes.between(from, to)));
      }
    }
    if (HasFatalFailure()) {
      return;
    }
  }
  EXPECT_GT(num_wired, kCases / 2);  // the others lack room or a way, and say where
}

}  // namespace
}  // namespace moesim
