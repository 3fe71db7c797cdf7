#include "sim/engine/workload.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/collective/cost_curve.h"

namespace moesim {
namespace {

// Uses [first, end) of Workload::link_uses by a class of instances, and the most seconds of any.
struct UseRange {
  int first = 0;
  int end = 0;
  double most_seconds = 0;
};

// Fills a Workload rank by rank.
class WorkloadWriter {
 public:
  WorkloadWriter(Workload& workload, const LinkPatterns& links, TaskCosts& costs)
      : workload_(workload), program_(costs.program()), links_(links), costs_(costs) {}

  void write() {
    number_collectives();
    number_phases();
    reserve();
    for (int rank = 0; rank < workload_.num_ranks(); ++rank) {
      workload_.first_slot.push_back(static_cast<int>(workload_.slots.size()));
      add_slots(rank);
    }
    workload_.first_slot.push_back(static_cast<int>(workload_.slots.size()));
    place_participants();
    place_link_uses();
    find_times_alone();
  }

 private:
  void number_collectives();
  void number_phases();
  void reserve();
  void add_slots(int rank);
  Slot make_slot(const Task& task, int rank, int position);
  int num_phases(const Task& task) const;
  bool joins(const Task& task, int rank) const;
  int load_index(const CollectiveLoad& load);
  int collective_of(const Communicator& communicator, int rank, int position) const;
  void place_participants();
  void place_link_uses();
  std::vector<UseRange> add_link_uses(const LinkPatterns::Pattern& pattern);
  void place_link_uses(JointCollective& collective,
                       const std::vector<std::vector<UseRange>>& ranges) const;
  void find_times_alone();

