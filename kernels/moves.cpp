#include "kernels/moves.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "kernels/row_list.h"
#include "sim/base/check.h"

namespace moesim {
namespace {

// Plans a collective: `in[m]` and `out[m]` are the lists of rows that member m reads and writes.
class CollectivePlanner {
 public:
  CollectivePlanner(const RowMap& map,
                    const std::vector<const Task*>& tasks,
                    const std::vector<int>& members)
      : collective_(std::get<Collective>(tasks.front()->descriptor)),
        size_(static_cast<int>(members.size())) {
    for (int member = 0; member < size_; ++member) {
      const Task& task = *tasks[member];
      in_.push_back(list_rows(map, task, task.reads, Use::kRead, {member, members[member]}));
      out_.push_back(list_rows(map, task, task.writes, Use::kWrite, {member, members[member]}));
    }
  }

  MovePlan plan() && {
    switch (collective_.operation) {
      case CollectiveOperation::kAllReduce:
        all_reduce();
        break;
      case CollectiveOperation::kAllGather:
        for_all_pairs([&](int source, int destination) {
          return std::pair{in_[source], run(out_[destination], source)};
        });
        break;
      case CollectiveOperation::kReduceScatter:
        reduce_scatter();
        break;
      case CollectiveOperation::kAllToAll:
        for_all_pairs([&](int source, int destination) {
          return std::pair{run(in_[source], destination), run(out_[destination], source)};
        });
        break;
      case CollectiveOperation::kShift:
        shift();
        break;
      case CollectiveOperation::kBroadcast:
        for (int member = 0; member < size_; ++member) {
          append_moves(in_[collective_.root], out_[member], false, first_step());
        }
        break;
    }
    return std::move(plan_);
  }

 private:
  std::vector<Move>& first_step() {
    if (plan_.steps.empty()) {
      plan_.steps.emplace_back();
    }
    return plan_.steps.front();
  }

  RowList run(const RowList& list, int index) const { return equal_run(list, size_, index); }

  template <typename Lists>
  void for_all_pairs(const Lists& lists) {
    for (int destination = 0; destination < size_; ++destination) {
      for (int source = 0; source < size_; ++source) {
        const auto [from, to] = lists(source, destination);
        append_moves(from, to, false, first_step());
      }
    }
  }

  void reduce_scatter() {
    for (int destination = 0; destination < size_; ++destination) {
      for (int source = 0; source < size_; ++source) {
        append_moves(run(in_[source], destination), out_[destination], source > 0, first_step());
      }
    }
  }

  // Member m adds up the m-th part of all lists in its scratch memory, then everybody takes all
  // parts: no member may write its own rows, which are often the ones it reads, before the others
  // have read them.
  void all_reduce() {
    std::transform(in_.begin(), in_.end(), in_.begin(), without_empty_rows);
    std::transform(out_.begin(), out_.end(), out_.begin(), without_empty_rows);
    const int64_t rows = num_rows(in_.front());
    plan_.steps.resize(2);
    for (int part = 0; part < size_; ++part) {
      const int64_t begin = rows * part / size_;
      const int64_t count = rows * (part + 1) / size_ - begin;
      const RowList sum{{{part, kNone, 0}, count, count}};
      plan_.scratch_rows = std::max(plan_.scratch_rows, count);
      for (int source = 0; source < size_; ++source) {
        append_moves(sub_list(in_[source], begin, count), sum, source > 0, plan_.steps[0]);
      }
      for (int member = 0; member < size_; ++member) {
        append_moves(sum, sub_list(out_[member], begin, count), false, plan_.steps[1]);
      }
    }
    for (std::vector<Move>& step : plan_.steps) {
      std::stable_sort(step.begin(), step.end(), [](const Move& left, const Move& right) {
        return left.to.member < right.to.member;
      });
    }
  }

