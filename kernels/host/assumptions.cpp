#include "kernels/host/assumptions.h"

#include <fmt/core.h>

#include "sim/base/units.h"

namespace moesim {
namespace {

std::string describe_clock(const HostOptions& options) {
  switch (options.clock) {
    case HostClock::kFree:
      return "clock free: a task starts when its thread runs; delays of this machine are included";
    case HostClock::kAnchored:
      return fmt::format(
          "clock anchored: a task starts at the planned end of what it waited for; delays of this "
          "machine up to {} are ignored, which makes the times partly circular",
          format_time(options.overrun));
    case HostClock::kRaw:
      return "clock raw: nothing is paced; fixed tasks, links and launches take no time of their "
             "own";
  }
  return {};
}

std::string describe_operations(const HostOptions& options) {
  if (options.clock != HostClock::kRaw && options.operation_time) {
    return "operations last what the profile says: their times are no measurement";
  }
  if (options.clock != HostClock::kRaw && options.dilation > 1) {
    return fmt::format("operations last {} times their CPU time on this machine", options.dilation);
  }
  return "operations last as long as they take on this machine";
}

}  // namespace

std::vector<std::string> describe_host(const HostOptions& options,
                                       const std::string& network,
                                       bool has_real_time) {
  std::vector<std::string> list = {describe_clock(options), network};
  list.push_back(describe_operations(options));
  list.emplace_back(
      "operations compute in FP32 whatever the dtype, which only sets bytes on links");
  if (options.delays) {
    list.push_back(fmt::format("random delays of up to {} before tasks, seed {}",
                               format_time(options.delays->longest),
                               options.delays->seed));
  }
  if (options.hold) {
    list.push_back(fmt::format("a task is held until a later one has ended, for up to {}",
                               format_time(options.hold->longest)));
  }
  list.emplace_back(has_real_time ? "threads wake up with real-time priority (SCHED_FIFO)"
                                  : "threads are scheduled like any other (SCHED_OTHER)");
  return list;
}

}  // namespace moesim
