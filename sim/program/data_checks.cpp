// Races, unwritten reads and double writes: the task's regions against the accesses before it.
#include <algorithm>

#include <fmt/format.h>

#include "sim/program/dependences.h"
#include "sim/program/problems.h"

namespace moesim {
namespace {

std::string rows_text(const Program& program, const Region& region) {
  return fmt::format("rows [{}, {}) of tensor '{}'",
                     region.first_row,
                     region.first_row + region.num_rows,
                     program.tensors[region.tensor].name);
}

class DataChecks {
 public:
  DataChecks(const Program& program, Problems& problems)
      : program_(program), problems_(problems), dependences_(program) {}

  void check(int index) {
    const Task& task = program_.tasks[index];
    for (const int role : dependences_.roles().running(task)) {
      for (const Region& region : task.reads) {
        check_read(index, region, role);
      }
      for (const Region& region : task.writes) {
        check_write(index, region, role);
      }
    }
    for (const MissingWait& missing : dependences_.add(program_, task, task.waits, {})) {
      problems_.add(ProblemKind::kRace,
                    {missing.earlier, index},
                    missing.tensor,
                    fmt::format("race on tensor '{}': task {} must wait for task {}{}",
                                program_.tensors[missing.tensor].name,
                                problems_.name(index),
                                problems_.name(missing.earlier),
                                dependences_.roles().where(program_, missing.role)));
    }
  }

 private:
  void check_read(int index, const Region& region, int role) {
    if (program_.tensors[region.tensor].input) {
      return;
    }
    const auto where =
        dependences_.footprint(program_, program_.tasks[index], region, Use::kRead, role);
    if (where && !is_written(*where, role)) {
      problems_.add(ProblemKind::kUnwrittenRead,
                    {index},
                    region.tensor,
                    fmt::format("task {} reads {}, of which no earlier task has written some{}",
                                problems_.name(index),
                                rows_text(program_, region),
                                dependences_.roles().where(program_, role)));
    }
  }

  bool is_written(const Footprint& where, int role) {
    const RankView view = dependences_.view(program_, role);
    std::vector<const Footprint*> parts;
    for (const Access* access : dependences_.accesses(role, where.tensor).near(where)) {
      if (access->writes && covers(view, access->where, where)) {
        return true;
      }
      if (access->writes && overlap(view, access->where, where)) {
        parts.push_back(&access->where);
      }
    }
    return cover_together(view, parts, where);
  }

  void check_write(int index, const Region& region, int role) {
    const auto where =
        dependences_.footprint(program_, program_.tasks[index], region, Use::kWrite, role);
    if (!where || accumulates(index, region, *where, role)) {
      return;
    }
    if (program_.tensors[region.tensor].input) {
      report_second_write(index, region, "which is an input", {index}, role);
      return;
    }
    const RankView view = dependences_.view(program_, role);
    for (const Access* access : dependences_.accesses(role, region.tensor).near(*where)) {
      if (access->writes && overlap(view, access->where, *where)) {
        report_second_write(index,
                            region,
                            "some of which " + problems_.name(access->task) + " has written",
                            {access->task, index},
                            role);
      }
    }
  }

  // What stands among the reads is added to, even where the rank's own read is void: the root of
  // a BROADCAST in place reads for all.
  bool accumulates(int index, const Region& region, const Footprint& where, int role) const {
    const Task& task = program_.tasks[index];
    return std::any_of(task.reads.begin(), task.reads.end(), [&](const Region& read) {
      auto read_where =
          read.tensor == region.tensor
              ? make_footprint(program_, dependences_.groups(), task, read, Use::kRead)
              : std::nullopt;
      if (!read_where) {
        return false;
      }
      read_where->presence = {};
      return covers(dependences_.view(program_, role), *read_where, where);
    });
  }

  void report_second_write(
      int index, const Region& region, const std::string& by, std::vector<int> tasks, int role) {
    problems_.add(ProblemKind::kDoubleWrite,
                  std::move(tasks),
                  region.tensor,
                  fmt::format("task {} writes {}, {}{}; to add to them, it must read them too",
                              problems_.name(index),
                              rows_text(program_, region),
                              by,
                              dependences_.roles().where(program_, role)));
  }

  const Program& program_;
  Problems& problems_;
  Dependences dependences_;
};

}  // namespace

void check_data(const Program& program, Problems& problems) {
  DataChecks checks(program, problems);
  for (int task = 0; task < static_cast<int>(program.tasks.size()) && !problems.full(); ++task) {
    checks.check(task);
  }
}

}  // namespace moesim
