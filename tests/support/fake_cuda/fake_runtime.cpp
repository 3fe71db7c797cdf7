// The functions of the CUDA runtime that the CUDA backend calls: devices, streams, events, graphs.
#include <chrono>
#include <cstring>
#include <thread>

#include <cuda_runtime_api.h>

#include "kernels/cuda/context_state.h"
#include "tests/support/fake_cuda/fake_device.h"

namespace {

using moesim::testing::FakeDevice;
using moesim::testing::FakeEvent;
using moesim::testing::FakeGraph;
using moesim::testing::FakeStream;

FakeDevice& device() {
  return FakeDevice::current();
}

FakeStream* fake(cudaStream_t stream) {
  return stream == nullptr ? &device().default_stream() : reinterpret_cast<FakeStream*>(stream);
}

FakeEvent* fake(cudaEvent_t event) {
  return reinterpret_cast<FakeEvent*>(event);
}

template <typename Body>
cudaError_t call(const char* name, const Body& body) {
  return moesim::testing::fake_call<cudaError_t>(name, body);
}

// A call that waits. Where streams wait for what other threads do, it lets them.
cudaError_t wait_until(const char* name,
                       const std::function<bool()>& is_done,
                       const std::function<moesim::Time()>& end) {
  if (const cudaError_t status = call(name, [] { return cudaSuccess; }); status != cudaSuccess) {
    return status;
  }
  while (true) {
    {
      const std::lock_guard lock(device().mutex());
      if (device().run_until(is_done)) {
        device().advance_host(end());
        return static_cast<cudaError_t>(device().failure());
      }
      if (!device().is_held_up()) {
        return cudaErrorLaunchTimeout;  // it would wait for ever
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

void destroy(void* handle) {
  const std::lock_guard lock(device().mutex());
  device().destroy(handle);
}

}  // namespace

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorMisalignedAddress:
      return "cudaErrorMisalignedAddress";
    default:
      return "cudaErrorFake";
  }
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorMisalignedAddress:
      return "misaligned address";
    default:
      return "a fault of the test";
  }
}

cudaError_t cudaGetLastError() {
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  return call("cudaGetDeviceCount", [&] {
    if (device().options().num_devices == 0) {
      return cudaErrorInsufficientDriver;  // and `count` is left as it is
    }
    *count = device().options().num_devices;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int) {
  return call("cudaSetDevice", [] { return cudaSuccess; });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  return call("cudaGetDeviceProperties", [&] {
    std::strcpy(properties->name, "Fake GPU");
    properties->major = 9;
    properties->multiProcessorCount = 132;
    properties->totalGlobalMem = static_cast<size_t>(device().options().memory_bytes);
    properties->l2CacheSize = 1 << 20;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  return call("cudaDeviceGetAttribute", [&] {
    *value = attribute == cudaDevAttrClockRate ? 1'980'000 : 2'619'000;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int, int) {
  return call("cudaDeviceGetP2PAttribute", [&] {
    *value = attribute == cudaDevP2PAttrPerformanceRank ? 0 : 1;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int number) {
  return call("cudaDeviceGetPCIBusId", [&] {
    std::snprintf(id, static_cast<size_t>(length), "0000:%02x:00.0", number);
    return cudaSuccess;
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return call("cudaDriverGetVersion", [&] {
    *version = device().options().driver_version;
    return cudaSuccess;
  });
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return call("cudaRuntimeGetVersion", [&] {
    *version = 12'080;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call("cudaDeviceGetStreamPriorityRange", [&] {
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int priority) {
  return call("cudaStreamCreateWithPriority", [&] {
    *stream = reinterpret_cast<cudaStream_t>(device().make_stream(priority));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const std::lock_guard lock(device().mutex());
  device().destroy_stream(fake(stream));
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return wait_until(
      "cudaStreamSynchronize",
      [&] { return fake(stream)->items.empty(); },
      [&] { return fake(stream)->now; });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return call("cudaStreamWaitEvent", [&] {
    device().wait(fake(stream), *fake(event));
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call("cudaEventCreateWithFlags", [&] {
    auto* made = device().make<FakeEvent>();
    made->is_timed = (flags & cudaEventDisableTiming) == 0;
    *event = reinterpret_cast<cudaEvent_t>(made);
    return cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  destroy(event);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call("cudaEventRecord", [&] {
    device().record(fake(event), fake(stream), false);
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return call("cudaEventRecordWithFlags", [&] {
    device().record(fake(event), fake(stream), flags == cudaEventRecordExternal);
    return cudaSuccess;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const auto last = fake(event)->last;
  return wait_until(
      "cudaEventSynchronize",
      [&] { return last == nullptr || last->is_over; },
      [&] { return last == nullptr ? moesim::Time() : last->time; });
}

// Who asks again and again waits, too.
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call("cudaEventQuery", [&] {
    const auto last = fake(event)->last;
    const bool is_over = device().run_until([&] { return last == nullptr || last->is_over; });
    const auto failure = static_cast<cudaError_t>(device().failure());
    return is_over || failure != cudaSuccess ? failure : cudaErrorNotReady;
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call("cudaEventElapsedTime", [&] {
    for (const FakeEvent* event : {fake(start), fake(end)}) {
      if (!event->is_timed || event->last == nullptr) {
        return cudaErrorInvalidResourceHandle;
      }
      if (!event->last->is_over) {
        return cudaErrorNotReady;
      }
    }
    const moesim::Time time = fake(end)->last->time - fake(start)->last->time;
    *milliseconds = static_cast<float>(1e3 * time.seconds());
    return cudaSuccess;
  });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  return call("cudaStreamBeginCapture", [&] {
    device().begin_capture(fake(stream));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  return call("cudaStreamEndCapture", [&] {
    *graph = reinterpret_cast<cudaGraph_t>(device().end_capture());
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable,
                                 cudaGraph_t graph,
                                 unsigned long long flags) {
  return call("cudaGraphInstantiate", [&] {
    auto* copy = device().make<FakeGraph>();
    *copy = *reinterpret_cast<FakeGraph*>(graph);
    copy->keeps_priorities = (flags & cudaGraphInstantiateFlagUseNodePriority) != 0;
    *executable = reinterpret_cast<cudaGraphExec_t>(copy);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return call("cudaGraphLaunch", [&] {
    device().launch(*reinterpret_cast<FakeGraph*>(executable), fake(stream));
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  destroy(graph);
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  destroy(graph);
  return cudaSuccess;
}

bool moesim::has_context(int) {
  return device().has_context();
}
