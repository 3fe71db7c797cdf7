#include "sim/analysis/bounds.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/topological_sort.hpp>

#include "sim/analysis/data_dependences.h"
#include "sim/base/check.h"
#include "sim/program/role_table.h"

namespace moesim {
namespace {

// A vertex for each task of each rank: at a thousand ranks there are millions.
using Graph = boost::compressed_sparse_row_graph<boost::directedS>;

// Apart from the tasks, which are large: thousands of ranks go through all of them.
std::vector<int> streams_of_tasks(const Program& program) {
  std::vector<int> streams;
  for (const Task& task : program.tasks) {
    streams.push_back(task.stream);
  }
  return streams;
}

void find_busiest_stream(const Program& program,
                         const std::vector<int>& stream_of_task,
                         const RankWork& rank,
                         LowerBounds& bounds) {
  std::vector<Time> work(program.streams.size());
  for (std::size_t task = 0; task < stream_of_task.size(); ++task) {
    if (stream_of_task[task] != kNone) {
      work[stream_of_task[task]] += rank.durations[task];
    }
  }
  for (std::size_t stream = 0; stream < work.size(); ++stream) {
    if (work[stream] > bounds.busiest) {
      bounds.busiest = work[stream];
      bounds.busiest_name = "stream " + program.streams[stream];
    }
  }
}

// The tasks of all ranks as the vertices of one graph: a collective is one vertex, for it ends for
// all at once.
class TaskGraph {
 public:
  explicit TaskGraph(const Program& program)
      : program_(program), roles_(program), dependences_of_role_(roles_.size()) {
    groups_.update(program);
    alike_ = dependences_are_alike(program, groups_);
  }

  void add(const RankWork& rank) {
    std::vector<std::size_t> vertex_of(program_.tasks.size());
    const Dependences& dependences = dependences_of(rank.rank);
    for (const int task : tasks_of_rank(program_, roles_, groups_, rank.rank)) {
      vertex_of[task] = vertex(rank.collectives[task], rank.durations[task]);
      for (const int source : dependences[task]) {
        edges_.emplace_back(vertex_of[source], vertex_of[task]);
      }
    }
  }

  Time longest_path() const {
    const Graph graph(
        boost::edges_are_unsorted_multi_pass, edges_.begin(), edges_.end(), weights_.size());
    std::vector<Graph::vertex_descriptor> order;
    order.reserve(weights_.size());
    boost::topological_sort(graph, std::back_inserter(order));  // the last first
    std::vector<Time> start(weights_.size());
    Time longest;
    for (auto vertex = order.rbegin(); vertex != order.rend(); ++vertex) {
      const Time end = start[*vertex] + weights_[*vertex];
      longest = std::max(longest, end);
      for (auto [edge, last] = boost::out_edges(*vertex, graph); edge != last; ++edge) {
        Time& next = start[boost::target(*edge, graph)];
        next = std::max(next, end);
      }
    }
    return longest;
  }

 private:
  using Dependences = std::vector<std::vector<int>>;  // [task]

  // Valid until the next call.
  const Dependences& dependences_of(int rank) {
    Dependences& known = dependences_of_role_[roles_.role_of(rank)];
    if (known.empty() || !alike_) {
      known = data_dependences(program_, roles_, groups_, rank);
    }
    return known;
  }

  std::size_t vertex(int collective, Time weight) {
    if (collective != kNone) {
      if (collective >= std::ssize(collectives_)) {
        collectives_.resize(collective + 1);
      }
      std::optional<std::size_t>& known = collectives_[collective];
      if (known) {
        weights_[*known] = std::max(weights_[*known], weight);
        return *known;
      }
      known = weights_.size();
    }
    weights_.push_back(weight);
    return weights_.size() - 1;
  }

  const Program& program_;
  RoleTable roles_;
  GroupTable groups_;
  bool alike_ = false;
  std::vector<Dependences> dependences_of_role_;
  std::vector<Time> weights_;  // [vertex]
  std::vector<std::pair<std::size_t, std::size_t>> edges_;
  std::vector<std::optional<std::size_t>> collectives_;  // [collective]: its vertex
};

}  // namespace

LowerBounds lower_bounds(const Program& program, const std::vector<RankWork>& ranks) {
  LowerBounds bounds;
  TaskGraph graph(program);
  const std::vector<int> stream_of_task = streams_of_tasks(program);
  for (const RankWork& rank : ranks) {
    CHECK(rank.durations.size() == program.tasks.size());
    CHECK(rank.collectives.size() == program.tasks.size());
    find_busiest_stream(program, stream_of_task, rank, bounds);
    graph.add(rank);
  }
  bounds.dependency_chain = graph.longest_path();
  return bounds;
}

}  // namespace moesim
