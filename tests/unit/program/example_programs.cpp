#include "tests/unit/program/example_programs.h"

#include <utility>

#include "sim/base/check.h"

namespace moesim::testing {

AppendixGroups add_appendix_groups(ProgramBuilder& builder) {
  AppendixGroups groups;
  groups.mp = builder.add_group({"mp", {{0, 1}, {2, 3}}});
  groups.esp = builder.add_group({"esp", {{0, 1}, {2, 3}}});
  groups.ep = builder.add_group({"ep", {{0, 2}, {1, 3}}});
  groups.ep_esp = builder.add_group({"ep_esp", {{0, 1, 2, 3}}});
  return groups;
}

Task fixed_task(std::string name,
                int stream,
                std::vector<Region> reads,
                std::vector<Region> writes) {
  Task task;
  task.name = std::move(name);
  task.stream = stream;
  task.descriptor = Fixed{Time::from_picoseconds(1)};
  task.reads = std::move(reads);
  task.writes = std::move(writes);
  return task;
}

Task collective_task(std::string name,
                     int stream,
                     const Collective& collective,
                     std::vector<Region> reads,
                     std::vector<Region> writes) {
  Task task = fixed_task(std::move(name), stream, std::move(reads), std::move(writes));
  task.descriptor = collective;
  return task;
}

int task_named(const Program& program, const std::string& name) {
  for (int task = 0; task < static_cast<int>(program.tasks.size()); ++task) {
    if (program.tasks[task].name == name) {
      return task;
    }
  }
  CHECK(false, "no task '{}'", name);
  return kNone;
}

}  // namespace moesim::testing
