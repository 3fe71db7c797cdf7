#include "kernels/cuda/handles.h"

namespace moesim {

void CudaDeleter::operator()(cudaStream_t stream) const {
  static_cast<void>(cudaStreamDestroy(stream));
}

void CudaDeleter::operator()(cudaEvent_t event) const {
  static_cast<void>(cudaEventDestroy(event));
}

void CudaDeleter::operator()(cudaGraph_t graph) const {
  static_cast<void>(cudaGraphDestroy(graph));
}

void CudaDeleter::operator()(cudaGraphExec_t graph) const {
  static_cast<void>(cudaGraphExecDestroy(graph));
}

void DeviceMemoryDeleter::operator()(void* memory) const {
  static_cast<void>(cudaFree(memory));
}

void PinnedMemoryDeleter::operator()(void* memory) const {
  static_cast<void>(cudaFreeHost(memory));
}

Stream make_stream(StreamPriority priority) {
  int lowest = 0;
  int highest = 0;
  check_cuda(cudaDeviceGetStreamPriorityRange(&lowest, &highest),
             "cudaDeviceGetStreamPriorityRange");
  cudaStream_t stream = nullptr;
  check_cuda(
      cudaStreamCreateWithPriority(
          &stream, cudaStreamNonBlocking, priority == StreamPriority::kHigh ? highest : lowest),
      "cudaStreamCreateWithPriority");
  return Stream(stream);
}

Event make_event(EventKind kind) {
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreateWithFlags(
                 &event, kind == EventKind::kTimed ? cudaEventDefault : cudaEventDisableTiming),
             "cudaEventCreateWithFlags");
  return Event(event);
}

Time elapsed(const Event& begin, const Event& end) {
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "cudaEventElapsedTime");
  return Time::from_seconds(1e-3 * static_cast<double>(milliseconds));
}

DeviceMemory make_device_memory(int64_t bytes) {
  void* memory = nullptr;
  if (bytes > 0) {
    check_cuda(cudaMalloc(&memory, static_cast<size_t>(bytes)), "cudaMalloc");
  }
  return DeviceMemory(memory);
}

PinnedMemory make_pinned_memory(int64_t bytes) {
  void* memory = nullptr;
  if (bytes > 0) {
    check_cuda(cudaMallocHost(&memory, static_cast<size_t>(bytes)), "cudaMallocHost");
  }
  return PinnedMemory(memory);
}

}  // namespace moesim
