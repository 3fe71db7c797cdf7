#include "kernels/host/host_executor.h"

#include <utility>

#include <fmt/core.h>

#include "kernels/host/assumptions.h"
#include "sim/base/units.h"

namespace moesim {
namespace {

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
  return describe_host(options_, describe_fabric(options_), workers_.has_real_time());
}

}  // namespace moesim
