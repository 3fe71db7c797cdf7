#include "sim/analysis/data_dependences.h"

#include <algorithm>
#include <optional>

#include "sim/program/access_list.h"
#include "sim/program/overlap.h"

namespace moesim {
namespace {

bool has_role(const Task& task, int role) {
  return task.roles.empty() ||
         std::find(task.roles.begin(), task.roles.end(), role) != task.roles.end();
}

bool has_regions(const Task& task) {
  return !task.reads.empty() || !task.writes.empty();
}

// Follows the tasks of one rank and remembers who wrote what.
class Writers {
 public:
  Writers(const Program& program, const GroupTable& groups, int rank)
      : program_(program),
        groups_(groups),
        ranks_{rank},
        view_{program, groups, ranks_},
        writes_(program.tensors.size()) {}

  // The tasks so far that wrote rows which `task` reads, ascending.
  std::vector<int> sources(const Task& task) {
    std::vector<int> found;
    for (const Region& region : task.reads) {
      const std::optional<Footprint> rows = footprint(task, region, Use::kRead);
      if (!rows) {
        continue;
      }
      for (const Access* write : writes_[region.tensor].near(*rows)) {
        if (overlap(view_, write->where, *rows)) {
          found.push_back(write->task);
        }
      }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  // `sources` are those of the task. A write of one of them that the task writes over is forgotten:
  // who reads those rows later depends on this task, and so on that one. Else each addition to a
  // sum would name all before it, and micro-batches would cost their number squared.
  void add(int index, const std::vector<int>& sources) {
    const Task& task = program_.tasks[index];
    for (const Region& region : task.writes) {
      const std::optional<Footprint> rows = footprint(task, region, Use::kWrite);
      if (!rows) {
        continue;
      }
      writes_[region.tensor].erase_near_if(*rows, [&](const Access& write) {
        return covers(view_, *rows, write.where) &&
               std::binary_search(sources.begin(), sources.end(), write.task);
      });
      writes_[region.tensor].add({*rows, index, true});
    }
  }

 private:
  std::optional<Footprint> footprint(const Task& task, const Region& region, Use use) const {
    const std::optional<Footprint> rows = make_footprint(program_, groups_, task, region, use);
    return rows ? within(view_, *rows) : std::nullopt;
  }

  const Program& program_;
  const GroupTable& groups_;
  std::vector<int> ranks_;
  RankView view_;
  std::vector<AccessList> writes_;  // [tensor]
};

}  // namespace

std::vector<int> tasks_of_rank(const Program& program,
                               const RoleTable& roles,
                               const GroupTable& groups,
                               int rank) {
  std::vector<int> tasks;
  const int role = roles.role_of(rank);
  for (int index = 0; index < static_cast<int>(program.tasks.size()); ++index) {
    const Task& task = program.tasks[index];
    const auto* collective = std::get_if<Collective>(&task.descriptor);
    const bool takes_part =
        collective == nullptr || groups.instance(collective->group, rank) != kNone;
    if (takes_part && has_role(task, role)) {
      tasks.push_back(index);
    }
  }
  return tasks;
}

bool dependences_are_alike(const Program& program, const GroupTable& groups) {
  const auto alike = [&](const Task& task, const std::vector<Region>& regions, Use use) {
    return std::all_of(regions.begin(), regions.end(), [&](const Region& region) {
      const auto where = make_footprint(program, groups, task, region, use);
      return !where || (where->frame == Frame{} && where->presence == Presence{});
    });
  };
  return std::all_of(program.tasks.begin(), program.tasks.end(), [&](const Task& task) {
    return alike(task, task.reads, Use::kRead) && alike(task, task.writes, Use::kWrite);
  });
}

std::vector<std::vector<int>> data_dependences(const Program& program,
                                               const RoleTable& roles,
                                               const GroupTable& groups,
                                               int rank) {
  std::vector<std::vector<int>> dependences(program.tasks.size());
  std::vector<bool> runs(program.tasks.size(), false);
  Writers writers(program, groups, rank);
  for (const int index : tasks_of_rank(program, roles, groups, rank)) {
    const Task& task = program.tasks[index];
    dependences[index] = writers.sources(task);
    writers.add(index, dependences[index]);
    for (const int wait : task.waits) {
      const bool says_by_waits = !has_regions(task) || !has_regions(program.tasks[wait]);
      if (says_by_waits && runs[wait]) {
        dependences[index].push_back(wait);
      }
    }
    runs[index] = true;
  }
  return dependences;
}

}  // namespace moesim
