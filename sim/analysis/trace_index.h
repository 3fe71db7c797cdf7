#pragma once

#include <map>
#include <utility>
#include <vector>

#include "sim/io/program.h"
#include "sim/io/trace.h"

namespace moesim {

// The tasks that a rank launches, and what follows from them alone, whatever their times: the same
// for all ranks that run the same tasks. Vectors are by task of the Program.
struct LaunchOrder {
  using Communicator = std::pair<int, int>;  // group, stream

  std::vector<int> tasks;             // in launch order
  std::vector<int> before;            // the one launched just before it, kNone for the first
  std::vector<int> before_on_stream;  // kNone for the first and for host waits
  std::vector<int> turn;              // the k of a collective on its communicator
  std::map<Communicator, std::vector<int>> collectives;  // in launch order
};

// Finds spans by what they mean: of which class, before which one on a stream, part of which
// collective. Every rank belongs to one class, and a class has at most one span per task.
// The program and the trace must outlive it.
class TraceIndex {
 public:
  TraceIndex(const Program& program, const Trace& trace);

  int num_classes() const { return static_cast<int>(span_of_.size()); }
  int class_of_rank(int rank) const { return class_of_rank_[rank]; }
  int class_of_span(int span) const { return class_of_rank_[trace_->spans[span].rank]; }

  // The span of a task on a class, kNone where the class does not run it.
  int span(int class_index, int task) const { return span_of_[class_index][task]; }

  // A class's spans in launch order.
  std::vector<int> launches(int class_index) const;

  // Which of orders() a class's tasks have.
  int order_of_class(int class_index) const { return order_of_class_[class_index]; }
  const std::vector<LaunchOrder>& orders() const { return orders_; }

  // The span launched just before it on the same rank, kNone for the first.
  int launched_before(int span) const;

  // The span before it on the same stream of its rank, kNone for the first and for host waits.
  int before_on_stream(int span) const;

  // The spans of one collective as the span's rank sees it: one for each class of its group's
  // members, its own first. The k-th collectives that the members issue on a communicator (a group
  // on a stream) belong together, whatever their tasks are called.
  std::vector<int> members(int span) const;

 private:
  void number_ranks();
  void place_spans();
  void find_orders();
  const LaunchOrder& order(int class_index) const { return orders_[order_of_class_[class_index]]; }
  int span_on_same_class(int span, int task) const;

  const Program* program_;
  const Trace* trace_;
  std::vector<int> class_of_rank_;
  std::vector<std::vector<int>> span_of_;  // [class][task]
  std::vector<int> order_of_class_;
  std::vector<LaunchOrder> orders_;
};

// The descriptor of a collective, null for every other task.
inline const Collective* collective_of(const Task& task) {
  return std::get_if<Collective>(&task.descriptor);
}

// The instance of a group that a rank belongs to; empty when it belongs to none.
std::vector<int> members_of(const Group& group, int rank);

}  // namespace moesim
