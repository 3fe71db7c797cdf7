#include "kernels/cuda/probes/cuda_probe_device.h"

#include <chrono>
#include <utility>
#include <vector>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/probes/probe_gemm.h"
#include "kernels/cuda/probes/probe_kernels.h"
#include "sim/base/check.h"
#include "sim/base/error.h"

namespace moesim {
namespace {

constexpr int64_t kScratchBytes = int64_t{512} << 20U;  // ten times the L2 cache of an H100
constexpr int64_t kHalf = kScratchBytes / 2;

void* second_half(const DeviceMemory& memory) {
  return static_cast<std::byte*>(memory.get()) + kHalf;
}

int shared_memory_of_block(int device) {
  int bytes = 0;
  check_cuda(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
             "cudaDeviceGetAttribute");
  return bytes;
}

void wait_for(const Stream& stream, const Event& event) {
  check_cuda(cudaStreamWaitEvent(stream.get(), event.get(), 0), "cudaStreamWaitEvent");
}

void synchronize(const Stream& stream) {
  check_cuda(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
}

// A flag in the host's memory, which both sides change while the other looks.
void set_flag(const PinnedMemory& flag, int value) {
  *static_cast<volatile int*>(flag.get()) = value;
}

// What goes on beside a GEMM on a stream until the flag is set: at the latest when this goes, since
// a kernel that nobody stops keeps the device from everything else.
class Beside {
 public:
  Beside(const PinnedMemory& flag, const Stream& stream) : flag_(flag), stream_(stream) {
    set_flag(flag_, 0);
  }
  ~Beside() {
    if (!is_over_) {
      set_flag(flag_, 1);
      static_cast<void>(cudaStreamSynchronize(stream_.get()));  // the first error is told
    }
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;
  Beside(Beside&&) = delete;
  Beside& operator=(Beside&&) = delete;

  // Throws Failure where the kernel may have ended by itself before.
  void end() {
    const auto passed = std::chrono::steady_clock::now() - begin_;
    is_over_ = true;
    set_flag(flag_, 1);
    synchronize(stream_);
    if (passed >= std::chrono::nanoseconds(kLongestBeside)) {
      throw Failure("a GEMM waited for the kernel that was to run beside it");
    }
  }

 private:
  const PinnedMemory& flag_;
  const Stream& stream_;
  bool is_over_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

CudaProbeDevice::CudaProbeDevice(const DeviceFacts& facts, CollectiveProbes* collectives)
    : facts_(facts),
      clock_(facts.pci_bus_id),
      collectives_(collectives),
      cublas_(make_cublas()),
      main_(make_stream(StreamPriority::kLow)),
      beside_(make_stream(StreamPriority::kHigh)),
      other_(make_stream(StreamPriority::kLow)),
      begin_(make_event(EventKind::kTimed)),
      end_(make_event(EventKind::kTimed)),
      workspace_(make_device_memory(kProductWorkspace)),
      scratch_(make_device_memory(kScratchBytes)),
      stop_(make_pinned_memory(sizeof(int))) {}

std::function<Time()> CudaProbeDevice::prepare(const GpuProbe& probe) {
  switch (probe.kind) {
    case GpuProbeKind::kGemm:
      return prepare_gemm(probe);
    case GpuProbeKind::kGemmBesideCopy:
    case GpuProbeKind::kGemmBesideSpin:
      return prepare_gemm_beside(probe);
    case GpuProbeKind::kLateCopy:
      return prepare_late_copy(probe);
    case GpuProbeKind::kQueues:
      return prepare_queues(probe);
    case GpuProbeKind::kCopy:
      return prepare_copy(probe);
    case GpuProbeKind::kLaunch:
      return prepare_launch(probe);
    case GpuProbeKind::kCollective:
    case GpuProbeKind::kCollectivePair:
      CHECK(collectives_ != nullptr, "a collective without NCCL");
      return collectives_->prepare(probe);
  }
  CHECK(false, "no such probe");
}

// The two may lie on streams that do not wait for each other.
Time CudaProbeDevice::elapsed() const {
  check_cuda(cudaEventSynchronize(begin_.get()), "cudaEventSynchronize");
  check_cuda(cudaEventSynchronize(end_.get()), "cudaEventSynchronize");
  return moesim::elapsed(begin_, end_);
}

void CudaProbeDevice::hold(const Stream& stream) const {
  check_cuda(launch_spin(kHoldNanoseconds, stream.get()), "launch_spin");
}

void CudaProbeDevice::record(const Event& event, const Stream& stream) const {
  check_cuda(cudaEventRecord(event.get(), stream.get()), "cudaEventRecord");
}

// Cold: all of the L2 cache is overwritten before. Warm: the same GEMM ran before.
std::function<Time()> CudaProbeDevice::prepare_gemm(const GpuProbe& probe) {
  const auto gemm = std::make_shared<ProbeGemm>(cublas_.get(), probe, main_.get());
  return [this, gemm, cold = probe.cold] {
    if (cold) {
      check_cuda(cudaMemsetAsync(scratch_.get(), 0, kScratchBytes, main_.get()), "cudaMemsetAsync");
    } else {
      gemm->run(workspace_.get(), main_.get());
    }
    hold(main_);
    record(begin_, main_);
    gemm->run(workspace_.get(), main_.get());
    record(end_, main_);
    return elapsed();
  };
}

// What runs beside is on its SMs before the GEMM, which the hold puts off, and leaves them when the
// GEMM is over.
std::function<Time()> CudaProbeDevice::prepare_gemm_beside(const GpuProbe& probe) {
  const auto gemm = std::make_shared<ProbeGemm>(cublas_.get(), probe, main_.get());
  const auto* stop = static_cast<const int*>(stop_.get());
  const int shared_bytes = shared_memory_of_block(facts_.device);
  const bool copies = probe.kind == GpuProbeKind::kGemmBesideCopy;
  // CUDA loads a kernel at its first launch, for which it may wait until the device is empty: none
  // of those below may be launched for the first time beside one that does not end.
  gemm->run(workspace_.get(), main_.get());
  hold(main_);
  synchronize(main_);
  return [=, this] {
    Beside beside(stop_, beside_);
    check_cuda(copies ? launch_block_copy({.from = scratch_.get(),
                                           .to = second_half(scratch_),
                                           .bytes = kHalf,
                                           .blocks = probe.beside_sms,
                                           .shared_bytes = shared_bytes,
                                           .stop = stop},
                                          beside_.get())
                      : launch_occupation({probe.beside_sms, shared_bytes, stop}, beside_.get()),
               copies ? "launch_block_copy" : "launch_occupation");
    hold(main_);
    record(begin_, main_);
    gemm->run(workspace_.get(), main_.get());
    record(end_, main_);
    const Time time = elapsed();
    beside.end();
    return time;
  };
}

// From when the GEMM begins to the end of a copy that is launched right behind it.
std::function<Time()> CudaProbeDevice::prepare_late_copy(const GpuProbe& probe) {
  GpuProbe of_gemm = probe;
  of_gemm.sms = 0;
  const auto gemm = std::make_shared<ProbeGemm>(cublas_.get(), of_gemm, main_.get());
  return [this, gemm, probe] {
    const Stream& stream = probe.priority ? beside_ : other_;
    record(begin_, main_);
    gemm->run(workspace_.get(), main_.get());
    check_cuda(launch_block_copy({.from = scratch_.get(),
                                  .to = second_half(scratch_),
                                  .bytes = probe.bytes,
                                  .blocks = probe.blocks},
                                 stream.get()),
               "launch_block_copy");
    record(end_, stream);
    const Time time = elapsed();
    synchronize(main_);
    return time;
  };
}

std::function<Time()> CudaProbeDevice::prepare_queues(const GpuProbe& probe) {
  struct Chains {
    std::vector<Stream> streams;
    std::vector<Event> ends;
  };
  const auto chains = std::make_shared<Chains>();
  for (int i = 0; i < probe.streams; ++i) {
    chains->streams.push_back(make_stream(StreamPriority::kLow));
    chains->ends.push_back(make_event(EventKind::kUntimed));
  }
  return [this, chains, num_kernels = probe.kernels] {
    constexpr int64_t kNanoseconds = 50'000;
    hold(main_);
    record(begin_, main_);
    for (std::size_t i = 0; i < chains->streams.size(); ++i) {
      const Stream& stream = chains->streams[i];
      wait_for(stream, begin_);
      for (int kernel = 0; kernel < num_kernels; ++kernel) {
        check_cuda(launch_spin(kNanoseconds, stream.get()), "launch_spin");
      }
      record(chains->ends[i], stream);
    }
    for (const Event& end : chains->ends) {
      wait_for(main_, end);
    }
    record(end_, main_);
    return elapsed();
  };
}

std::function<Time()> CudaProbeDevice::prepare_copy(const GpuProbe& probe) {
  if (probe.bytes > kHalf) {
    throw Failure("a copy probe is larger than its memory");
  }
  return [this, probe] {
    hold(main_);
    record(begin_, main_);
    check_cuda(launch_block_copy({.from = scratch_.get(),
                                  .to = second_half(scratch_),
                                  .bytes = probe.bytes,
                                  .blocks = probe.blocks},
                                 main_.get()),
               "launch_block_copy");
    record(end_, main_);
    return elapsed();
  };
}

// Of the host, which runs ahead of the device as far as its queue holds.
std::function<Time()> CudaProbeDevice::prepare_launch(const GpuProbe& probe) {
  return [this, num_kernels = probe.kernels] {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < num_kernels; ++i) {
      check_cuda(launch_nothing(main_.get()), "launch_nothing");
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    synchronize(main_);
    return Time::from_seconds(seconds.count());
  };
}

}  // namespace moesim
