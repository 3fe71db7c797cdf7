#include "sim/report/link_style.h"

#include <algorithm>
#include <cmath>

namespace moesim {

std::string_view colour(ElementKind kind) {
  switch (kind) {
    case ElementKind::kGpu:
      return "#b5e3d3";
    case ElementKind::kNic:
      return "#f8d9a0";
    case ElementKind::kNvSwitch:
      return "#c9e6a8";
    case ElementKind::kPcieSwitch:
    case ElementKind::kRootPort:
      return "#d5e8f6";
    case ElementKind::kSocket:
      return "#e6d3e2";
    case ElementKind::kMemory:
      return "#eeeeee";
    case ElementKind::kSwitch:
      return "#f7c7a9";
  }
  return "#ffffff";
}

std::string_view colour(LinkKind kind) {
  switch (kind) {
    case LinkKind::kAny:
      return "#000000";
    case LinkKind::kNvLink:
      return "#009e73";
    case LinkKind::kPcie:
      return "#0072b2";
    case LinkKind::kInterconnect:
      return "#cc79a7";
    case LinkKind::kMemory:
      return "#777777";
    case LinkKind::kNetwork:
      return "#d55e00";
  }
  return "#000000";
}

double width_of_link(double rate) {
  constexpr double kThin = 2e9;
  return std::clamp(0.6 * std::log2(std::max(rate, 1.0) / kThin), 0.8, 8.0);
}

}  // namespace moesim
