#include "sim/analysis/memory.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "sim/base/check.h"
#include "sim/program/overlap.h"

namespace moesim {
namespace {

enum class Purpose { kWeight, kGradient, kOptimizer, kActivation };

// gate, expert and attention read the layer's data first and their weights after it, forward.
bool reads_weights(const Task& task) {
  const bool has_weights = std::holds_alternative<Gate>(task.descriptor) ||
                           std::holds_alternative<Expert>(task.descriptor) ||
                           std::holds_alternative<Attention>(task.descriptor);
  return has_weights && task.pass == Pass::kForward;
}

// What each tensor is for, told by who uses it.
std::vector<Purpose> purposes(const Program& program) {
  struct Users {
    bool weights = false;  // read where an operation has its weights
    bool update_reads = false;
    bool update_writes = false;
    bool others = false;           // of another pass
    bool backward_result = false;  // written by a backward task and not read since
  };
  std::vector<Users> users(program.tensors.size());
  for (const Task& task : program.tasks) {
    const bool updates = task.pass == Pass::kUpdate;
    for (std::size_t i = 0; i < task.reads.size(); ++i) {
      Users& user = users[task.reads[i].tensor];
      user.weights = user.weights || (i > 0 && reads_weights(task));
      user.update_reads = user.update_reads || updates;
      user.others = user.others || !updates;
      user.backward_result = false;
    }
    for (const Region& region : task.writes) {
      Users& user = users[region.tensor];
      user.update_writes = user.update_writes || updates;
      user.others = user.others || !updates;
      user.backward_result = task.pass == Pass::kBackward;
    }
  }
  std::vector<Purpose> result;
  for (std::size_t i = 0; i < users.size(); ++i) {
    const Users& user = users[i];
    const bool input = program.tensors[i].input;
    if (input && (user.update_reads || user.update_writes) && !user.others) {
      result.push_back(Purpose::kOptimizer);
    } else if (input && (user.weights || user.update_writes)) {
      result.push_back(Purpose::kWeight);
    } else if (!input && (user.update_reads || user.backward_result)) {
      result.push_back(Purpose::kGradient);
    } else {
      result.push_back(Purpose::kActivation);
    }
  }
  return result;
}

// Tensors that only the task that writes them has a use for: it also writes something that a later
// task reads, and they are no declared part of a global tensor. So the activations that a layer
// does not keep because it recomputes them, or the gradient of keys and values.
std::vector<bool> workspaces(const Program& program) {
  std::vector<int> last_reader(program.tensors.size(), kNone);
  for (int task = 0; task < static_cast<int>(program.tasks.size()); ++task) {
    for (const Region& region : program.tasks[task].reads) {
      last_reader[region.tensor] = task;
    }
  }
  std::vector<bool> result(program.tensors.size(), false);
  for (int task = 0; task < static_cast<int>(program.tasks.size()); ++task) {
    const std::vector<Region>& writes = program.tasks[task].writes;
    const auto needed = [&](const Region& region) { return last_reader[region.tensor] > task; };
    if (std::any_of(writes.begin(), writes.end(), needed)) {
      for (const Region& region : writes) {
        result[region.tensor] = !needed(region) && program.tensors[region.tensor].placement.empty();
      }
    }
  }
  return result;
}

// A moment of one rank. Equal times are ordered by task, and a task has its outputs before it gives
// up its inputs.
struct Moment {
  Time time;
  int task = kNone;
  bool frees = false;

  friend auto operator<=>(const Moment&, const Moment&) = default;
};

// Spans come by start, then task.
struct LiveRange {
  bool used = false;
  Moment first_use;
  Moment last_use;
  bool last_use_writes = false;

