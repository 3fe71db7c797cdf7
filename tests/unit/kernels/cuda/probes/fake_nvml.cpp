#include "tests/unit/kernels/cuda/probes/fake_nvml.h"

#include <string>

namespace {

struct FakeNvml {
  std::string failing_call;
  int gpu = 0;  // its address is the only device
};

// The library is a process's own, as NVML is: its functions have nothing else to keep state in.
FakeNvml& nvml() {
  static FakeNvml state;
  return state;
}

int status(const char* call) {
  constexpr int kUnknownError = 999;
  return nvml().failing_call == call ? kUnknownError : 0;
}

}  // namespace

extern "C" {

void fake_nvml_fail(const char* call) {
  nvml().failing_call = call;
}

int nvmlInit_v2() {
  return status("nvmlInit_v2");
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* pci_bus_id, void** device) {
  constexpr int kNotFound = 6;
  if (std::string(pci_bus_id) != kFakeNvmlGpu) {
    return kNotFound;
  }
  *device = &nvml().gpu;
  return status("nvmlDeviceGetHandleByPciBusId_v2");
}

int nvmlDeviceGetClockInfo(void* device, int clock, unsigned* megahertz) {
  constexpr int kInvalidArgument = 2;
  constexpr int kClockOfSms = 1;  // others are those of graphics, memory and video
  if (device != &nvml().gpu || clock != kClockOfSms) {
    return kInvalidArgument;
  }
  *megahertz = kFakeNvmlMegahertz;
  return status("nvmlDeviceGetClockInfo");
}
}
