#include "kernels/cuda/nccl/self_communication.h"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "kernels/cuda/handles.h"
#include "kernels/cuda/nccl/nccl_carrier.h"
#include "sim/base/check.h"

namespace moesim {
namespace {

constexpr int64_t kWord = 4;

class SelfCommunication {
 public:
  explicit SelfCommunication(const SelfCommunicationOptions& options)
      : options_(options),
        most_(*std::ranges::max_element(options.sizes)),
        stream_(make_stream(StreamPriority::kHigh)),
        begin_(make_event(EventKind::kTimed)),
        end_(make_event(EventKind::kTimed)),
        source_(make_device_memory(most_)),
        target_(make_device_memory(most_)),
        communicators_({.num_ranks = 1, .rank = 0}, {.ctas = options.ctas, .ctas_on_stream = {}}) {
    communicators_.connect(draw_unique_id(), {}, {});
    sent_.resize(static_cast<size_t>(most_ / kWord));
    std::iota(sent_.begin(), sent_.end(), 1);
    check_cuda(cudaMemcpy(source_.get(), sent_.data(), bytes(most_), cudaMemcpyHostToDevice),
               "cudaMemcpy");
    check_cuda(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");  // until it has arrived
  }

  std::vector<SelfCall> run() {
    std::vector<SelfCall> calls;
    for (const int64_t size : options_.sizes) {
      calls.push_back(time(ExchangeKind::kSend, size));
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
      calls.push_back(time(ExchangeKind::kAllToAll, size));
#endif
    }
    communicators_.close();
    return calls;
  }

 private:
  static size_t bytes(int64_t size) {
    return static_cast<size_t>(size);
  }

  static DeviceAddress address(const DeviceMemory& memory) {
    return reinterpret_cast<DeviceAddress>(memory.get());
  }

  SelfCall time(ExchangeKind kind, int64_t size) {
    CHECK(size > 0 && size % kWord == 0, "{} bytes to self", size);
    check_cuda(cudaMemsetAsync(target_.get(), 0, bytes(most_), stream_.get()), "cudaMemsetAsync");
    SelfCall call{kind, size, {}};
    for (int run = 0; run < options_.num_warmups + options_.num_runs; ++run) {
      const Time time = time_once(kind, size);
      if (run >= options_.num_warmups) {
        call.times.push_back(time);
      }
    }
    require_arrived(call);
    return call;
  }

  Time time_once(ExchangeKind kind, int64_t size) {
    std::vector<DeviceCall> calls = {
        {kind, address(source_), address(target_), size / kWord, ElementType::kInt32, 0}};
    if (kind == ExchangeKind::kSend) {
      calls.push_back(calls.front());
      calls.back().kind = ExchangeKind::kReceive;
    }
    check_cuda(cudaEventRecord(begin_.get(), stream_.get()), "cudaEventRecord");
    communicators_.enqueue(
        "to self", [&](ncclComm_t communicator) { call_nccl(calls, communicator, stream_.get()); });
    check_cuda(cudaEventRecord(end_.get(), stream_.get()), "cudaEventRecord");
    check_cuda(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize");
    return elapsed(begin_, end_);
  }

  void require_arrived(const SelfCall& call) {
    std::vector<int32_t> arrived(static_cast<size_t>(call.bytes / kWord));
    check_cuda(cudaMemcpy(arrived.data(), target_.get(), bytes(call.bytes), cudaMemcpyDeviceToHost),
               "cudaMemcpy");
    if (!std::equal(arrived.begin(), arrived.end(), sent_.begin())) {
      throw Failure(fmt::format("{} of {} bytes to self brought other bytes than were sent",
                                to_string(call.kind),
                                call.bytes));
    }
  }

  const SelfCommunicationOptions& options_;
  int64_t most_;
  Stream stream_;
  Event begin_;
  Event end_;
  DeviceMemory source_;
  DeviceMemory target_;
  std::vector<int32_t> sent_;
  Communicators communicators_;
};

}  // namespace

std::vector<SelfCall> time_self_communication(const SelfCommunicationOptions& options) {
  return options.sizes.empty() ? std::vector<SelfCall>() : SelfCommunication(options).run();
}

}  // namespace moesim
