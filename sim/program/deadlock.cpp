// Deadlocks: a cycle over the starts and ends of tasks, where a collective has one end for all.
#include <algorithm>
#include <numeric>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "sim/program/communicators.h"
#include "sim/program/rank_classes.h"

namespace moesim {
namespace {

struct Edge {
  int from = 0;
  int to = 0;
};

// Nodes are the start (even) and the end (odd) of each task of each class of ranks.
class OrderGraph {
 public:
  OrderGraph(const Program& program,
             const RoleTable& roles,
             const IssuedCollectives& issued,
             int hardware_queues)
      : program_(program),
        roles_(roles),
        classes_(stable_rank_classes(program, roles, issued)),
        hardware_queues_(hardware_queues) {
    number_tasks();
    for (int i = 0; i < num_classes(); ++i) {
      add_class(i);
    }
    for (const auto& [communicator, by_role] : issued) {
      merge_ends(program.groups[communicator.group], by_role);
    }
  }

  // The edges of a cycle in order, or none.
  std::vector<Edge> find_cycle();

  int task_of(int node) const { return task_of_[node / 2]; }

 private:
  int num_classes() const { return static_cast<int>(classes_.representatives.size()); }
  int role_of_class(int rank_class) const {
    return roles_.role_of(classes_.representatives[rank_class]);
  }
  int start_of(int rank_class, int task) const {
    return first_node_[rank_class] + 2 * place_[role_of_class(rank_class)][task];
  }
  int end_of(int rank_class, int task) const { return start_of(rank_class, task) + 1; }
  bool runs(int rank_class, int task) const {
    return place_[role_of_class(rank_class)][task] != kNone;
  }

  void number_tasks();
  void add_class(int rank_class);
  void merge_ends(const Group& group, const std::vector<std::vector<int>>& by_role);
  int find(int node);
  std::vector<int> edges_left();

