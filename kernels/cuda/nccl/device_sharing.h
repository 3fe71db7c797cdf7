#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace moesim {

// A process among those of one machine.
struct PlaceHere {
  int place = 0;  // from 0 on
  // What each of them says, by place. All call it.
  std::function<std::vector<std::string>(const std::string&)> tell;
};

// Which device a process uses, and what it tells NCCL in its environment.
struct DeviceChoice {
  int device = 0;
  bool is_shared = false;  // some processes of this machine have the same GPU
  std::vector<std::pair<std::string, std::string>> environment;
};

// Processes take the devices that they see in turn: all of the machine's, or one alone that Slurm
// gave each. `gpu_of` names a device's GPU, alike for all processes. Where two have the same GPU,
// NCCL (before 2.30) refuses them as ranks of one host: each then claims to be a host of its own,
// and they talk over sockets. That shows whether results are right; its times mean nothing, as
// processes take turns on the device.
DeviceChoice choose_device(const PlaceHere& here,
                           int num_devices,
                           const std::function<std::string(int device)>& gpu_of);

// Sets what is not set yet: who set it knows why. Before NCCL is used for the first time, and
// before there are other threads.
void set_environment(const DeviceChoice& choice);

}  // namespace moesim