  void add(const TaskSpan& span, bool writes) {
    const Moment end = {span.end, span.task, true};
    if (!used) {
      used = true;
      first_use = {span.start, span.task, false};
      last_use = end;
      last_use_writes = writes;
    } else if (end >= last_use) {
      last_use_writes = writes || (end == last_use && last_use_writes);
      last_use = end;
    }
  }
};

// A region that a task uses.
struct Operand {
  const Region* region = nullptr;
  Use use = Use::kRead;
  bool may_be_void = false;  // on some ranks: of a SHIFT
};

using TaskOperands = std::vector<std::vector<Operand>>;  // [task]

TaskOperands operands_of(const Program& program) {
  TaskOperands operands(program.tasks.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Task& task = program.tasks[i];
    const auto* collective = std::get_if<Collective>(&task.descriptor);
    const bool shifts =
        collective != nullptr && collective->operation == CollectiveOperation::kShift;
    for (const Region& region : task.reads) {
      operands[i].push_back({&region, Use::kRead, shifts});
    }
    for (const Region& region : task.writes) {
      operands[i].push_back({&region, Use::kWrite, shifts});
    }
  }
  return operands;
}

// Of a SHIFT that does not wrap, the rank that sends has no use for what the other one writes.
bool is_void(const Program& program,
             const GroupTable& groups,
             const TaskSpan& span,
             const Operand& operand) {
  const std::vector<int> rank{span.rank};
  const auto where =
      make_footprint(program, groups, program.tasks[span.task], *operand.region, operand.use);
  return !where || !within({program, groups, rank}, *where);
}

// What is the same for all ranks.
struct Common {
  const Program& program;
  GroupTable groups;
  std::vector<Purpose> purpose;  // by tensor
  std::vector<bool> workspace;   // by tensor
  TaskOperands operands;
};

Common make_common(const Program& program) {
  GroupTable groups;
  groups.update(program);
  return {program, std::move(groups), purposes(program), workspaces(program), operands_of(program)};
}

std::vector<LiveRange> live_ranges(const Common& common, const std::vector<TaskSpan>& spans) {
  std::vector<LiveRange> ranges(common.program.tensors.size());
  for (const TaskSpan& span : spans) {
    for (const Operand& operand : common.operands[span.task]) {
      if (!operand.may_be_void || !is_void(common.program, common.groups, span, operand)) {
        ranges[operand.region->tensor].add(span, operand.use == Use::kWrite);
      }
    }
  }
  return ranges;
}

int64_t& bytes_for(Purpose purpose, MemoryUse& use) {
  switch (purpose) {
    case Purpose::kWeight:
      return use.weight_bytes;
    case Purpose::kGradient:
      return use.gradient_bytes;
    case Purpose::kOptimizer:
      return use.optimizer_bytes;
    case Purpose::kActivation:
      break;
  }
  return use.activation_bytes;
}

// The fullest moment of one rank, from its spans.
MemoryUse use_of_rank(const Common& common, const std::vector<TaskSpan>& spans) {
  const std::vector<Tensor>& tensors = common.program.tensors;
  MemoryUse now;
  std::vector<std::pair<Moment, int>> changes;  // what is allocated or freed: a tensor
  const std::vector<LiveRange> ranges = live_ranges(common, spans);
  for (int tensor = 0; tensor < static_cast<int>(ranges.size()); ++tensor) {
    const LiveRange& range = ranges[tensor];
    if (range.used && tensors[tensor].input) {
      bytes_for(common.purpose[tensor], now) += tensors[tensor].bytes();
      now.peak_bytes += tensors[tensor].bytes();
    } else if (range.used) {
      changes.emplace_back(range.first_use, tensor);
      if (!range.last_use_writes || common.workspace[tensor]) {
        changes.emplace_back(range.last_use, tensor);
      }
    }
  }
  std::sort(changes.begin(), changes.end());
  MemoryUse peak = now;
  for (const auto& [moment, tensor] : changes) {
    const int64_t bytes = tensors[tensor].bytes() * (moment.frees ? -1 : 1);
    bytes_for(common.purpose[tensor], now) += bytes;
    now.peak_bytes += bytes;
    if (now.peak_bytes > peak.peak_bytes) {
      peak = now;
    }
  }
  return peak;
}

// Which spans each rank has, in their order: those of rank r are spans[first[r]] and on.
struct SpansByRank {
  std::vector<std::size_t> first;
  std::vector<int> spans;
};

SpansByRank by_rank(const Program& program, const Trace& trace) {
  SpansByRank result{std::vector<std::size_t>(program.num_ranks + 1),
                     std::vector<int>(trace.spans.size())};
  for (const TaskSpan& span : trace.spans) {
    ++result.first.at(span.rank + 1);
  }
  std::partial_sum(result.first.begin(), result.first.end(), result.first.begin());
  std::vector<std::size_t> next(result.first.begin(), result.first.end() - 1);
  for (int i = 0; i < static_cast<int>(trace.spans.size()); ++i) {
    result.spans[next[trace.spans[i].rank]++] = i;
  }
  return result;
}

}  // namespace

MemoryUse memory_use(const Program& program, const Trace& trace) {
  CHECK(!trace.spans.empty() || trace.end == Time::zero(), "the trace was made without spans");
  const Common common = make_common(program);
  const SpansByRank of_rank = by_rank(program, trace);
  MemoryUse fullest;
  std::vector<TaskSpan> spans;  // of one rank
  for (int rank = 0; rank < program.num_ranks; ++rank) {
    // Copied together: they lie far apart in the trace, and would be waited for one by one.
    spans.clear();
    for (std::size_t i = of_rank.first[rank]; i < of_rank.first[rank + 1]; ++i) {
      spans.push_back(trace.spans[of_rank.spans[i]]);
    }
    const MemoryUse use = use_of_rank(common, spans);
    if (use.peak_bytes > fullest.peak_bytes) {
      fullest = use;
    }
  }
  return fullest;
}

}  // namespace moesim
