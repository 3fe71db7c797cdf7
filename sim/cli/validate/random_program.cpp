#include "sim/cli/validate/random_program.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/random.h"

namespace moesim::validation {
namespace {

constexpr int kWorld = 0;  // the group of all ranks

class Maker {
 public:
  Maker(std::uint64_t seed, int index) : random_(seed, static_cast<std::uint64_t>(index)) {}

  RandomProgram make() {
    const bool one_queue = chance(2);
    made_.hardware_queues = one_queue ? 1 : kDefaultHardwareQueues;
    made_.launch_overhead = Time::from_picoseconds(chance(2) ? 0 : draw(1, 40));
    Program& program = made_.program;
    program.name = "random";
    program.num_ranks = draw(1, 4);
    add_ranks(program);
    const int num_streams = draw(1, 6);
    for (int stream = 0; stream < num_streams; ++stream) {
      program.streams.push_back("stream" + std::to_string(stream));
    }
    const int num_tasks = draw(1, 60);
    for (int task = 0; task < num_tasks; ++task) {
      add_task(program);
    }
    return std::move(made_);
  }

 private:
  int draw(int first, int last) { return static_cast<int>(random_.uniform_int(first, last)); }
  bool chance(int one_in) { return draw(1, one_in) == 1; }

  // Roles may leave ranks over: those run only tasks for all.
  void add_ranks(Program& program) {
    std::vector<int> ranks(static_cast<std::size_t>(program.num_ranks));
    std::iota(ranks.begin(), ranks.end(), 0);
    program.groups.push_back({"world", {ranks}});
    if (chance(2)) {
      for (int rank = 0; rank < program.num_ranks; ++rank) {
        program.rank_scale.push_back(random_.uniform(0.5, 2));
      }
    }
    if (chance(2)) {
      const auto cut = ranks.begin() + draw(1, program.num_ranks);
      program.roles.push_back({"first", {ranks.begin(), cut}});
      if (cut != ranks.end()) {
        program.roles.push_back({"second", {cut, ranks.end()}});
      }
    }
  }

  void add_task(Program& program) {
    const int index = static_cast<int>(program.tasks.size());
    Task task;
    task.name = "task" + std::to_string(index);
    task.waits = earlier_tasks(index, draw(0, 3));
    task.order_only = chance(4) ? earlier_tasks(index, 1) : std::vector<int>();
    if (chance(12)) {
      task.descriptor = HostWait{};
    } else {
      task.stream = draw(0, static_cast<int>(program.streams.size()) - 1);
      if (chance(6)) {
        task.descriptor = Collective{CollectiveOperation::kAllReduce, kWorld};
      } else {
        task.descriptor = Fixed{duration()};
        if (!program.roles.empty() && chance(3)) {
          task.roles = {draw(0, static_cast<int>(program.roles.size()) - 1)};
        }
      }
    }
    program.tasks.push_back(std::move(task));
  }

  Time duration() {
    constexpr int kLong = 1'000'000;
    return Time::from_picoseconds(chance(3) ? 10 * draw(0, 4) : draw(0, kLong));
  }

  std::vector<int> earlier_tasks(int index, int count) {
    std::vector<int> tasks;
    for (int i = 0; i < count && index > 0; ++i) {
      tasks.push_back(draw(0, index - 1));
    }
    std::sort(tasks.begin(), tasks.end());
    tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
    return tasks;
  }

  Random random_;
  RandomProgram made_;
};

}  // namespace

RandomProgram random_program(std::uint64_t seed, int index) {
  return Maker(seed, index).make();
}

}  // namespace moesim::validation
