#include "kernels/cuda/probes/gpu_clock.h"

#include <dlfcn.h>

namespace moesim {
namespace {

// What nvml.h declares of the functions that are used; NVML keeps these names and types.
using NvmlDevice = void*;
using Init = int (*)();
using GetDevice = int (*)(const char* pci_bus_id, NvmlDevice* device);
using GetClock = int (*)(NvmlDevice device, int clock, unsigned* megahertz);
constexpr int kSuccess = 0;
constexpr int kClockOfSms = 1;  // NVML_CLOCK_SM

template <typename Function>
Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

GpuClock::GpuClock(const std::string& pci_bus_id)
    : library_(dlopen("libnvidia-ml.so.1", RTLD_LAZY), [](void* library) {
        if (library != nullptr) {
          dlclose(library);
        }
      }) {
  if (library_ == nullptr) {
    return;
  }
  const auto init = find<Init>(library_.get(), "nvmlInit_v2");
  const auto get_device = find<GetDevice>(library_.get(), "nvmlDeviceGetHandleByPciBusId_v2");
  const auto get_clock = find<GetClock>(library_.get(), "nvmlDeviceGetClockInfo");
  NvmlDevice device = nullptr;
  if (init == nullptr || get_device == nullptr || get_clock == nullptr || init() != kSuccess ||
      get_device(pci_bus_id.c_str(), &device) != kSuccess) {
    return;
  }
  read_ = [get_clock, device]() -> std::optional<double> {
    constexpr double kMega = 1e6;
    unsigned megahertz = 0;
    return get_clock(device, kClockOfSms, &megahertz) == kSuccess ? std::optional(kMega * megahertz)
                                                                  : std::nullopt;
  };
}

std::optional<double> GpuClock::hertz() const {
  return read_ ? read_() : std::nullopt;
}

}  // namespace moesim
