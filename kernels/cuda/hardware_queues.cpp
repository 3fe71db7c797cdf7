#include "kernels/cuda/hardware_queues.h"

#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "kernels/cuda/cuda_call.h"
#include "sim/base/check.h"

namespace moesim {
namespace {

constexpr const char* kVariable = "CUDA_DEVICE_MAX_CONNECTIONS";

// The driver's cuDevicePrimaryCtxGetState, which the runtime finds: the driver's library is not
// linked, so that the program starts without one.
using GetContextState = int (*)(int device, unsigned* flags, int* is_active);

bool has_context(int device) {
  constexpr unsigned kSinceVersion = 7000;
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result{};
  const cudaError_t status = cudaGetDriverEntryPointByVersion(
      "cuDevicePrimaryCtxGetState", &function, kSinceVersion, cudaEnableDefault, &result);
  if (status != cudaSuccess || function == nullptr) {
    static_cast<void>(cudaGetLastError());
    return false;  // no driver, no context: use_device says so
  }
  unsigned flags = 0;
  int is_active = 0;
  return reinterpret_cast<GetContextState>(function)(device, &flags, &is_active) == 0 &&
         is_active != 0;
}

}  // namespace

void set_hardware_queues(int queues, int device) {
  CHECK(queues >= 1 && queues <= 32, "{} hardware queues", queues);
  const std::string wanted = std::to_string(queues);
  const char* before = std::getenv(kVariable);
  if (before != nullptr && before == wanted) {
    return;
  }
  const std::string was = before == nullptr ? "not set" : before;
  CHECK(setenv(kVariable, wanted.c_str(), 1) == 0, "{}={}", kVariable, wanted);
  if (has_context(device)) {
    throw Failure(
        fmt::format("the context of CUDA device {} was made while {} was {}; start the "
                    "program with {}={}",
                    device,
                    kVariable,
                    was,
                    kVariable,
                    wanted));
  }
}

}  // namespace moesim
