#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/cluster/node_paths.h"
#include "sim/cluster/topology.h"
#include "sim/io/cluster.h"

namespace moesim {

// What a cluster consists of: what `moesim topology show` prints.
struct TopologySummary {
  struct Parts {
    ElementKind kind = ElementKind::kGpu;
    int count = 0;  // in each node
  };

  // Nodes first .. first + count - 1, which are wired alike but for changes.
  struct Nodes {
    int first = 0;
    int count = 0;
    std::vector<Parts> parts;
    std::vector<std::string> inferred;  // what a dump did not say
  };

  // Of one level of the fabric.
  struct Switches {
    int level = 0;
    int count = 0;
    int width = 1;  // equal ones that are drawn as one
  };

  // Cables that are alike.
  struct Cables {
    LinkKind kind = LinkKind::kNetwork;
    std::string from;  // "gpu", "switch 0" with its level
    std::string to;
    double rate = 0;  // bytes per second of each way, or of both; 0: removed
    double latency = 0;
    bool half_duplex = false;
    std::int64_t count = 0;
  };

  // What a message alone gets between two ranks.
  struct Way {
    int from = 0;
    int to = 0;
    Route route;
    double rate = 0;     // of the link that it fills first
    double latency = 0;  // of its links, by their shares
  };

  Cluster cluster;  // wired
  std::vector<Nodes> nodes;
  std::vector<Switches> switches;
  std::vector<Cables> cables;
  double bisection = 0;  // sim/cluster/bisection.h
  bool has_nvlink = false;
  std::vector<Way> ways;
};

struct RankPair {
  int from = 0;
  int to = 0;
};

// Of a wired cluster. `pairs` are the ranks whose ways are shown, in range and not the same
// (CHECK); empty: within the first node to its second and to its last GPU, and from its first GPU
// to the first and to the last of the last node. Without links all but the cluster is empty.
TopologySummary summarize(const Cluster& cluster, std::vector<RankPair> pairs = {});

// As cluster files have it: "SYSTEM", …
std::string name(PeerAccess access);

// "nvlink", "network", …
std::string name(LinkKind kind);

std::string to_text(const TopologySummary& summary);
std::string to_json(const TopologySummary& summary);

}  // namespace moesim
