#pragma once

#include <string>
#include <utility>
#include <vector>

namespace moesim {

// A process among those of one machine.
struct PlaceHere {
  int place = 0;  // from 0 on
  int num_processes = 1;
};

// Which device a process uses, and what it tells NCCL in its environment.
struct DeviceChoice {
  int device = 0;
  bool is_shared = false;
  std::vector<std::pair<std::string, std::string>> environment;
};

// Processes take the devices in turn. Where there are more processes than devices, NCCL (before
// 2.30) refuses two ranks on one GPU of one host: each then claims to be a host of its own, and
// they talk over sockets. That shows whether results are right; its times mean nothing, as
// processes take turns on the device.
DeviceChoice choose_device(const PlaceHere& here, int num_devices);

// Sets what is not set yet: who set it knows why. Before NCCL is used for the first time, and
// before there are other threads.
void set_environment(const DeviceChoice& choice);

}  // namespace moesim
