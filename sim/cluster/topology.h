#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/cluster/element.h"
#include "sim/cluster/node_graph.h"
#include "sim/io/wiring.h"

namespace moesim {

// One way of a cable. Links of the same medium share its rate: each way of a full-duplex cable has
// one of its own, the two of a half-duplex one share theirs.
struct Link {
  int from = 0;  // elements
  int to = 0;
  LinkKind kind = LinkKind::kNetwork;
  int medium = 0;
  double latency = 0;  // seconds
};

// GPUs, what joins them within nodes, and the fabric: a directed graph. Parts of a node and their
// links are contiguous, and in the same order in all nodes of a group. A removed link stays, with a
// rate of zero. `build_topology` makes one.
class Topology {
 public:
  struct Node {
    int group = 0;  // of the wiring
    int first_element = 0;
    int first_link = 0;
    bool changed = false;  // some link is not what its group's is
  };

  void add_node(const NodeGraph& graph, int group);
  int add_switch(const Element& element);  // gives its index
  void join(const Cable& cable);           // of elements; its two ways are links 2i and 2i + 1
  void scale(int link, double factor);     // 0 removes it
  // Before anyone asks what leaves an element, after all else.
  void index_links();

  const std::vector<Element>& elements() const { return elements_; }
  const std::vector<Link>& links() const { return links_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<int>& gpus() const { return gpus_; }  // by rank
  const std::vector<int>& nics() const { return nics_; }  // node by node

  // Bytes per second of a medium, and of a link alone on its.
  const std::vector<double>& media() const { return media_; }
  double rate(int link) const { return media_[links_[link].medium]; }

  // Links that leave an element and were not removed.
  std::span<const int> out(int element) const;

 private:
  std::vector<Element> elements_;
  std::vector<Link> links_;
  std::vector<double> media_;
  std::vector<Node> nodes_;
  std::vector<int> gpus_;
  std::vector<int> nics_;
  std::vector<int> out_;        // by element
  std::vector<int> first_out_;  // into out_, by element, and the end
};

// Before so many parts are added, and cables between them. Throws Error where a topology would
// become larger than memory and patience: 16 Mi cables take about 1.5 GiB.
void check_size(const Topology& topology, double parts, double cables);

// "node:0/gpu:1 -> node:0/nvswitch:0"
std::string link_name(const Topology& topology, int link);

}  // namespace moesim
