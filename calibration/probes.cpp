#include "calibration/probes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.h"
#include "sim/program/builder.h"
#include "sim/schedule/schedule.h"

namespace moesim {
namespace {

// Elements of a row of a collective's buffer.
constexpr int kColumns = 64;

const char* span_name(Span span) {
  switch (span) {
    case Span::kNode:
      return "within nodes";
    case Span::kFabric:
      return "between nodes";
    case Span::kBoth:
      return "over nodes and GPUs";
  }
  return "";
}

// Rows that the members read and write for one in which every rank's buffer has `rows`.
struct BufferRows {
  int read = 0;
  int written = 0;
};

BufferRows buffer_rows(CollectiveOperation operation, int rows, int members) {
  switch (operation) {
    case CollectiveOperation::kAllGather:
      return {rows / members, rows};
    case CollectiveOperation::kReduceScatter:
      return {rows, rows / members};
    case CollectiveOperation::kAllReduce:
    case CollectiveOperation::kAllToAll:
    case CollectiveOperation::kShift:
    case CollectiveOperation::kBroadcast:
      return {rows, rows};
  }
  return {};
}

// Builds Programs of collectives over one group.
class CollectiveProbe {
 public:
  CollectiveProbe(const Cluster& cluster, Span span)
      : builder_("probe", cluster.num_gpus()), group_(span_group(cluster, span)) {
    CHECK(!group_.members.empty(), "cluster '{}' has no such group", cluster.name);
    group_index_ = builder_.add_group(group_);
  }

  int members() const { return static_cast<int>(group_.members.front().size()); }

  // Appends a collective of at least so many bytes; `after` is a task it waits for, or kNone.
  int add(CollectiveOperation operation, int64_t bytes, const char* stream, int after) {
    const int64_t granule = int64_t{kColumns} * size_of(DataType::kFp32) * members();
    const auto rows = static_cast<int>((bytes + granule - 1) / granule * members());
    const BufferRows sizes = buffer_rows(operation, rows, members());
    Collective collective;
    collective.operation = operation;
    collective.group = group_index_;
    collective.distance = operation == CollectiveOperation::kShift ? 1 : 0;
    collective.wrap = operation == CollectiveOperation::kShift;
    Task task;
    task.name = fmt::format("collective{}", num_tasks_++);
    task.descriptor = collective;
    task.stream = builder_.stream(stream);
    task.reads = {builder_.all(add_tensor(sizes.read, true))};
    task.writes = {builder_.all(add_tensor(sizes.written, false))};
    if (after != kNone) {
      task.order_only = {after};
    }
    return builder_.add_task(std::move(task));
  }

  Program build() && { return std::move(builder_).build(); }

 private:
  int add_tensor(int rows, bool input) {
    Tensor tensor;
    tensor.name = fmt::format("{}{}", input ? "from" : "to", num_tasks_);
    tensor.rows = rows;
    tensor.columns = kColumns;
    tensor.input = input;
    tensor.seed = num_tasks_;
    return builder_.add_tensor(std::move(tensor));
  }

  ProgramBuilder builder_;
  Group group_;
  int group_index_ = kNone;
  int num_tasks_ = 0;
};

Scenario with_sequence(const Scenario& scenario, double share) {
  Scenario smaller = scenario;
  smaller.model.layers = 1;
  // Every buffer is full then: the work of a task follows from its regions.
  smaller.routing = {};
  smaller.model.capacity_factor = scenario.model.capacity_factor.value_or(1);
  // A sequence that every mp member gets an equal slice of.
  const int step = scenario.parallel.mp;
  const auto steps = static_cast<int>(std::lround(scenario.model.sequence * share / step));
  smaller.model.sequence = std::max(1, steps) * step;
  return smaller;
}

// The Program has the probe's name too: errors name it.
Probe named(std::string name, Program program) {
  program.name = name;
  return {std::move(name), std::move(program)};
}

}  // namespace

Group span_group(const Cluster& cluster, Span span) {
  Group group;
  group.name = "members";
  const int per_node = cluster.gpus_per_node;
  const auto add = [&group](int first, int step, int count) {
    std::vector<int>& members = group.members.emplace_back();
    for (int i = 0; i < count; ++i) {
      members.push_back(first + i * step);
    }
  };
  if (span == Span::kNode && per_node > 1) {
    for (int node = 0; node < cluster.num_nodes; ++node) {
      add(node * per_node, 1, per_node);
    }
  } else if (span == Span::kFabric && cluster.num_nodes > 1) {
    for (int gpu = 0; gpu < per_node; ++gpu) {
      add(gpu, per_node, cluster.num_nodes);
    }
  } else if (span == Span::kBoth && per_node > 1 && cluster.num_nodes > 1) {
    add(0, 1, cluster.num_gpus());
  }
  return group;
}

Probe collective_probe(const Cluster& cluster,
                       CollectiveOperation operation,
                       Span span,
                       const std::vector<int64_t>& bytes) {
  CollectiveProbe probe(cluster, span);
  for (const int64_t size : bytes) {
    probe.add(operation, size, "communication", kNone);
  }
  return named(fmt::format("{} {}", to_string(operation), span_name(span)),
               std::move(probe).build());
}

Probe paired_probe(const Cluster& cluster, Span span, int64_t bytes) {
  constexpr auto kOperation = CollectiveOperation::kAllToAll;
  CollectiveProbe probe(cluster, span);
  const int alone = probe.add(kOperation, bytes, "first", kNone);
  probe.add(kOperation, bytes, "first", kNone);
  probe.add(kOperation, bytes, "second", alone);
  return named(fmt::format("two at once {}", span_name(span)), std::move(probe).build());
}

std::vector<Probe> operation_probes(const Scenario& scenario, const std::vector<double>& shares) {
  std::vector<std::string> schedules = {"deepspeed_moe"};
  if (scenario.parallel.mp > 1 || scenario.parallel.esp > 1) {
    schedules.emplace_back("parm_s2");  // has slices, copies and local sums as well
  }
  std::vector<Probe> probes;
  for (const double share : shares) {
    const Scenario smaller = with_sequence(scenario, share);
    for (const std::string& schedule : schedules) {
      probes.push_back(
          named(fmt::format("operations of {} on {} positions", schedule, smaller.model.sequence),
                build_schedule(schedule, smaller, Degrees::uniform(1, 1, 1), {})));
    }
  }
  return probes;
}

Probe launch_probe(int num_ranks, int num_tasks) {
  ProgramBuilder builder("probe", num_ranks);
  for (int i = 0; i < num_tasks; ++i) {
    Task task;
    task.name = fmt::format("empty{}", i);
    task.descriptor = Fixed{Time::zero()};
    task.stream = builder.stream("compute");
    builder.add_task(std::move(task));
  }
  return named("launches", std::move(builder).build());
}

}  // namespace moesim
