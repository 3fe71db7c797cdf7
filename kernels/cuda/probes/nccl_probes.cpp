#include "kernels/cuda/probes/nccl_probes.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/nccl/communicators.h"
#include "kernels/cuda/nccl/nccl_call.h"
#include "kernels/cuda/probes/probe_kernels.h"
#include "sim/base/check.h"
#include "sim/base/error.h"
#include "sim/program/group_table.h"

namespace moesim {
namespace {

constexpr int64_t kElement = 2;  // BF16

// Calls body(0), body(1), … each on a thread of its own; throws what the first of them threw.
void on_threads(std::size_t count, const std::function<void(std::size_t)>& body) {
  std::vector<std::exception_ptr> errors(count);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        try {
          body(i);
        } catch (...) {
          errors[i] = std::current_exception();
        }
      });
    }
  }
  for (const std::exception_ptr& error : errors) {
    if (error) {
      std::rethrow_exception(error);
    }
  }
}

struct Seat {
  int rank = 0;
  int device = 0;
};

// What a member says to NCCL, within a group of calls. Bytes are per rank as in `Collective`.
struct Call {
  const void* from = nullptr;
  void* to = nullptr;
  std::size_t count = 0;  // elements of the whole buffer
  int group_size = 1;
  cudaStream_t stream = nullptr;

  std::size_t part() const { return count / static_cast<std::size_t>(group_size); }
};

void exchange(const Call& call, ncclComm_t communicator) {
  const std::size_t bytes = call.part() * static_cast<std::size_t>(kElement);
  for (int peer = 0; peer < call.group_size; ++peer) {
    const std::size_t at = static_cast<std::size_t>(peer) * bytes;
    check_nccl(ncclSend(static_cast<const std::byte*>(call.from) + at,
                        call.part(),
                        ncclBfloat16,
                        peer,
                        communicator,
                        call.stream),
               "ncclSend");
    check_nccl(ncclRecv(static_cast<std::byte*>(call.to) + at,
                        call.part(),
                        ncclBfloat16,
                        peer,
                        communicator,
                        call.stream),
               "ncclRecv");
  }
}

void call_nccl(CollectiveOperation operation, const Call& call, ncclComm_t communicator) {
  switch (operation) {
    case CollectiveOperation::kAllReduce:
      check_nccl(
          ncclAllReduce(
              call.from, call.to, call.count, ncclBfloat16, ncclSum, communicator, call.stream),
          "ncclAllReduce");
      return;
    case CollectiveOperation::kAllGather:
      check_nccl(
          ncclAllGather(call.from, call.to, call.part(), ncclBfloat16, communicator, call.stream),
          "ncclAllGather");
      return;
    case CollectiveOperation::kReduceScatter:
      check_nccl(
          ncclReduceScatter(
              call.from, call.to, call.part(), ncclBfloat16, ncclSum, communicator, call.stream),
          "ncclReduceScatter");
      return;
    case CollectiveOperation::kAllToAll:
      exchange(call, communicator);
      return;
    case CollectiveOperation::kShift:
    case CollectiveOperation::kBroadcast:
      break;
  }
  CHECK(false, "no probe of this collective");
}

}  // namespace

// One GPU's part of a probe. A pair has two communicators and streams.
class NcclProbes::Member {
 public:
  // One communicator for each id.
  Member(const GpuProbe& probe, const Seat& seat, const std::vector<ncclUniqueId>& ids)
      : probe_(probe), device_(seat.device) {
    check_cuda(cudaSetDevice(device_), "cudaSetDevice");
    begin_ = make_event(EventKind::kTimed);
    end_ = make_event(EventKind::kTimed);
    const Program none;
    for (const ncclUniqueId& id : ids) {
      CommunicatorOptions options;
      options.ctas = {probe.ctas, probe.ctas};
      Part part{.communicators = std::make_unique<Communicators>(
                    WorldPlace{.num_ranks = probe.group_size, .rank = seat.rank}, options),
                .stream = make_stream(StreamPriority::kHigh),
                .from = make_device_memory(probe.bytes),
                .to = make_device_memory(probe.bytes),
                .strided = make_device_memory(probe.packed ? 2 * probe.bytes : 0),
                .end = make_event(EventKind::kUntimed)};
      part.communicators->connect(id, none, GroupTable());
      parts_.push_back(std::move(part));
    }
  }

