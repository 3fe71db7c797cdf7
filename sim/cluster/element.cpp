#include "sim/cluster/element.h"

#include <fmt/core.h>

namespace moesim {

std::string name(ElementKind kind) {
  switch (kind) {
    case ElementKind::kGpu:
      return "gpu";
    case ElementKind::kNic:
      return "nic";
    case ElementKind::kNvSwitch:
      return "nvswitch";
    case ElementKind::kPcieSwitch:
      return "pcie_switch";
    case ElementKind::kRootPort:
      return "root_port";
    case ElementKind::kSocket:
      return "socket";
    case ElementKind::kMemory:
      return "memory";
    case ElementKind::kSwitch:
      return "switch";
  }
  return "";
}

std::string name(const Element& element) {
  if (element.node == kNone) {
    return fmt::format("{}:{}/{}", name(element.kind), element.level, element.index);
  }
  return fmt::format("node:{}/{}:{}", element.node, name(element.kind), element.index);
}

}  // namespace moesim
