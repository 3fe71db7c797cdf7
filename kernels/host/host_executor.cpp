#include "kernels/host/host_executor.h"

#include <numeric>
#include <utility>

#include <fmt/core.h>

#include "sim/base/units.h"

namespace moesim {
namespace {

std::vector<int> all_ranks(const Program& program) {
  std::vector<int> ranks(program.num_ranks);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

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

std::string describe_port(const PortRate& port) {
  return fmt::format("{}/s after {}",
                     format_bytes(static_cast<int64_t>(port.bytes_per_second)),
                     format_time(Time::from_seconds(port.latency_seconds)));
}

std::string describe_fabric(const HostOptions& options) {
  if (!options.cluster || options.clock == HostClock::kRaw) {
    return "collectives take as long as this machine copies";
  }
  return fmt::format(
      "links of cluster '{}' shared max-min, one weight for each collective: within a node {}, "
      "between nodes {}",
      options.cluster->name,
      describe_port(options.cluster->intra_node),
      describe_port(options.cluster->inter_node));
}

}  // namespace

HostExecutor::HostExecutor(const Program& program, HostOptions options)
    : options_(std::move(options)),
      plan_(make_host_plan(program, options_, all_ranks(program))),
      workers_(plan_, options_) {}

Execution HostExecutor::run(TensorStore& tensors) {
  Execution execution = workers_.run(tensors, nullptr);
  execution.trace.executor = "cpu";
  execution.trace.resolution = "ranks";
  execution.trace.assumptions = assumptions();
  return execution;
}

std::vector<std::string> HostExecutor::assumptions() {
  std::vector<std::string> list = {describe_clock(options_), describe_fabric(options_)};
  const bool dilates = options_.clock != HostClock::kRaw && options_.dilation > 1;
  list.push_back(dilates ? fmt::format("operations last {} times their CPU time on this machine",
                                       options_.dilation)
                         : "operations last as long as they take on this machine");
  list.emplace_back(
      "operations compute in FP32 whatever the dtype, which only sets bytes on links");
  if (options_.delays) {
    list.push_back(fmt::format("random delays of up to {} before tasks, seed {}",
                               format_time(options_.delays->longest),
                               options_.delays->seed));
  }
  list.emplace_back(workers_.has_real_time()
                        ? "threads wake up with real-time priority (SCHED_FIFO)"
                        : "threads are scheduled like any other (SCHED_OTHER)");
  return list;
}

}  // namespace moesim
