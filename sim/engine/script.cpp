#include "sim/engine/script.h"

#include <algorithm>
#include <utility>

#include "sim/base/check.h"

namespace moesim {
namespace {

// Communicators in order of first use, found by (group, stream).
class CommunicatorTable {
 public:
  explicit CommunicatorTable(const Program& program)
      : num_streams_(program.streams.size()), index_(program.groups.size() * num_streams_, kNone) {}

  int find(const Communicator& wanted) {
    int& index = index_[wanted.group * num_streams_ + wanted.stream];
    if (index == kNone) {
      index = static_cast<int>(communicators_.size());
      communicators_.push_back(wanted);
    }
    return index;
  }

  std::vector<Communicator> take() { return std::move(communicators_); }

 private:
  std::size_t num_streams_;
  std::vector<int> index_;
  std::vector<Communicator> communicators_;
};

// Writes one role's script, task by task.
class ScriptWriter {
 public:
  ScriptWriter(const Program& program, int hardware_queues, CommunicatorTable& communicators)
      : program_(program),
        hardware_queues_(hardware_queues),
        communicators_(communicators),
        position_(program.tasks.size(), kNone),
        last_on_stream_(program.streams.size(), kNone),
        queue_of_stream_(program.streams.size(), kNone),
        last_in_queue_(program.streams.size(), kNone),
        num_on_communicator_(program.groups.size() * program.streams.size()) {}

  Script write(int role) {
    for (int task = 0; task < static_cast<int>(program_.tasks.size()); ++task) {
      if (runs(program_.tasks[task], role)) {
        append(task);
      }
    }
    list_dependents();
    return std::move(script_);
  }

 private:
  void append(int task);
  void follow_stream(int stream, int position);
  void follow_queue(int stream, int position);
  void wait_for(const std::vector<int>& waits, int position);
  void join_communicator(const Task& task);
  void list_dependents();

  const Program& program_;
  int hardware_queues_;
  CommunicatorTable& communicators_;
  Script script_;
  std::vector<std::pair<int, int>> edges_;  // an end, and the task that waits for it
  std::vector<int> position_;               // by task
  std::vector<int> last_on_stream_;
  std::vector<int> queue_of_stream_;
  std::vector<int> last_in_queue_;
  std::vector<int> num_on_communicator_;
};

void ScriptWriter::append(int task_index) {
  const Task& task = program_.tasks[task_index];
  const int position = script_.size();
  position_[task_index] = position;
  script_.tasks.push_back(task_index);
  script_.passes.push_back(task.pass);
  script_.num_conditions.push_back(1);  // the launch
  script_.queue_successor.push_back(kNone);
  wait_for(task.waits, position);
  wait_for(task.order_only, position);
  if (task.stream != kNone) {
    follow_queue(task.stream, position);
    follow_stream(task.stream, position);
  }
  join_communicator(task);
}

void ScriptWriter::follow_stream(int stream, int position) {
  int& last = last_on_stream_[stream];
  if (last != kNone) {
    edges_.emplace_back(last, position);
    ++script_.num_conditions[position];
  }
  last = position;
}

// No task starts before every earlier launched task of its queue has started. The one before it in
// the queue is enough: that one did not start before those before it.
void ScriptWriter::follow_queue(int stream, int position) {
  int& queue = queue_of_stream_[stream];
  if (queue == kNone) {
    const auto used = std::count_if(
        queue_of_stream_.begin(), queue_of_stream_.end(), [](int index) { return index != kNone; });
    queue = static_cast<int>(used % hardware_queues_);
  }
  int& last = last_in_queue_[queue];
  if (last != kNone && last != last_on_stream_[stream]) {
    script_.queue_successor[last] = position;
    ++script_.num_conditions[position];
  }
  last = position;
}

void ScriptWriter::wait_for(const std::vector<int>& waits, int position) {
  const int stream = program_.tasks[script_.tasks[position]].stream;
  for (const int task : waits) {
    CHECK(task >= 0 && task < script_.tasks[position], "a wait names an earlier task");
    const int earlier = position_[task];
    const int earlier_stream = program_.tasks[task].stream;
    const bool implied = earlier_stream == kNone || earlier_stream == stream;
    if (earlier != kNone && !implied) {
      edges_.emplace_back(earlier, position);
      ++script_.num_conditions[position];
    }
  }
}

void ScriptWriter::join_communicator(const Task& task) {
  const auto* collective = std::get_if<Collective>(&task.descriptor);
  if (collective == nullptr) {
    script_.communicator.push_back(kNone);
    script_.sequence.push_back(kNone);
    return;
  }
  const int communicator = communicators_.find({collective->group, task.stream});
  script_.communicator.push_back(communicator);
  script_.sequence.push_back(num_on_communicator_[communicator]++);
}

// Sorts the edges by the end they wait for (a counting sort: launch order stays).
void ScriptWriter::list_dependents() {
  std::vector<int>& first = script_.first_dependent;
  first.assign(script_.size() + 1, 0);
  for (const auto& [end, dependent] : edges_) {
    ++first[end + 1];
  }
  for (std::size_t position = 1; position < first.size(); ++position) {
    first[position] += first[position - 1];
  }
  std::vector<int> cursor(first.begin(), first.end() - 1);
  script_.dependents.resize(edges_.size());
  for (const auto& [end, dependent] : edges_) {
    script_.dependents[cursor[end]++] = dependent;
  }
}

// Ranks without a role get the number after the last.
std::vector<int> role_of_each_rank(const Program& program) {
  const int num_roles = static_cast<int>(program.roles.size());
  std::vector<int> roles(program.num_ranks, num_roles);
  for (int role = 0; role < num_roles; ++role) {
    for (const int rank : program.roles[role].ranks) {
      roles[rank] = role;
    }
  }
  return roles;
}

std::vector<int> count_sequences(const Scripts& scripts) {
  std::vector<int> longest(scripts.communicators.size());
  for (const Script& script : scripts.scripts) {
    for (std::size_t position = 0; position < script.tasks.size(); ++position) {
      if (script.communicator[position] != kNone) {
        int& count = longest[script.communicator[position]];
        count = std::max(count, script.sequence[position] + 1);
      }
    }
  }
  return longest;
}

}  // namespace

bool runs(const Task& task, int role) {
  return task.roles.empty() ||
         std::find(task.roles.begin(), task.roles.end(), role) != task.roles.end();
}

Scripts make_scripts(const Program& program, int hardware_queues) {
  CHECK(hardware_queues >= 1);
  Scripts scripts;
  CommunicatorTable communicators(program);
  const int num_roles = static_cast<int>(program.roles.size());
  scripts.of_rank = role_of_each_rank(program);
  scripts.scripts.resize(num_roles + 1);
  for (int role = 0; role <= num_roles; ++role) {
    const auto& used = scripts.of_rank;
    if (std::find(used.begin(), used.end(), role) != used.end()) {
      scripts.scripts[role] = ScriptWriter(program, hardware_queues, communicators).write(role);
    }
  }
  scripts.communicators = communicators.take();
  scripts.num_sequences = count_sequences(scripts);
  return scripts;
}

}  // namespace moesim
