#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "kernels/cuda/cuda_call.h"
#include "sim/base/time.h"

namespace moesim {

// What CUDA gives and takes back. A handle that cannot be given back is lost: a destructor has
// nobody to tell, and the error that led there has been told.
struct CudaDeleter {
  void operator()(cudaStream_t stream) const;
  void operator()(cudaEvent_t event) const;
  void operator()(cudaGraph_t graph) const;
  void operator()(cudaGraphExec_t graph) const;
};
struct DeviceMemoryDeleter {
  void operator()(void* memory) const;
};
struct PinnedMemoryDeleter {
  void operator()(void* memory) const;
};

template <typename Handle>
using CudaHandle = std::unique_ptr<std::remove_pointer_t<Handle>, CudaDeleter>;

using Stream = CudaHandle<cudaStream_t>;
using Event = CudaHandle<cudaEvent_t>;
using Graph = CudaHandle<cudaGraph_t>;
using ExecutableGraph = CudaHandle<cudaGraphExec_t>;
using DeviceMemory = std::unique_ptr<void, DeviceMemoryDeleter>;
using PinnedMemory = std::unique_ptr<void, PinnedMemoryDeleter>;

enum class StreamPriority { kLow, kHigh };
enum class EventKind {
  kTimed,
  kUntimed  // cheaper to record and to wait for
};

// On the current device. The stream does not wait for the default stream, nor it for this one.
Stream make_stream(StreamPriority priority);
Event make_event(EventKind kind);
// Between two timed events that are over; CUDA tells it to half a microsecond.
Time elapsed(const Event& begin, const Event& end);
// Null for no bytes.
DeviceMemory make_device_memory(int64_t bytes);
PinnedMemory make_pinned_memory(int64_t bytes);

}  // namespace moesim
