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
constexpr const char* kStragglerCause = "waiting for stragglers";

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
      return kStragglerCause;
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
  return fixed ? fmt::format("stream {}", program.streams[task.stream]) : kCompute;
}

std::vector<std::pair<std::string, Time>> longest_first(const std::map<std::string, Time>& times) {
  std::vector<std::pair<std::string, Time>> order(times.begin(), times.end());
  const auto longer = [](const auto& a, const auto& b) { return a.second > b.second; };
  std::stable_sort(order.begin(), order.end(), longer);
  return order;
}

std::string share_of(Time time, Time iteration) {
  return format_percent(ratio(time, iteration), 0);
}

// " (dispatch 40 %, combine 31 %)", without what rounds to nothing; nothing at all where the kinds
// say no more than the cause.
std::string kinds_named(const PathPart& part, Time iteration) {
  constexpr double kWorthNaming = 0.005;
  std::string text;
  std::size_t count = 0;
  while (count < std::min(part.kinds.size(), kMaxKindsNamed) &&
         ratio(part.kinds[count].second, iteration) >= kWorthNaming) {
    const auto& [kind, time] = part.kinds[count];
    text += fmt::format("{}{} {}", count == 0 ? "" : ", ", kind, share_of(time, iteration));
    ++count;
  }
  const std::string& first = part.kinds.empty() ? "" : part.kinds.front().first;
  const bool generic = text.empty() || first.empty() || first == "collective" || first == "fixed";
  const char* more = part.kinds.size() > count ? ", ..." : "";
  return generic ? "" : fmt::format(" ({}{})", text, more);
}

std::string named(const PathPart& part, Time iteration) {
  return part.cause + kinds_named(part, iteration);
}

// The mean rank spends more time waiting than in anything else.
bool lasts_most(Time waiting, const Usage& usage) {
  return waiting > usage.computing && waiting > usage.exposed_communication;
}

// Ranks compute for longer than any cause lasts on the critical path, and not by less than a
// hundredth of the iteration. Not told of fixed times, which may stand for communication.
bool computes_most(const std::vector<PathPart>& parts, const Usage& usage, Time iteration) {
  const auto is_fixed = [](const PathPart& part) { return part.cause.starts_with("stream "); };
  return usage.computing > parts.front().time + iteration / 100 &&
         std::none_of(parts.begin(), parts.end(), is_fixed);
}

Time time_on_path(const std::vector<PathPart>& parts, const std::string& cause) {
  for (const PathPart& part : parts) {
    if (part.cause == cause) {
      return part.time;
    }
  }
  return Time::zero();
}

std::string busiest_stream(const Usage& usage, Time iteration) {
  const auto less_busy = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto busiest = std::max_element(usage.busy.begin(), usage.busy.end(), less_busy);
  return busiest == usage.busy.end()
             ? ""
             : fmt::format("; the busiest stream is {} at {} of the iteration",
                           busiest->first,
                           share_of(busiest->second, iteration));
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

Bottleneck find_bottleneck(const std::vector<PathPart>& parts, const Usage& usage, Time iteration) {
  CHECK(!parts.empty() && iteration > Time::zero());
  const PathPart& first = parts.front();
  const std::string on_path = fmt::format(
      "on the critical path {} takes {}", named(first, iteration), share_of(first.time, iteration));
  if (lasts_most(usage.straggler_wait, usage)) {
    return {.name = kStragglers,
            .time = usage.straggler_wait,
            .path_time = time_on_path(parts, kStragglerCause),
            .sentence = fmt::format("stragglers: ranks wait for the last of their group {} of the "
                                    "iteration and compute {}; {}",
                                    share_of(usage.straggler_wait, iteration),
                                    share_of(usage.computing, iteration),
                                    on_path)};
  }
  if (usage.stage_wait && lasts_most(*usage.stage_wait, usage)) {
    return {.name = kBubble,
            .time = *usage.stage_wait,
            .path_time = Time::zero(),
            .sentence = fmt::format("bubble: ranks wait for another stage {} of the iteration and "
                                    "compute {}; {}",
                                    share_of(*usage.stage_wait, iteration),
                                    share_of(usage.computing, iteration),
                                    on_path)};
  }
  if (computes_most(parts, usage, iteration)) {
    return {.name = kCompute,
            .time = usage.computing,
            .path_time = time_on_path(parts, kCompute),
            .sentence = fmt::format("compute: ranks compute {} of the iteration; {}",
                                    share_of(usage.computing, iteration),
                                    on_path)};
  }
  return {.name = first.cause,
          .time = first.time,
          .path_time = first.time,
          .sentence = fmt::format("{}: {} of the critical path{}",
                                  named(first, iteration),
                                  share_of(first.time, iteration),
                                  busiest_stream(usage, iteration))};
}

}  // namespace moesim
