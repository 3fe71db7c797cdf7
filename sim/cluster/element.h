#pragma once

#include <cstdint>
#include <string>

#include "sim/io/program.h"

namespace moesim {

// A root port is where a socket's PCIe begins; memory is that of a socket.
enum class ElementKind : std::uint8_t {
  kGpu,
  kNic,
  kNvSwitch,
  kPcieSwitch,
  kRootPort,
  kSocket,
  kMemory,
  kSwitch,
};

// What links join: a part of a node, or a switch of the fabric. Where a message may take any of
// several equal switches, they are one element, and their links one link (`width`).
struct Element {
  ElementKind kind = ElementKind::kGpu;
  int node = kNone;  // kNone: of the fabric
  int index = 0;     // among its kind in the node; of a switch, in its level
  int level = 0;     // of a switch: how far from the NICs
  int width = 1;     // equal switches
  // DMODK leaves a switch by link (receiver / stride) mod links; 0: by the first one.
  int stride = 0;
};

// "node:7/nic:2", "switch:1/3" (level and index).
std::string name(const Element& element);

// "gpu", "nvswitch", …
std::string name(ElementKind kind);

}  // namespace moesim