  Time run() {
    check_cuda(cudaSetDevice(device_), "cudaSetDevice");
    const cudaStream_t main = parts_.front().stream.get();
    check_cuda(launch_spin(kHoldNanoseconds, main), "launch_spin");
    check_cuda(cudaEventRecord(begin_.get(), main), "cudaEventRecord");
    for (Part& part : parts_) {
      check_cuda(cudaStreamWaitEvent(part.stream.get(), begin_.get(), 0), "cudaStreamWaitEvent");
      issue(part);
      check_cuda(cudaEventRecord(part.end.get(), part.stream.get()), "cudaEventRecord");
    }
    for (const Part& part : parts_) {
      check_cuda(cudaStreamWaitEvent(main, part.end.get(), 0), "cudaStreamWaitEvent");
    }
    check_cuda(cudaEventRecord(end_.get(), main), "cudaEventRecord");
    check_cuda(cudaEventSynchronize(end_.get()), "cudaEventSynchronize");
    return elapsed(begin_, end_);
  }

 private:
  struct Part {
    std::unique_ptr<Communicators> communicators;
    Stream stream;
    DeviceMemory from;
    DeviceMemory to;
    DeviceMemory strided;  // rows with gaps as long as they are
    Event end;
  };

  // Rows of 4 KiB, as those of a token, with as much between them.
  void pack(const Part& part) const {
    constexpr std::size_t kRow = 4096;
    check_cuda(cudaMemcpy2DAsync(part.from.get(),
                                 kRow,
                                 part.strided.get(),
                                 2 * kRow,
                                 kRow,
                                 static_cast<std::size_t>(probe_.bytes) / kRow,
                                 cudaMemcpyDeviceToDevice,
                                 part.stream.get()),
               "cudaMemcpy2DAsync");
  }

  void issue(Part& part) const {
    if (probe_.packed) {
      pack(part);
    }
    const Call call{.from = part.from.get(),
                    .to = part.to.get(),
                    .count = static_cast<std::size_t>(probe_.bytes / kElement),
                    .group_size = probe_.group_size,
                    .stream = part.stream.get()};
    part.communicators->enqueue(to_string(probe_), [&](ncclComm_t communicator) {
      call_nccl(probe_.operation, call, communicator);
    });
  }

  GpuProbe probe_;
  int device_;
  Event begin_;
  Event end_;
  std::vector<Part> parts_;
};

NcclProbes::NcclProbes(std::vector<int> devices) : devices_(std::move(devices)) {}

NcclProbes::~NcclProbes() = default;

std::function<Time()> NcclProbes::prepare(const GpuProbe& probe) {
  const auto size = static_cast<std::size_t>(probe.group_size);
  CHECK(size >= 1 && size <= devices_.size(), "{} GPUs", size);
  std::vector<ncclUniqueId> ids(probe.kind == GpuProbeKind::kCollectivePair ? 2 : 1);
  std::generate(ids.begin(), ids.end(), draw_unique_id);
  const auto members = std::make_shared<std::vector<std::unique_ptr<Member>>>(size);
  on_threads(size, [&](std::size_t i) {
    (*members)[i] = std::make_unique<Member>(probe, Seat{static_cast<int>(i), devices_[i]}, ids);
  });
  return [members] {
    std::vector<Time> times(members->size());
    on_threads(members->size(), [&](std::size_t rank) { times[rank] = (*members)[rank]->run(); });
    return *std::min_element(times.begin(), times.end());
  };
}

}  // namespace moesim
