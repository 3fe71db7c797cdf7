#include "sim/program/dependences.h"

#include <algorithm>

namespace moesim {
Dependences::Dependences(const Program& program) : roles_(program), states_(roles_.size()) {
  update_groups(program);
}

const std::vector<MissingWait>& Dependences::add(const Program& program,
                                                 const Task& task,
                                                 const std::vector<int>& given,
                                                 const std::vector<int>& requested) {
  update_groups(program);
  const std::vector<int>& running = roles_.running(task);
  candidates_.clear();
  missing_.clear();
  for (const int role : running) {
    HappensBefore& order = states_[role].order;
    order.begin(num_tasks_, task.stream);
    for (const int earlier : given) {
      order.wait_for(earlier);
    }
    for (const int earlier : requested) {
      if (order.runs(earlier)) {
        candidates_.push_back({earlier, kNone, role});
      }
    }
    collect(program, task, role);
    find_conflicts(program, role);
  }
  // Order only leads from earlier to later tasks: a wait can be implied by later ones alone, so
  // taking the latest first leaves out every wait that another implies.
  std::stable_sort(candidates_.begin(), candidates_.end(), [](const auto& left, const auto& right) {
    return left.earlier > right.earlier;
  });
  for (const MissingWait& candidate : candidates_) {
    if (!states_[candidate.role].order.follows(candidate.earlier)) {
      missing_.push_back(candidate);
      for (const int role : running) {
        states_[role].order.wait_for(candidate.earlier);
      }
    }
  }
  for (const int role : running) {
    states_[role].order.finish();
    if (task.stream != kNone) {  // everything later follows a host wait by itself
      record(program, role);
    }
  }
  ++num_tasks_;
  return missing_;
}

AccessList& Dependences::accesses(int role, int tensor) {
  std::vector<AccessList>& all = states_[role].accesses;
  if (tensor >= static_cast<int>(all.size())) {
    all.resize(tensor + 1);
  }
  return all[tensor];
}

std::optional<Footprint> Dependences::footprint(
    const Program& program, const Task& task, const Region& region, Use use, int role) const {
  const std::optional<Footprint> footprint = make_footprint(program, groups_, task, region, use);
  return footprint ? within(view(program, role), *footprint) : std::nullopt;
}

void Dependences::collect(const Program& program, const Task& task, int role) {
  std::vector<Access>& current = states_[role].current;
  current.clear();
  for (const Region& region : task.writes) {
    if (const auto where = footprint(program, task, region, Use::kWrite, role)) {
      current.push_back({*where, num_tasks_, true});
    }
  }
  const auto num_writes = static_cast<std::ptrdiff_t>(current.size());
  for (const Region& region : task.reads) {
    const auto where = footprint(program, task, region, Use::kRead, role);
    // What conflicts with reading rows that the task writes as well conflicts with writing them.
    const auto accumulates = [&](const Access& write) {
      return write.where.tensor == region.tensor &&
             covers(view(program, role), write.where, *where);
    };
    if (where && std::none_of(current.begin(), current.begin() + num_writes, accumulates)) {
      current.push_back({*where, num_tasks_, false});
    }
  }
}

void Dependences::find_conflicts(const Program& program, int role) {
  const RankView ranks = view(program, role);
  const RoleState& state = states_[role];
  for (const Access& access : state.current) {
    for (const Access* earlier : accesses(role, access.where.tensor).near(access.where)) {
      if ((access.writes || earlier->writes) && !state.order.follows(earlier->task) &&
          overlap(ranks, earlier->where, access.where)) {
        candidates_.push_back({earlier->task, access.where.tensor, role});
      }
    }
  }
}

void Dependences::record(const Program& program, int role) {
  const RankView ranks = view(program, role);
  RoleState& state = states_[role];
  for (const Access& access : state.current) {
    AccessList& list = state.accesses[access.where.tensor];
    list.erase_near_if(access.where, [&](const Access& earlier) {
      return (access.writes || !earlier.writes) && earlier.task != access.task &&
             covers(ranks, access.where, earlier.where) && state.order.follows(earlier.task);
    });
    list.add(access);
  }
}

}  // namespace moesim
