#include "kernels/cuda/device_facts.h"

#include <fmt/format.h>

#include "kernels/cuda/cuda_call.h"
#include "sim/base/units.h"

namespace moesim {
namespace {

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check_cuda(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

int peer_attribute(cudaDeviceP2PAttr which, int device, int peer) {
  int value = 0;
  check_cuda(cudaDeviceGetP2PAttribute(&value, which, device, peer), "cudaDeviceGetP2PAttribute");
  return value;
}

std::vector<PeerFacts> peers_of(int device) {
  std::vector<PeerFacts> peers;
  for (int peer = 0; peer < count_devices(); ++peer) {
    if (peer != device && peer_attribute(cudaDevP2PAttrAccessSupported, device, peer) != 0) {
      peers.push_back({peer,
                       peer_attribute(cudaDevP2PAttrPerformanceRank, device, peer),
                       peer_attribute(cudaDevP2PAttrNativeAtomicSupported, device, peer) != 0});
    }
  }
  return peers;
}

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

// A driver that is too old is no driver, for CUDA; it is there all the same.
std::string no_device() {
  int driver = 0;
  int runtime = 0;
  check_cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check_cuda(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  if (driver > 0 && driver / 1000 < runtime / 1000) {
    return fmt::format(
        "no CUDA device: the driver knows CUDA {}, and this program is of CUDA {}; install a newer "
        "driver, or build with CUDA {}",
        version_text(driver),
        version_text(runtime),
        driver / 1000);
  }
  return "no CUDA device: this machine has none, or no driver for it that knows this program's "
         "CUDA; nvidia-smi says what the driver sees";
}

}  // namespace

int count_devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());  // nobody else is to see this error
    return 0;
  }
  return count;
}

void use_device(int device) {
  const int count = count_devices();
  if (count <= 0) {
    throw Failure(no_device());
  }
  if (device < 0 || device >= count) {
    throw Failure(
        fmt::format("no CUDA device {}: this process sees {}, from 0 on; "
                    "CUDA_VISIBLE_DEVICES hides others",
                    device,
                    count));
  }
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
}

DeviceFacts device_facts(int device) {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  DeviceFacts facts;
  facts.device = device;
  facts.name = properties.name;
  facts.compute_major = properties.major;
  facts.compute_minor = properties.minor;
  facts.num_sms = properties.multiProcessorCount;
  facts.memory_bytes = static_cast<int64_t>(properties.totalGlobalMem);
  facts.l2_bytes = properties.l2CacheSize;
  facts.sm_clock_khz = attribute(cudaDevAttrClockRate, device);
  facts.memory_clock_khz = attribute(cudaDevAttrMemoryClockRate, device);
  facts.peers = peers_of(device);
  char bus_id[32] = {};
  check_cuda(cudaDeviceGetPCIBusId(bus_id, sizeof(bus_id), device), "cudaDeviceGetPCIBusId");
  facts.pci_bus_id = bus_id;
  check_cuda(cudaDriverGetVersion(&facts.driver_version), "cudaDriverGetVersion");
  check_cuda(cudaRuntimeGetVersion(&facts.runtime_version), "cudaRuntimeGetVersion");
  return facts;
}

std::string describe(const DeviceFacts& facts) {
  return fmt::format("{} (sm_{}{}, {} SMs, {}), driver for CUDA {}, runtime {}",
                     facts.name,
                     facts.compute_major,
                     facts.compute_minor,
                     facts.num_sms,
                     format_bytes(facts.memory_bytes),
                     version_text(facts.driver_version),
                     version_text(facts.runtime_version));
}

}  // namespace moesim
