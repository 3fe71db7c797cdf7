// Head-of-line blocking: in a hardware queue, no task starts before every earlier launched one has.
#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sim/program/happens_before.h"
#include "sim/program/problems.h"
#include "sim/program/role_table.h"

namespace moesim {
namespace {

class HeadOfLine {
 public:
  HeadOfLine(const Program& program, int hardware_queues)
      : program_(program),
        num_streams_(static_cast<int>(program.streams.size())),
        hardware_queues_(hardware_queues) {}

  void check_role(const RoleTable& roles, int role) {
    HappensBefore order;
    std::vector<int> last(num_streams_, kNone);
    for (int index = 0; index < static_cast<int>(program_.tasks.size()); ++index) {
      const Task& task = program_.tasks[index];
      const std::vector<int>& running = roles.running(task);
      if (std::find(running.begin(), running.end(), role) == running.end()) {
        continue;
      }
      order.begin(index, task.stream);
      for (const std::vector<int>* waits : {&task.waits, &task.order_only}) {
        for (const int wait : *waits) {
          order.wait_for(wait);
        }
      }
      order.finish();
      if (task.stream == kNone) {
        continue;
      }
      for (int stream = task.stream % hardware_queues_; stream < num_streams_;
           stream += hardware_queues_) {
        if (stream != task.stream && last[stream] != kNone) {
          compare(order, last[stream], index);
        }
      }
      last[task.stream] = index;
    }
  }

  std::vector<std::string> take() && { return std::move(warnings_); }

 private:
  // `ahead` was launched first: does it wait for something that `behind` does not?
  void compare(HappensBefore& order, int ahead, int behind) {
    const int ahead_stream = program_.tasks[ahead].stream;
    const int behind_stream = program_.tasks[behind].stream;
    const std::pair<int, int> pair = std::minmax(ahead_stream, behind_stream);
    if (warned_.contains(pair)) {
      return;
    }
    const int blocker = order.waits_beyond(ahead, behind);
    if (blocker == kNone) {
      return;
    }
    warned_.insert(pair);
    warnings_.push_back(fmt::format(
        "head-of-line blocking: streams '{}' and '{}' share {}, so '{}' cannot start before '{}', "
        "launched earlier, which waits for '{}'",
        program_.streams[ahead_stream],
        program_.streams[behind_stream],
        hardware_queues_ == 1 ? "the only hardware queue"
                              : fmt::format("one of {} hardware queues", hardware_queues_),
        program_.tasks[behind].name,
        program_.tasks[ahead].name,
        program_.tasks[blocker].name));
  }

  const Program& program_;
  int num_streams_;
  int hardware_queues_;
  std::set<std::pair<int, int>> warned_;
  std::vector<std::string> warnings_;
};

}  // namespace

std::vector<std::string> head_of_line_warnings(const Program& program, int hardware_queues) {
  if (hardware_queues >= static_cast<int>(program.streams.size())) {
    return {};
  }
  const RoleTable roles(program);
  HeadOfLine check(program, hardware_queues);
  for (int role = 0; role < roles.size(); ++role) {
    check.check_role(roles, role);
  }
  return std::move(check).take();
}

}  // namespace moesim
