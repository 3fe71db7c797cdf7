#include "kernels/cuda/nccl/nccl_carrier.h"

#include <algorithm>

#include "kernels/cuda/nccl/nccl_call.h"
#include "sim/base/check.h"

namespace moesim {
namespace {

ncclDataType_t nccl_type(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
      return ncclFloat32;
    case ElementType::kBfloat16:
      return ncclBfloat16;
    case ElementType::kInt32:
      return ncclInt32;
  }
  return ncclFloat32;
}

// One call on one stream of a communicator.
struct CallSite {
  const DeviceCall& call;
  ncclComm_t communicator;
  cudaStream_t stream;

  const void* from() const { return reinterpret_cast<const void*>(call.from); }
  void* to() const { return reinterpret_cast<void*>(call.to); }
  size_t count() const { return static_cast<size_t>(call.elements); }
  ncclDataType_t type() const { return nccl_type(call.type); }

  ncclResult_t all_to_all() const {
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
    return ncclAlltoAll(from(), to(), count(), type(), communicator, stream);
#else
    return ncclInvalidUsage;
#endif
  }

  ncclResult_t issue() const {
    switch (call.kind) {
      case ExchangeKind::kAllGather:
        return ncclAllGather(from(), to(), count(), type(), communicator, stream);
      case ExchangeKind::kReduceScatter:
        return ncclReduceScatter(from(), to(), count(), type(), ncclSum, communicator, stream);
      case ExchangeKind::kAllReduce:
        return ncclAllReduce(from(), to(), count(), type(), ncclSum, communicator, stream);
      case ExchangeKind::kAllToAll:
        return all_to_all();
      case ExchangeKind::kBroadcast:
        return ncclBroadcast(from(), to(), count(), type(), call.peer, communicator, stream);
      case ExchangeKind::kSend:
        return ncclSend(from(), count(), type(), call.peer, communicator, stream);
      case ExchangeKind::kReceive:
        return ncclRecv(to(), count(), type(), call.peer, communicator, stream);
    }
    return ncclInternalError;
  }
};

}  // namespace

void call_nccl(const std::vector<DeviceCall>& calls, ncclComm_t communicator, cudaStream_t stream) {
  for (const DeviceCall& call : calls) {
    check_nccl(CallSite{call, communicator, stream}.issue(), to_string(call.kind));
  }
}

void NcclCarrier::issue(int meeting, const std::vector<LaunchPlace>& members) {
  CHECK(members.size() == 1, "{} ranks of a process call NCCL", members.size());
  const DeviceExchange& exchange = parts_.program.exchanges[static_cast<size_t>(meeting)];
  parts_.launcher.launch(exchange.pack, members.front());
  if (!exchange.calls.empty()) {
    call(meeting, members.front().stream);
  }
  parts_.launcher.launch(exchange.unpack, members.front());
}

void NcclCarrier::call(int meeting, cudaStream_t stream) {
  const Program& program = *parts_.script.program;
  const Meeting& one = parts_.script.script.meetings[static_cast<size_t>(meeting)];
  const std::vector<int>& ranks = parts_.script.script.members(program, meeting);
  const int rank = parts_.script.ranks.front();
  const auto member = static_cast<size_t>(std::ranges::find(ranks, rank) - ranks.begin());
  const Task& task = program.tasks[static_cast<size_t>(one.tasks[member])];
  parts_.host_waits(true);
  parts_.communicators.enqueue({one.group, task.stream}, task.name, [&](ncclComm_t communicator) {
    const auto& calls = parts_.program.exchanges[static_cast<size_t>(meeting)].calls;
    call_nccl(calls, communicator, stream);
  });
  parts_.host_waits(false);
}

}  // namespace moesim
