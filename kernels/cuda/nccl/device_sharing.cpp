#include "kernels/cuda/nccl/device_sharing.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/core.h>

#include "sim/base/check.h"

namespace moesim {

DeviceChoice choose_device(const PlaceHere& here,
                           int num_devices,
                           const std::function<std::string(int)>& gpu_of) {
  CHECK(num_devices > 0, "{} devices", num_devices);
  DeviceChoice choice;
  choice.device = here.place % num_devices;
  std::vector<std::string> gpus = here.tell(gpu_of(choice.device));
  std::sort(gpus.begin(), gpus.end());
  choice.is_shared = std::adjacent_find(gpus.begin(), gpus.end()) != gpus.end();
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
