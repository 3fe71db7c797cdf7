#include "kernels/mpi/mpi_executor.h"

#include <numeric>
#include <utility>

#include <fmt/core.h>

#include "kernels/host/assumptions.h"
#include "kernels/host/merged_trace.h"
#include "kernels/mpi/collect.h"
#include "sim/base/error.h"
#include "sim/base/units.h"

namespace moesim {
namespace {

RankLayout deal_out(const MpiWorld& world, const Program& program) {
  if (program.num_ranks % world.num_processes() != 0) {
    throw Error(fmt::format(
        "the program's {} ranks cannot be dealt out equally to {} processes; start {} of them",
        program.num_ranks,
        world.num_processes(),
        program.num_ranks));
  }
  return {program.num_ranks / world.num_processes()};
}

HostOptions checked(HostOptions options) {
  if (options.cluster) {
    throw Error(
        "a cluster paces the links of threads; processes have a real network: leave it out");
  }
  if (options.clock == HostClock::kAnchored) {
    throw Error(
        "the anchored clock needs planned ends, which a real network does not have; use free or "
        "raw");
  }
  return options;
}

std::vector<int> ranks_of(int process, const RankLayout& layout) {
  std::vector<int> ranks(layout.ranks_per_process);
  std::iota(ranks.begin(), ranks.end(), process * layout.ranks_per_process);
  return ranks;
}

}  // namespace

MpiExecutor::MpiExecutor(MpiWorld& world, const Program& program, HostOptions options)
    : world_(world),
      options_(checked(std::move(options))),
      layout_(deal_out(world, program)),
      plan_(make_host_plan(program, options_, ranks_of(world.process(), layout_))),
      detector_(*plan_.program, plan_.script, world.num_processes()),
      courier_(world,
               {.wants_real_time = options_.clock != HostClock::kRaw,
                .listener = [this](const std::string& news,
                                   int process) { detector_.hear(process, news); }}),
      workers_(plan_, options_) {
  courier_.call([this] { MpiTransport::check_tags(plan_, layout_); });
}

Execution MpiExecutor::run(TensorStore& tensors) {
  const int run_number = world_.count_run();
  detector_.begin(run_number);
  MpiTransport transport(plan_,
                         {.world = &world_,
                          .courier = &courier_,
                          .detector = &detector_,
                          .layout = layout_,
                          .run = run_number});
  Execution execution = workers_.run(tensors, &transport);
  const std::vector<std::string> runs = gather(courier_, spans_to_bytes(execution));
  if (courier_.process() == 0) {
    execution = merge_runs(*plan_.program, plan_.script, runs);
  }
  take_verdict(broadcast(courier_, verdict_of(execution)), execution);
  execution.trace.executor = "mpi";
  execution.trace.resolution = "ranks";
  execution.trace.assumptions = assumptions(transport);
  return execution;
}

std::vector<std::string> MpiExecutor::assumptions(const MpiTransport& transport) {
  std::vector<std::string> list =
      describe_host(options_,
                    fmt::format("collectives are Open MPI messages between {} processes of {} "
                                "ranks each, four bytes for an element of any dtype, and take as "
                                "long as the network takes",
                                world_.num_processes(),
                                layout_.ranks_per_process),
                    workers_.has_real_time());
  list.push_back(fmt::format(
      "processes start at a moment agreed on beforehand; their clocks differ by {} at most",
      format_time(Time::from_picoseconds(transport.clock_uncertainty().count() * 1000))));
  return list;
}

}  // namespace moesim
