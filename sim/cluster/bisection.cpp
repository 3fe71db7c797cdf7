#include "sim/cluster/bisection.h"

#include <cmath>
#include <cstdint>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>

namespace moesim {
namespace {

using Rate = std::int64_t;  // bytes per second: whole numbers, so that the search ends
using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using Residual = boost::property<boost::edge_residual_capacity_t,
                                 Rate,
                                 boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>;
using Graph = boost::adjacency_list<boost::vecS,
                                    boost::vecS,
                                    boost::directedS,
                                    boost::no_property,
                                    boost::property<boost::edge_capacity_t, Rate, Residual>>;

// With the reverse edge that the search wants, which carries nothing of its own.
void add(int from, int to, Rate rate, Graph& graph) {
  const auto there = add_edge(static_cast<size_t>(from), static_cast<size_t>(to), graph).first;
  const auto back = add_edge(static_cast<size_t>(to), static_cast<size_t>(from), graph).first;
  put(boost::edge_capacity, graph, there, rate);
  put(boost::edge_capacity, graph, back, 0);
  put(boost::edge_reverse, graph, there, back);
  put(boost::edge_reverse, graph, back, there);
}

Rate whole_rate(const Topology& topology, int link) {
  return std::llround(topology.rate(link));
}

// Of all that leaves a GPU, which no flow from or to it exceeds.
Rate rate_of_gpu(const Topology& topology, int gpu) {
  Rate sum = 0;
  for (const int link : topology.out(gpu)) {
    sum += whole_rate(topology, link);
  }
  return sum;
}

int first_half(const Topology& topology) {
  const auto num_gpus = static_cast<int>(topology.gpus().size());
  const auto num_nodes = static_cast<int>(topology.nodes().size());
  return num_nodes == 1 ? num_gpus / 2 : num_nodes / 2 * (num_gpus / num_nodes);
}

}  // namespace

double bisection_bandwidth(const Topology& topology) {
  const int first = first_half(topology);
  if (first == 0) {
    return 0;
  }
  const auto source = static_cast<int>(topology.elements().size());
  const int sink = source + 1;
  Graph graph(static_cast<size_t>(sink) + 1);
  for (int link = 0; link < std::ssize(topology.links()); ++link) {
    if (topology.rate(link) > 0) {
      add(topology.links()[link].from,
          topology.links()[link].to,
          whole_rate(topology, link),
          graph);
    }
  }
  for (int rank = 0; rank < std::ssize(topology.gpus()); ++rank) {
    const int gpu = topology.gpus()[rank];
    add(rank < first ? source : gpu, rank < first ? gpu : sink, rate_of_gpu(topology, gpu), graph);
  }
  return static_cast<double>(
      push_relabel_max_flow(graph, static_cast<size_t>(source), static_cast<size_t>(sink)));
}

}  // namespace moesim
