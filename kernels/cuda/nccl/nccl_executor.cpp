#include "kernels/cuda/nccl/nccl_executor.h"

#include <atomic>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "kernels/cuda/distinct_steps.h"
#include "kernels/cuda/hardware_queues.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/nccl/nccl_call.h"
#include "kernels/host/merged_trace.h"

namespace moesim {
namespace {

DeviceFacts prepare_device(const Program& program,
                           const NcclOptions& options,
                           const RankPeers& peers) {
  if (program.num_ranks != peers.num_ranks()) {
    throw Error(
        fmt::format("the program has {} ranks and {} of them are run; with NCCL each has a "
                    "GPU and a process or a thread: start {}",
                    program.num_ranks,
                    peers.num_ranks(),
                    program.num_ranks));
  }
  if (options.cuda.uses_graph) {
    throw Error("collectives of NCCL are not captured as a graph; run the Program without one");
  }
  constexpr int kFirst = NCCL_VERSION(2, 28, 0);
  if (options.native_all_to_all && (NCCL_VERSION_CODE < kFirst || nccl_version() < kFirst)) {
    throw Error("this NCCL has no ncclAlltoAll, 2.28 is the first; leave --nccl-alltoall out");
  }
  set_hardware_queues(options.cuda.hardware_queues, options.cuda.device);
  use_device(options.cuda.device);
  return device_facts(options.cuda.device);
}

// Rank 0 draws it.
ncclUniqueId shared_id(RankPeers& peers) {
  ncclUniqueId id{};
  if (peers.rank() == 0) {
    id = draw_unique_id();
  }
  std::string bytes(reinterpret_cast<const char*>(&id), sizeof(id));
  bytes = peers.broadcast(std::move(bytes));
  std::memcpy(&id, bytes.data(), sizeof(id));
  return id;
}

}  // namespace

NcclExecutor::NcclExecutor(const Program& program, const NcclOptions& options, RankPeers& peers)
    : options_(options),
      peers_(peers),
      facts_(prepare_device(program, options, peers)),
      attention_(make_fused_attention(options.cuda.make_attention)),
      program_(DeviceScript(program, peers.rank(), options.native_all_to_all),
               options.cuda,
               attention_.get()),
      launcher_(program_.steps(), options.cuda.gemm_sms, attention_.get()),
      streams_(program_.script(), program_.steps()),
      events_(program_.script()),
      communicators_({peers.num_ranks(), peers.rank()}, options.communicators),
      watch_({program_.script(),
              events_,
              communicators_,
              peers,
              options.cuda.device,
              options.patience}),
      carrier_({program_.script(),
                program_.steps(),
                launcher_,
                communicators_,
                [this](bool waits) { watch_.set_host_waits(waits); }}),
      iteration_({program_.script(),
                  program_.steps(),
                  launcher_,
                  streams_,
                  events_,
                  carrier_,
                  watch_.hooks()}) {}

// CUDA loads a kernel when it is first launched and may wait for an idle device to do so; a kernel
// of NCCL that waits for a peer keeps it from being idle, and the peer may wait for this rank. So
// all that this rank launches is launched once before there is NCCL: each of our kernels on zeros,
// which are in the range of every index, whatever the steps before it would have left.
void NcclExecutor::load_kernels() {
  const auto rank = static_cast<size_t>(peers_.rank());
  DistinctSteps distinct;
  for (const std::vector<DeviceStep>& steps : program_.steps().tasks[rank]) {
    distinct.add(steps);
  }
  for (const DeviceExchange& exchange : program_.steps().exchanges) {
    distinct.add(exchange.pack);
    distinct.add(exchange.unpack);
  }
  const LaunchPlace place{streams_.main(), streams_.any_workspace()};
  check_cuda(launch_spin(1, place.stream), "launch_spin");  // of fixed tasks
  for (const DeviceStep& step : distinct.steps()) {
    if (std::holds_alternative<Kernel>(step.action)) {
      program_.clear(place.stream);
    }
    launcher_.launch(step, place);
  }
  check_cuda(cudaStreamSynchronize(place.stream), "cudaStreamSynchronize");
}

void NcclExecutor::connect() {
  watch_.guard(RunWatch::Subject::kTogether, [this] {
    load_kernels();
    communicators_.connect(
        shared_id(peers_), *program_.script().program, program_.script().map.groups());
  });
}

Execution NcclExecutor::run(TensorStore& tensors) {
  program_.upload(tensors, streams_.main());
  const MonotonicTime start = peers_.agree_on_start();
  watch_.guard(RunWatch::Subject::kIteration, [&] {
    const std::atomic<bool> never = false;
    sleep_until(start, never);
    iteration_.issue();
    watch_.set_host_waits(true);
    check_cuda(cudaStreamSynchronize(streams_.main()), "cudaStreamSynchronize");
  });
  Execution execution;
  execution.trace = iteration_.trace();
  const std::vector<std::string> runs = peers_.gather(spans_to_bytes(execution));
  if (!runs.empty()) {
    const Program& program = *program_.script().program;
    execution = merge_runs(program, make_host_script(program), runs);
  }
  take_verdict(peers_.broadcast(verdict_of(execution)), execution);
  execution.trace.executor = "nccl";
  execution.trace.resolution = "ranks";
  execution.trace.assumptions = assumptions();
  program_.download(tensors, streams_.main());
  return execution;
}

void NcclExecutor::close() {
  watch_.guard(RunWatch::Subject::kTogether, [this] { communicators_.close(); });
}

RankExecutor make_nccl_rank(const Program& program, RankPeers& peers, const NcclOptions& options) {
  auto executor = std::make_unique<NcclExecutor>(program, options, peers);
  executor->connect();
  NcclExecutor* own = executor.get();
  return {std::move(executor), [own] { own->close(); }};
}

std::vector<std::string> NcclExecutor::assumptions() const {
  std::vector<std::string> lines = {
      fmt::format("measured on {}", describe(facts_)),
      fmt::format("collectives are those of {} between {} GPUs, the packing of regions "
                  "that are not in one piece among them; nothing keeps a member that only sends "
                  "until all have come",
                  nccl_version_text(),
                  peers_.num_ranks()),
      "ranks start at a moment agreed on beforehand; each device tells times of its own",
  };
  if (attention_ != nullptr) {
    lines.emplace_back(kFusedAttentionAssumption);
  }
  if (options_.device_is_shared) {
    lines.emplace_back(
        "ranks take turns on a GPU and talk over sockets: results can be compared, times cannot");
  }
  return lines;
}

}  // namespace moesim
