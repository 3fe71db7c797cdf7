#include "sim/report/bottleneck.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "sim/analysis/trace_index.h"
#include "sim/base/check.h"
#include "sim/cluster/groups.h"
#include "sim/report/text.h"

namespace moesim {
namespace {

constexpr std::size_t kMaxKindsNamed = 3;

// The names that papers use.
const char* paper_name(CollectiveOperation operation) {
  switch (operation) {
    case CollectiveOperation::kAllReduce:
      return "AllReduce";
    case CollectiveOperation::kAllGather:
      return "AllGather";
    case CollectiveOperation::kReduceScatter:
      return "ReduceScatter";
    case CollectiveOperation::kAllToAll:
      return "AlltoAll";
    case CollectiveOperation::kShift:
      return "shift";
    case CollectiveOperation::kBroadcast:
      return "broadcast";
  }
  return "";
}

std::string cause_of(const Program& program,
                     const Collective& collective,
                     const Cluster* cluster,
                     int rank) {
  const Group& group = program.groups[collective.group];
  const char* operation = paper_name(collective.operation);
  if (cluster == nullptr) {
    return fmt::format("{} over {}", operation, group.name);
  }
  switch (span_of(*cluster, members_of(group, rank))) {
    case Span::kNode:
      return fmt::format("intra-node {}", operation);
    case Span::kFabric:
      return fmt::format("inter-node {}", operation);
    case Span::kBoth:
      return fmt::format("{} within and between nodes", operation);
  }
  return operation;
}

std::string cause_of(const Program& program,
                     const Trace& trace,
                     const Cluster* cluster,
                     const CriticalStep& step) {
  switch (step.kind) {
    case StepKind::kStragglerWait:
      return "waiting for stragglers";
    case StepKind::kLaunch:
      return "kernel launches";
    case StepKind::kIdle:
      return "idle time";
    case StepKind::kTask:
      break;
  }
  const TaskSpan& span = trace.spans[step.span];
  const Task& task = program.tasks[span.task];
  if (const Collective* collective = collective_of(task)) {
    return cause_of(program, *collective, cluster, span.rank);
  }
  // A fixed time may stand for anything; its stream is all that says what.
  const bool fixed = std::holds_alternative<Fixed>(task.descriptor);
  return fixed ? fmt::format("stream {}", program.streams[task.stream]) : "compute";
}

std::vector<std::string> longest_first(const std::map<std::string, Time>& times) {
  std::vector<std::pair<Time, std::string>> order;
  order.reserve(times.size());
  for (const auto& [name, time] : times) {
    order.emplace_back(Time::zero() - time, name);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::string> names;
  names.reserve(order.size());
  for (auto& [time, name] : order) {
    names.push_back(std::move(name));
  }
  return names;
}

// " (dispatch, combine)"; nothing where the kinds say no more than the cause.
std::string kinds_named(const PathPart& part) {
  std::string text;
  for (std::size_t i = 0; i < std::min(part.kinds.size(), kMaxKindsNamed); ++i) {
    text += (i == 0 ? "" : ", ") + part.kinds[i];
  }
  const bool generic = text.empty() || text == "collective" || text == "fixed";
  const char* more = part.kinds.size() > kMaxKindsNamed ? ", ..." : "";
  return generic ? "" : fmt::format(" ({}{})", text, more);
}

}  // namespace

std::vector<PathPart> path_parts(const Program& program,
                                 const Trace& trace,
                                 const Cluster* cluster,
                                 const CriticalPath& path) {
  std::map<std::string, std::map<std::string, Time>> times;  // [cause][kind]
  for (const CriticalStep& step : path.steps) {
    const bool is_task = step.kind == StepKind::kTask;
    const std::string kind = is_task ? program.tasks[trace.spans[step.span].task].kind : "";
    times[cause_of(program, trace, cluster, step)][kind] += step.end - step.begin;
  }
  std::vector<PathPart> parts;
  for (const auto& [cause, kinds] : times) {
    PathPart part{cause, longest_first(kinds), Time::zero()};
    for (const auto& [kind, time] : kinds) {
      part.time += time;
    }
    parts.push_back(std::move(part));
  }
  const auto longer = [](const PathPart& a, const PathPart& b) { return a.time > b.time; };
  std::stable_sort(parts.begin(), parts.end(), longer);
  return parts;
}

std::string bound_sentence(const std::vector<PathPart>& parts, const Usage& usage, Time iteration) {
  CHECK(!parts.empty() && iteration > Time::zero());
  const PathPart& first = parts.front();
  std::string sentence = fmt::format("{}{}: {} of the critical path",
                                     first.cause,
                                     kinds_named(first),
                                     format_percent(ratio(first.time, iteration), 0));
  const auto less_busy = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto busiest = std::max_element(usage.busy.begin(), usage.busy.end(), less_busy);
  if (busiest != usage.busy.end()) {
    sentence += fmt::format("; the busiest stream is {} at {} of the iteration",
                            busiest->first,
                            format_percent(ratio(busiest->second, iteration), 0));
  }
  return sentence;
}

}  // namespace moesim
