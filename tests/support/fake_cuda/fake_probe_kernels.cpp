// Bodies for the host of the kernels that only probes launch.
#include <cstring>

#include "kernels/core/bfloat16.h"
#include "kernels/cuda/probes/probe_kernels.h"
#include "tests/support/fake_cuda/fake_device.h"

namespace moesim {
namespace {

using testing::FakeDevice;
using testing::FakeStream;

cudaError_t add(const char* name, cudaStream_t stream, std::function<void()> body) {
  return testing::fake_launch<cudaError_t>(name, name, [&] {
    FakeDevice& device = FakeDevice::current();
    device.add_work(
        reinterpret_cast<FakeStream*>(stream), std::move(body), device.options().kernel_time, true);
    return cudaSuccess;
  });
}

// A kernel that goes on until it is stopped; what it does meanwhile is not the fake's subject.
cudaError_t add_endless(const char* name, cudaStream_t stream, const int* stop) {
  return testing::fake_launch<cudaError_t>(name, name, [&] {
    FakeDevice::current().add_endless(reinterpret_cast<FakeStream*>(stream), stop);
    return cudaSuccess;
  });
}

}  // namespace

cudaError_t launch_block_copy(const BlockCopy& copy, cudaStream_t stream) {
  if (copy.stop != nullptr) {
    return add_endless("launch_block_copy", stream, copy.stop);
  }
  return add("launch_block_copy", stream, [copy] {
    std::memcpy(copy.to, copy.from, static_cast<size_t>(copy.bytes));
  });
}

cudaError_t launch_occupation(const Occupation& occupation, cudaStream_t stream) {
  return add_endless("launch_occupation", stream, occupation.stop);
}

cudaError_t launch_nothing(cudaStream_t stream) {
  return add("launch_nothing", stream, [] {});
}

cudaError_t launch_noise(void* at, int64_t count, uint32_t seed, cudaStream_t stream) {
  return add("launch_noise", stream, [=] {
    for (int64_t i = 0; i < count; ++i) {
      static_cast<Bfloat16*>(at)[i] = to_bfloat16(static_cast<float>(seed));
    }
  });
}

}  // namespace moesim
