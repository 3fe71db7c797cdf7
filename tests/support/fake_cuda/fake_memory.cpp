// The functions of the CUDA runtime for memory, and the launches of our own kernels.
#include <cstring>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "kernels/cuda/launch.h"
#include "tests/support/fake_cuda/fake_device.h"

namespace {

using moesim::testing::FakeDevice;
using moesim::testing::FakeStream;

FakeDevice& device() {
  return FakeDevice::current();
}

template <typename Body>
cudaError_t call(const char* name, const Body& body) {
  return moesim::testing::fake_call<cudaError_t>(name, body);
}

template <typename Body>
cudaError_t launch(const char* name, const std::string& function, const Body& body) {
  return moesim::testing::fake_launch<cudaError_t>(name, function, body);
}

template <typename Work>
cudaError_t enqueue(cudaStream_t stream, moesim::Time duration, const Work& work) {
  device().add_work(reinterpret_cast<FakeStream*>(stream), work, duration, true);
  return cudaSuccess;
}

moesim::Time kernel_time() {
  return device().options().kernel_time;
}

// Blocks run in any order: here in a circle from a random one on.
template <typename Body>
void run_blocks(const Body& body, int64_t blocks) {
  typename Body::Scratch scratch;
  const int64_t first = device().random().uniform_int(0, blocks - 1);
  for (int64_t i = 0; i < blocks; ++i) {
    body.run(static_cast<int>((first + i) % blocks), scratch);
  }
}

}  // namespace

cudaError_t cudaMalloc(void** memory, size_t bytes) {
  return call("cudaMalloc", [&] {
    *memory = device().allocate(static_cast<int64_t>(bytes));
    return *memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
  });
}

cudaError_t cudaMallocHost(void** memory, size_t bytes) {
  return call("cudaMallocHost", [&] {
    *memory = device().allocate_host(static_cast<int64_t>(bytes));
    return cudaSuccess;
  });
}

cudaError_t cudaFree(void* memory) {
  const std::lock_guard lock(device().mutex());
  device().free(memory);
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void* memory) {
  const std::lock_guard lock(device().mutex());
  device().free(memory);
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return call("cudaMemGetInfo", [&] {
    *free = static_cast<size_t>(device().free_bytes());
    *total = static_cast<size_t>(device().options().memory_bytes);
    return cudaSuccess;
  });
}

// On the default stream. To the device it returns when the bytes are read, which is before they
// have arrived.
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return call("cudaMemcpy", [&] {
    if (to == nullptr || from == nullptr) {
      return cudaErrorInvalidValue;  // even of no bytes
    }
    FakeStream& stream = device().default_stream();
    if (kind == cudaMemcpyHostToDevice) {
      const auto* begin = static_cast<const std::byte*>(from);
      const auto arrive = [to, staged = std::vector(begin, begin + bytes)] {
        std::memcpy(to, staged.data(), staged.size());
      };
      device().add_work(&stream, arrive, {}, false);
    } else {
      device().run_until([&] { return stream.items.empty(); });
      std::memcpy(to, from, bytes);
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpyAsync(
    void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  return call("cudaMemcpyAsync", [&] {
    return enqueue(stream, kernel_time(), [=] { std::memcpy(to, from, bytes); });
  });
}

cudaError_t cudaMemcpy2DAsync(void* to,
                              size_t to_pitch,
                              const void* from,
                              size_t from_pitch,
                              size_t width,
                              size_t height,
                              cudaMemcpyKind,
                              cudaStream_t stream) {
  return call("cudaMemcpy2DAsync", [&] {
    return enqueue(stream, kernel_time(), [=] {
      for (size_t row = 0; row < height; ++row) {
        std::memcpy(static_cast<std::byte*>(to) + row * to_pitch,
                    static_cast<const std::byte*>(from) + row * from_pitch,
                    width);
      }
    });
  });
}

cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) {
  return call("cudaMemsetAsync", [&] {
    if (memory == nullptr) {
      return cudaErrorInvalidValue;  // even of no bytes
    }
    return enqueue(stream, kernel_time(), [=] { std::memset(memory, value, bytes); });
  });
}

namespace moesim {

cudaError_t launch_kernel(const Kernel& kernel, cudaStream_t stream) {
  return launch("launch_kernel", name_of(kernel), [&] {
    return enqueue(stream, kernel_time(), [kernel] {
      std::visit([&](const auto& body) { run_blocks(body, kernel.blocks); }, kernel.body);
    });
  });
}

cudaError_t launch_spin(int64_t nanoseconds, cudaStream_t stream) {
  return launch("launch_spin", "spin", [&] {
    return enqueue(stream, Time::from_picoseconds(1000 * nanoseconds), [] {});
  });
}

}  // namespace moesim