  const Program& program_;
  const RoleTable& roles_;
  RankClasses classes_;
  int hardware_queues_;
  std::vector<std::vector<int>> place_;  // [role][task], kNone where it does not run
  std::vector<int> first_node_;          // by class
  std::vector<int> task_of_;             // by node / 2
  std::vector<int> parent_;              // union-find over nodes
  std::vector<Edge> edges_;
};

void OrderGraph::number_tasks() {
  place_.assign(roles_.size(), std::vector<int>(program_.tasks.size(), kNone));
  std::vector<int> num_tasks(roles_.size(), 0);
  for (std::size_t task = 0; task < program_.tasks.size(); ++task) {
    for (const int role : roles_.running(program_.tasks[task])) {
      place_[role][task] = num_tasks[role]++;
    }
  }
  int next = 0;
  for (int i = 0; i < num_classes(); ++i) {
    first_node_.push_back(next);
    next += 2 * num_tasks[role_of_class(i)];
  }
  task_of_.resize(next / 2);
  parent_.resize(next);
  std::iota(parent_.begin(), parent_.end(), 0);
}

// Design, "Execution model": a task starts when its predecessor on the stream, its waits and the
// host's waits are over, and when every earlier launched task of its hardware queue has started.
void OrderGraph::add_class(int rank_class) {
  std::vector<int> last_on_stream(program_.streams.size(), kNone);
  std::vector<int> last_in_queue(hardware_queues_, kNone);
  int last_host_wait = kNone;
  for (int index = 0; index < static_cast<int>(program_.tasks.size()); ++index) {
    if (!runs(rank_class, index)) {
      continue;
    }
    const Task& task = program_.tasks[index];
    const int start = start_of(rank_class, index);
    task_of_[start / 2] = index;
    edges_.push_back({start, start + 1});
    for (const std::vector<int>* waits : {&task.waits, &task.order_only}) {
      for (const int wait : *waits) {
        if (runs(rank_class, wait)) {
          edges_.push_back({end_of(rank_class, wait), start});
        }
      }
    }
    if (last_host_wait != kNone) {
      edges_.push_back({end_of(rank_class, last_host_wait), start});
    }
    if (task.stream == kNone) {
      last_host_wait = index;
      continue;
    }
    int& predecessor = last_on_stream[task.stream];
    if (predecessor != kNone) {
      edges_.push_back({end_of(rank_class, predecessor), start});
    }
    predecessor = index;
    int& in_queue = last_in_queue[task.stream % hardware_queues_];
    if (in_queue != kNone) {
      edges_.push_back({start_of(rank_class, in_queue), start});
    }
    in_queue = index;
  }
}

// The k-th collectives of all classes that meet in an instance end together.
void OrderGraph::merge_ends(const Group& group, const std::vector<std::vector<int>>& by_role) {
  std::set<std::set<int>> done;
  for (const std::vector<int>& members : group.members) {
    std::set<int> meeting;
    for (const int member : members) {
      meeting.insert(classes_.class_of[member]);
    }
    if (!done.insert(meeting).second) {
      continue;
    }
    const int first = *meeting.begin();
    for (const int other : meeting) {
      const std::vector<int>& tasks = by_role[role_of_class(first)];
      const std::vector<int>& other_tasks = by_role[role_of_class(other)];
      for (std::size_t k = 0; k < tasks.size(); ++k) {
        parent_[find(end_of(other, other_tasks[k]))] = find(end_of(first, tasks[k]));
      }
    }
  }
}

int OrderGraph::find(int node) {
  while (parent_[node] != node) {
    parent_[node] = parent_[parent_[node]];
    node = parent_[node];
  }
  return node;
}

// How many edges into each node a topological sort leaves over: none without a cycle.
std::vector<int> OrderGraph::edges_left() {
  const std::size_t num_nodes = parent_.size();
  std::vector<int> num_left(num_nodes, 0);
  std::vector<int> first_out(num_nodes + 1, 0);
  for (const Edge& edge : edges_) {
    ++num_left[find(edge.to)];
    ++first_out[find(edge.from) + 1];
  }
  std::partial_sum(first_out.begin(), first_out.end(), first_out.begin());
  std::vector<int> targets(edges_.size());
  std::vector<int> next_out(first_out.begin(), first_out.end() - 1);
  for (const Edge& edge : edges_) {
    targets[next_out[find(edge.from)]++] = find(edge.to);
  }
  std::vector<int> ready;
  for (std::size_t node = 0; node < num_nodes; ++node) {
    if (num_left[node] == 0) {
      ready.push_back(static_cast<int>(node));
    }
  }
  while (!ready.empty()) {
    const int node = ready.back();
    ready.pop_back();
    for (int i = first_out[node]; i < first_out[node + 1]; ++i) {
      if (--num_left[targets[i]] == 0) {
        ready.push_back(targets[i]);
      }
    }
  }
  return num_left;
}

std::vector<Edge> OrderGraph::find_cycle() {
  const std::vector<int> num_left = edges_left();
  const auto stuck =
      std::find_if(num_left.begin(), num_left.end(), [](int left) { return left > 0; });
  if (stuck == num_left.end()) {
    return {};
  }
  // A node left over has another such before it: walking back must come round.
  std::vector<const Edge*> into(num_left.size(), nullptr);
  for (const Edge& edge : edges_) {
    const Edge*& known = into[find(edge.to)];
    if (known == nullptr && num_left[find(edge.from)] > 0) {
      known = &edge;
    }
  }
  std::vector<bool> seen(num_left.size(), false);
  auto node = static_cast<int>(stuck - num_left.begin());
  for (; !seen[node]; node = find(into[node]->from)) {
    seen[node] = true;
  }
  std::vector<Edge> cycle;
  for (const int last = node; cycle.empty() || node != last;) {
    cycle.push_back(*into[node]);
    node = find(cycle.back().from);
  }
  std::reverse(cycle.begin(), cycle.end());
  return cycle;
}

}  // namespace

void check_deadlock(const Program& program,
                    const RoleTable& roles,
                    const IssuedCollectives& issued,
                    int hardware_queues,
                    Problems& problems) {
  OrderGraph graph(program, roles, issued, hardware_queues);
  const std::vector<Edge> cycle = graph.find_cycle();
  if (cycle.empty()) {
    return;
  }
  std::vector<int> tasks;
  std::string circle;
  int last = graph.task_of(cycle.back().to);
  for (const Edge& edge : cycle) {
    const int from = graph.task_of(edge.from);
    const int to = graph.task_of(edge.to);
    if (from != last) {
      circle +=
          fmt::format("{} is one collective with {}; ", problems.name(last), problems.name(from));
    }
    if (to != from) {
      circle += fmt::format("{} comes before {}; ", problems.name(from), problems.name(to));
    }
    last = to;
    tasks.push_back(from);
    tasks.push_back(to);
  }
  circle.resize(circle.size() - 2);
  problems.add(ProblemKind::kDeadlock,
               std::move(tasks),
               kNone,
               fmt::format("deadlock, tasks wait for each other with {} hardware queue{}: {}",
                           hardware_queues,
                           hardware_queues == 1 ? "" : "s",
                           circle));
}

}  // namespace moesim