  void shift() {
    for (int source = 0; source < size_; ++source) {
      int64_t destination = int64_t{source} + collective_.distance;
      if (collective_.wrap) {
        destination = (destination % size_ + size_) % size_;
      }
      if (0 <= destination && destination < size_) {
        append_moves(in_[source], out_[destination], false, first_step());
      }
    }
  }

  const Collective& collective_;
  int size_;
  std::vector<RowList> in_;
  std::vector<RowList> out_;
  MovePlan plan_;
};

// Plans slice, replicate and local_sum on one rank, which stands alone in its plan.
class LocalPlanner {
 public:
  LocalPlanner(const RowMap& map, const Task& task, int rank)
      : map_(map), task_(task), rank_(rank) {}

  MovePlan plan() && {
    plan_.steps.emplace_back();
    for (size_t i = 0; i < task_.writes.size(); ++i) {
      const RowList from = list_rows(map_, task_, {task_.reads[i]}, Use::kRead, {0, rank_});
      const RowList to = list_rows(map_, task_, {task_.writes[i]}, Use::kWrite, {0, rank_});
      std::visit([&](const auto& descriptor) { add(descriptor, from, to); }, task_.descriptor);
    }
    return std::move(plan_);
  }

 private:
  int group_size(int group) const {
    const int instance = map_.groups().instance(group, rank_);
    CHECK(instance != kNone, "task '{}' runs on rank {} outside its group", task_.name, rank_);
    return static_cast<int>(map_.program().groups[group].members[instance].size());
  }

  void add(const Slice& slice, const RowList& from, const RowList& to) {
    const int size = group_size(slice.group);
    const int own = map_.groups().index(slice.group, rank_);
    if (num_rows(from) >= num_rows(to)) {
      append_moves(equal_run(from, size, own), to, false, plan_.steps.front());
      return;
    }
    for (const ListedRows& rows : to) {
      plan_.clears.push_back({rows.first, rows.valid});
    }
    append_moves(from, equal_run(to, size, own), false, plan_.steps.front());
  }

  // Run j of the input stands in runs j*copies .. (j+1)*copies of the output.
  void add(const Replicate& replicate, const RowList& from, const RowList& to) {
    const int size = group_size(replicate.group);
    for (int copy = 0; copy < size * replicate.copies; ++copy) {
      append_moves(equal_run(from, size, copy / replicate.copies),
                   equal_run(to, size * replicate.copies, copy),
                   false,
                   plan_.steps.front());
    }
  }

  void add(const LocalSum& sum, const RowList& from, const RowList& to) {
    const int size = group_size(sum.group);
    for (int copy = 0; copy < size * sum.copies; ++copy) {
      append_moves(equal_run(from, size * sum.copies, copy),
                   equal_run(to, size, copy / sum.copies),
                   copy % sum.copies > 0,
                   plan_.steps.front());
    }
  }

  template <typename Other>
  void add(const Other&, const RowList&, const RowList&) {
    CHECK(false, "task '{}' does not move rows", task_.name);
  }

  const RowMap& map_;
  const Task& task_;
  int rank_;
  MovePlan plan_;
};

// Of the rows that a task moves.
int row_columns(const Program& program, const Task& task) {
  const std::vector<Region>& regions = task.reads.empty() ? task.writes : task.reads;
  return regions.empty() ? 0 : program.tensors[regions.front().tensor].columns;
}

}  // namespace

MovePlan plan_collective(const RowMap& map, const Task& task, const std::vector<int>& members) {
  return plan_collective(map, std::vector<const Task*>(members.size(), &task), members);
}

MovePlan plan_collective(const RowMap& map,
                         const std::vector<const Task*>& tasks,
                         const std::vector<int>& members) {
  MovePlan plan = CollectivePlanner(map, tasks, members).plan();
  plan.columns = row_columns(map.program(), *tasks.front());
  return plan;
}

MovePlan plan_local(const RowMap& map, const Task& task, int rank) {
  MovePlan plan = LocalPlanner(map, task, rank).plan();
  plan.columns = row_columns(map.program(), task);
  return plan;
}

}  // namespace moesim
