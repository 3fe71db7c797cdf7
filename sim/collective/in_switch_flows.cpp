#include "sim/collective/in_switch_flows.h"

#include "sim/collective/tree_flows.h"

namespace moesim {
namespace {

constexpr auto kAllReduce = CollectiveOperation::kAllReduce;
constexpr auto kAllGather = CollectiveOperation::kAllGather;

void through_switch(int member, double out, double in, const VisitFlow& visit) {
  visit({member, kNvSwitchEnd, out});
  visit({kNvSwitchEnd, member, in});
}

void within_nodes(CollectiveOperation operation, const Seating& seating, const VisitFlow& visit) {
  for (const std::vector<int>& here : seating.on_node) {
    if (here.size() == 1) {
      continue;
    }
    const double part = 1.0 / static_cast<double>(here.size());
    const double out = operation == kAllReduce ? 1 + part : operation == kAllGather ? part : 1;
    const double in = operation == kAllReduce ? 1 + part : operation == kAllGather ? 1 : part;
    for (const int member : here) {
      through_switch(member, out, in, visit);
    }
  }
}

void between_nodes(CollectiveOperation operation, const Seating& seating, const VisitFlow& visit) {
  const size_t count = seating.is_even ? seating.on_node[0].size() : 1;
  const double share = 1.0 / static_cast<double>(count);
  const double nodes = seating.num_nodes();
  for (size_t place = 0; place < count; ++place) {
    std::vector<int> heads;
    for (const std::vector<int>& here : seating.on_node) {
      heads.push_back(here[place]);
    }
    if (operation == kAllReduce) {
      double_tree_flows(heads, share, visit);
    } else {
      ring_flows(heads, share * (nodes - 1) / nodes, visit);
    }
  }
}

void broadcast(int root, const Seating& seating, const VisitFlow& visit) {
  std::vector<int> heads{root};
  for (int i = 1; i < seating.num_nodes(); ++i) {
    heads.push_back(seating.on_node[(seating.node[root] + i) % seating.num_nodes()][0]);
  }
  for (const int head : heads) {
    const std::vector<int>& here = seating.on_node[seating.node[head]];
    if (here.size() == 1) {
      continue;
    }
    visit({head, kNvSwitchEnd, 1});
    for (const int member : here) {
      visit({kNvSwitchEnd, member, 1});
    }
  }
  binomial_flows(heads, 1, visit);
}

}  // namespace

void in_switch_flows(const Collective& collective, const Seating& seating, const VisitFlow& visit) {
  if (collective.operation == CollectiveOperation::kBroadcast) {
    broadcast(collective.root, seating, visit);
    return;
  }
  within_nodes(collective.operation, seating, visit);
  between_nodes(collective.operation, seating, visit);
}

}  // namespace moesim