  Workload& workload_;
  const Program& program_;
  const LinkPatterns& links_;
  TaskCosts& costs_;
  int first_load_of_rank_ = 0;
  std::vector<int> first_collective_;                // by communicator
  std::vector<std::pair<int, Participant>> joined_;  // collective; by rank, then launch order
};

// The k-th collectives on a communicator are numbered by k, then by class of instances.
void WorkloadWriter::number_collectives() {
  const Scripts& scripts = workload_.scripts;
  for (std::size_t i = 0; i < scripts.communicators.size(); ++i) {
    first_collective_.push_back(static_cast<int>(workload_.collectives.size()));
    const InstanceClasses& instances = workload_.classes.groups[scripts.communicators[i].group];
    for (int sequence = 0; sequence < scripts.num_sequences[i]; ++sequence) {
      for (const std::vector<int>& rank_classes : instances.rank_classes) {
        workload_.collectives.push_back({.num_awaited = static_cast<int>(rank_classes.size())});
      }
    }
  }
}

// All ranks of a collective have as many phases: those of whoever comes to it first count.
void WorkloadWriter::number_phases() {
  std::vector<JointCollective>& collectives = workload_.collectives;
  for (int rank = 0; rank < workload_.num_ranks(); ++rank) {
    const Script& script = workload_.script(rank);
    for (int position = 0; position < script.size(); ++position) {
      const Task& task = program_.tasks[script.tasks[position]];
      if (num_phases(task) == 1 || !joins(task, rank)) {
        continue;
      }
      const auto& collective = std::get<Collective>(task.descriptor);
      int at = collective_of({collective.group, task.stream}, rank, position);
      if (collectives[at].next != kNone) {
        continue;
      }
      for (int phase = 1; phase < num_phases(task); ++phase) {
        const int next = static_cast<int>(collectives.size());
        collectives[at].next = next;
        collectives.push_back({.phase = phase});
        at = next;
      }
    }
  }
  collectives.emplace_back();
}

int WorkloadWriter::num_phases(const Task& task) const {
  return std::holds_alternative<Collective>(task.descriptor) ? costs_.num_phases(task) : 1;
}

// Whether the rank has others to meet in a collective.
bool WorkloadWriter::joins(const Task& task, int rank) const {
  const auto* collective = std::get_if<Collective>(&task.descriptor);
  if (collective == nullptr) {
    return false;
  }
  const int instance =
      costs_.groups().instance(collective->group, workload_.classes.ranks[rank].representative);
  return instance != kNone && program_.groups[collective->group].members[instance].size() > 1;
}

// A thousand ranks have millions of slots: vectors that grow by doubling would hold twice that.
void WorkloadWriter::reserve() {
  std::size_t num_slots = 0;
  std::size_t num_joins = 0;
  for (int rank = 0; rank < workload_.num_ranks(); ++rank) {
    const Script& script = workload_.script(rank);
    num_slots += script.tasks.size();
    num_joins +=
        script.tasks.size() - static_cast<std::size_t>(std::count(
                                  script.communicator.begin(), script.communicator.end(), kNone));
  }
  workload_.slots.reserve(num_slots);
  joined_.reserve(num_joins);
}

void WorkloadWriter::add_slots(int rank) {
  const Script& script = workload_.script(rank);
  first_load_of_rank_ = static_cast<int>(workload_.loads.size());
  for (int position = 0; position < script.size(); ++position) {
    const Task& task = program_.tasks[script.tasks[position]];
    workload_.slots.push_back(make_slot(task, rank, position));
  }
}

Slot WorkloadWriter::make_slot(const Task& task, int rank, int position) {
  const int representative = workload_.classes.ranks[rank].representative;
  Slot slot;
  slot.rank = rank;
  const auto* collective = std::get_if<Collective>(&task.descriptor);
  if (collective == nullptr) {
    slot.duration = costs_.duration(task, representative);
    slot.action =
        std::holds_alternative<HostWait>(task.descriptor) ? Action::kHostWait : Action::kWork;
    return slot;
  }
  slot.action = Action::kSkip;
  if (joins(task, rank)) {
    slot.action = Action::kJoin;
    slot.collective = collective_of({collective->group, task.stream}, rank, position);
    int at = slot.collective;
    for (int phase = 0; phase < num_phases(task) && at != kNone; ++phase) {
      joined_.emplace_back(
          at,
          Participant{.slot = static_cast<int>(workload_.slots.size()),
                      .load = load_index(costs_.load(task, representative, phase))});
      at = workload_.collectives[at].next;
    }
  }
  return slot;
}

// Among the last of the rank that is being added: layers come back to the same few.
int WorkloadWriter::load_index(const CollectiveLoad& load) {
  std::vector<CollectiveLoad>& loads = workload_.loads;
  constexpr int kSearched = 64;
  const auto count = static_cast<int>(loads.size());
  const auto first = loads.begin() + std::max(first_load_of_rank_, count - kSearched);
  const auto found = std::find(first, loads.end(), load);
  const auto index = static_cast<int>(found - loads.begin());
  if (found == loads.end()) {
    loads.push_back(load);
  }
  return index;
}

int WorkloadWriter::collective_of(const Communicator& communicator, int rank, int position) const {
  const Script& script = workload_.script(rank);
  const InstanceClasses& instances = workload_.classes.groups[communicator.group];
  const int representative = workload_.classes.ranks[rank].representative;
  const int instance = costs_.groups().instance(communicator.group, representative);
  return first_collective_[script.communicator[position]] +
         script.sequence[position] * static_cast<int>(instances.rank_classes.size()) +
         instances.of_instance[instance];
}

// Sorts the participants by collective (a counting sort: rank order stays).
void WorkloadWriter::place_participants() {
  std::vector<JointCollective>& collectives = workload_.collectives;
  for (const auto& [collective, participant] : joined_) {
    ++collectives[collective + 1].first_participant;
    collectives[collective].startup =
        std::max(collectives[collective].startup, workload_.load(participant).startup);
  }
  std::vector<int> cursor(collectives.size());
  for (std::size_t i = 1; i < collectives.size(); ++i) {
    collectives[i].first_participant += collectives[i - 1].first_participant;
    cursor[i] = collectives[i].first_participant;
  }
  workload_.participants.resize(joined_.size());
  for (const auto& [collective, participant] : joined_) {
    workload_.participants[cursor[collective]++] = participant;
  }
}

// By class of instances.
std::vector<UseRange> WorkloadWriter::add_link_uses(const LinkPatterns::Pattern& pattern) {
  const InstanceClasses& instances = workload_.classes.groups[pattern.group];
  // By class: how many instances of it put a load on the representative of a class of media.
  std::vector<std::map<std::pair<int, double>, int>> users(instances.rank_classes.size());
  for (std::size_t i = 0; i < pattern.loads->of_instance.size(); ++i) {
    for (const MediumLoad& load : pattern.loads->of_instance[i]) {
      const int link = workload_.classes.of_medium[load.medium];
      if (workload_.classes.media[link] == load.medium) {
        ++users[instances.of_instance[i]][{link, load.seconds}];
      }
    }
  }
  std::vector<UseRange> ranges;
  for (const auto& of_class : users) {
    UseRange& range = ranges.emplace_back();
    range.first = static_cast<int>(workload_.link_uses.size());
    for (const auto& [use, count] : of_class) {
      workload_.link_uses.push_back({use.first, count, use.second});
      range.most_seconds = std::max(range.most_seconds, use.second);
    }
    range.end = static_cast<int>(workload_.link_uses.size());
  }
  return ranges;
}

void WorkloadWriter::place_link_uses() {
  if (links_.patterns.empty()) {
    return;
  }
  std::vector<std::vector<UseRange>> ranges;
  for (const LinkPatterns::Pattern& pattern : links_.patterns) {
    ranges.push_back(add_link_uses(pattern));
  }
  for (int i = 0; i < workload_.num_collectives(); ++i) {
    JointCollective& collective = workload_.collectives[i];
    if (collective.first_participant < workload_.collectives[i + 1].first_participant) {
      place_link_uses(collective, ranges);
    }
  }
}

// All participants of a collective have the same task's loads: those of the first count.
void WorkloadWriter::place_link_uses(JointCollective& joint,
                                     const std::vector<std::vector<UseRange>>& ranges) const {
  const Participant& first = workload_.participants[joint.first_participant];
  const Slot& slot = workload_.slots[first.slot];
  const int position = first.slot - workload_.first_slot[slot.rank];
  const int task = workload_.script(slot.rank).tasks[position];
  const auto& collective = std::get<Collective>(program_.tasks[task].descriptor);
  const int instance =
      costs_.groups().instance(collective.group, workload_.classes.ranks[slot.rank].representative);
  const int of_class = workload_.classes.groups[collective.group].of_instance[instance];
  const int pattern = links_.of_task[task][static_cast<std::size_t>(joint.phase)];
  const UseRange& range = ranges[pattern][of_class];
  joint.first_link_use = range.first;
  joint.end_link_use = range.end;
  joint.weight = workload_.load(first).weight;
  joint.link_scale = links_.patterns[pattern].per_byte ? static_cast<double>(collective.bytes) : 1;
  // Rounding keeps order: the longest load of all is that of the most seconds.
  joint.alone = checked_time(range.most_seconds * joint.link_scale, program_.tasks[task].name);
}

void WorkloadWriter::find_times_alone() {
  for (int i = 0; i < workload_.num_collectives(); ++i) {
    JointCollective& joint = workload_.collectives[i];
    const JointCollective& next = workload_.collectives[i + 1];
    for (int k = joint.first_participant; k < next.first_participant; ++k) {
      const CollectiveLoad& load = workload_.load(workload_.participants[k]);
      joint.alone = std::max(joint.alone, load.alone() - load.startup);
    }
  }
}

}  // namespace

Workload make_workload(Scripts scripts,
                       Classes classes,
                       const LinkPatterns& links,
                       TaskCosts& costs) {
  Workload workload;
  workload.scripts = std::move(scripts);
  workload.classes = std::move(classes);
  WorkloadWriter(workload, links, costs).write();
  return workload;
}

}  // namespace moesim
