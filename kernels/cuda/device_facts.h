#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace moesim {

// Another device whose memory this one reaches.
struct PeerFacts {
  int device = 0;
  int performance_rank = 0;         // CUDA's order of this device's ways to others; 0 is the best
  bool has_native_atomics = false;  // over NVLink yes, over PCIe mostly not
};

// What the CUDA runtime tells about a device and itself.
struct DeviceFacts {
  int device = 0;
  std::string name;
  int compute_major = 0;
  int compute_minor = 0;
  int num_sms = 0;
  int64_t memory_bytes = 0;
  int64_t l2_bytes = 0;
  int sm_clock_khz = 0;      // the highest
  int memory_clock_khz = 0;  // likewise
  std::string pci_bus_id;    // "0000:1b:00.0"
  std::vector<PeerFacts> peers;
  int driver_version = 0;   // of CUDA that the driver knows: 13000 is 13.0
  int runtime_version = 0;  // of CUDA that this program has
};

// Devices that can be used: none without a driver, whatever CUDA says is the reason.
int count_devices();

// Makes it the current device. Throws Failure, in one sentence, where there is no device at all or
// none of this number.
void use_device(int device);

DeviceFacts device_facts(int device);

// "NVIDIA H200 (sm_90, 132 SMs, 139.8 GiB), driver for CUDA 13.0, runtime 13.0"
std::string describe(const DeviceFacts& facts);

}  // namespace moesim
