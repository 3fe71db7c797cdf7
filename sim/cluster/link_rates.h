#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace moesim {

// What hardware carries, in bytes per second and each way, for what a dump of a node leaves out.

// Of a PCIe link of so many GT/s and lanes; nothing where no PCIe is that fast or that wide.
std::optional<double> pcie_rate(double gigatransfers, int lanes);

// A figure, and what it is of: "NVLink 4 (sm 90)".
struct KnownRate {
  double rate = 0;
  std::string what;
};

// Of one NVLink of a GPU of a compute capability (90: 9.0).
std::optional<KnownRate> nvlink_rate(int compute_capability);

// The same from how many links each GPU has, where all GPUs with so many have equal ones.
std::optional<KnownRate> nvlink_rate_by_count(int links_of_gpu);

// Of one xGMI link of a GPU of an architecture such as "gfx942" or "942".
std::optional<KnownRate> xgmi_rate(std::string_view architecture);

// A processor as NCCL writes it: `family` and `model` with their extensions above four bits.
struct Processor {
  std::string architecture;  // "x86_64"
  std::string vendor;        // "GenuineIntel"
  int family = 0;
  int model = 0;
};

// Between two sockets.
std::optional<KnownRate> interconnect_rate(const Processor& processor);

// Of a socket's memory with all channels filled; reads and writes share it.
std::optional<KnownRate> memory_rate(const Processor& processor);

}  // namespace moesim
