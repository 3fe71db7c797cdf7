#include "kernels/cuda/nccl/device_sharing.h"

#include <cstdlib>

#include <fmt/core.h>

#include "sim/base/check.h"

namespace moesim {

DeviceChoice choose_device(const PlaceHere& here, int num_devices) {
  CHECK(num_devices > 0, "{} devices", num_devices);
  DeviceChoice choice;
  choice.device = here.place % num_devices;
  choice.is_shared = here.num_processes > num_devices;
  if (choice.is_shared) {
    choice.environment = {{"NCCL_HOSTID", fmt::format("moesim-{}", here.place)},
                          {"NCCL_P2P_DISABLE", "1"},
                          {"NCCL_SHM_DISABLE", "1"},
                          {"NCCL_IB_DISABLE", "1"},
                          {"NCCL_SOCKET_IFNAME", "lo"}};
  }
  return choice;
}

void set_environment(const DeviceChoice& choice) {
  constexpr int kKeep = 0;
  for (const auto& [name, value] : choice.environment) {
    CHECK(setenv(name.c_str(), value.c_str(), kKeep) == 0, "{}={}", name, value);
  }
}

}  // namespace moesim
