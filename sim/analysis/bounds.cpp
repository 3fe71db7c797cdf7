#include "sim/analysis/bounds.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dag_shortest_paths.hpp>

#include "sim/analysis/data_dependences.h"
#include "sim/base/check.h"
#include "sim/program/role_table.h"

namespace moesim {
namespace {

// Edges weigh the picoseconds of the task that they come from.
using Graph = boost::adjacency_list<boost::vecS,
                                    boost::vecS,
                                    boost::directedS,
                                    boost::no_property,
                                    boost::property<boost::edge_weight_t, std::int64_t>>;

// The ranks that stand for their roles, and what their tasks take there at least.
class Representatives {
 public:
  Representatives(const Program& program, const std::vector<Time>& durations)
      : program_(program), durations_(durations), roles_(program) {
    CHECK(durations.size() == program.tasks.size());
    groups_.update(program);
    for (int role = 0; role < roles_.size(); ++role) {
      const std::vector<int>& ranks = roles_.ranks(role);
      ranks_.push_back(ranks.empty() ? kNone : *std::min_element(ranks.begin(), ranks.end()));
    }
  }

  const GroupTable& groups() const { return groups_; }

  std::vector<int> ranks() const {
    std::vector<int> present = ranks_;
    std::erase(present, kNone);
    return present;
  }

  // Zero where nothing is known of the task on that rank.
  Time duration(int index, int rank) const {
    const Task& task = program_.tasks[index];
    if (const auto* fixed = std::get_if<Fixed>(&task.descriptor)) {
      return program_.rank_scale.empty() ? fixed->time
                                         : fixed->time.scaled(program_.rank_scale[rank]);
    }
    return lowest_rank(task) == rank ? durations_[index] : Time::zero();
  }

 private:
  int lowest_rank(const Task& task) const {
    int lowest = std::numeric_limits<int>::max();
    for (const int role : roles_.running(task)) {
      lowest = ranks_[role] == kNone ? lowest : std::min(lowest, ranks_[role]);
    }
    return lowest;
  }

  const Program& program_;
  const std::vector<Time>& durations_;
  RoleTable roles_;
  GroupTable groups_;
  std::vector<int> ranks_;  // [role]
};

void find_busiest_stream(const Program& program,
                         const Representatives& known,
                         LowerBounds& bounds) {
  for (const int rank : known.ranks()) {
    std::vector<Time> work(program.streams.size());
    for (const int task : tasks_of_rank(program, known.groups(), rank)) {
      if (program.tasks[task].stream != kNone) {
        work[program.tasks[task].stream] += known.duration(task, rank);
      }
    }
    for (std::size_t stream = 0; stream < work.size(); ++stream) {
      if (work[stream] > bounds.busiest) {
        bounds.busiest = work[stream];
        bounds.busiest_name = "stream " + program.streams[stream];
      }
    }
  }
}

// Tasks of the representatives as the vertices of one graph: a collective between several of them
// is one vertex, for it ends for all at once. The k-th collectives of a communicator (a group's
// instance on a stream) belong together.
class TaskGraph {
 public:
  TaskGraph(const Program& program, const Representatives& known)
      : program_(program), known_(known) {
    for (const int rank : known.ranks()) {
      add_rank(rank);
    }
  }

  // From the source through all tasks to the sink. Lengths are picoseconds.
  Time longest_path() const {
    constexpr std::size_t kSource = 0;
    const std::size_t sink = weights_.size() + 1;
    Graph graph(sink + 1);
    boost::add_edge(kSource, sink, 0, graph);
    for (std::size_t vertex = 0; vertex < weights_.size(); ++vertex) {
      boost::add_edge(kSource, vertex + 1, 0, graph);
      boost::add_edge(vertex + 1, sink, weights_[vertex].picoseconds(), graph);
    }
    for (const auto& [from, to] : edges_) {
      boost::add_edge(from + 1, to + 1, weights_[from].picoseconds(), graph);
    }
    std::vector<std::int64_t> length(boost::num_vertices(graph));
    boost::dag_shortest_paths(graph,
                              kSource,
                              boost::distance_map(length.data())
                                  .distance_compare(std::greater<>())
                                  .distance_combine(std::plus<>())
                                  .distance_inf(std::numeric_limits<std::int64_t>::min())
                                  .distance_zero(std::int64_t{0}));
    return Time::from_picoseconds(length[sink]);
  }

 private:
  using Turn = std::tuple<int, int, int, int>;  // group, instance, stream, k

  void add_rank(int rank) {
    std::vector<std::size_t> vertex_of(program_.tasks.size());
    std::map<Turn, int> turns;  // k is 0 in these keys
    const auto dependences = data_dependences(program_, known_.groups(), rank);
    for (const int index : tasks_of_rank(program_, known_.groups(), rank)) {
      const Task& task = program_.tasks[index];
      const Time duration = known_.duration(index, rank);
      if (const auto* collective = std::get_if<Collective>(&task.descriptor)) {
        Turn turn = {
            collective->group, known_.groups().instance(collective->group, rank), task.stream, 0};
        std::get<3>(turn) = turns[turn]++;
        vertex_of[index] = collective_vertex(turn, duration);
      } else {
        vertex_of[index] = add_vertex(duration);
      }
      for (const int source : dependences[index]) {
        edges_.emplace_back(vertex_of[source], vertex_of[index]);
      }
    }
  }

  std::size_t add_vertex(Time weight) {
    weights_.push_back(weight);
    return weights_.size() - 1;
  }

  std::size_t collective_vertex(const Turn& turn, Time duration) {
    const auto found = collectives_.find(turn);
    if (found == collectives_.end()) {
      return collectives_[turn] = add_vertex(duration);
    }
    weights_[found->second] = std::max(weights_[found->second], duration);
    return found->second;
  }

  const Program& program_;
  const Representatives& known_;
  std::vector<Time> weights_;  // [vertex]
  std::vector<std::pair<std::size_t, std::size_t>> edges_;
  std::map<Turn, std::size_t> collectives_;
};

}  // namespace

LowerBounds lower_bounds(const Program& program, const std::vector<Time>& durations) {
  const Representatives known(program, durations);
  LowerBounds bounds;
  find_busiest_stream(program, known, bounds);
  bounds.dependency_chain = TaskGraph(program, known).longest_path();
  return bounds;
}

}  // namespace moesim
