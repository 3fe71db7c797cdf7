#include "sim/report/load_scale.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

namespace moesim {
namespace {

struct Stop {
  double share = 0;
  std::array<double, 3> rgb{};
};

constexpr std::array<Stop, 5> kStops = {{{0.0, {0xb9, 0xcf, 0xe4}},
                                         {0.45, {0x3d, 0x7f, 0xbf}},
                                         {0.65, {0x8f, 0x63, 0xa3}},
                                         {0.8, {0xf2, 0x8e, 0x2b}},
                                         {1.0, {0xb0, 0x0d, 0x1e}}}};
constexpr const char* kUnused = "#dddddd";

}  // namespace

std::string load_colour(double share) {
  if (share <= 0) {
    return kUnused;
  }
  const double clamped = std::min(share, 1.0);
  const auto after = std::ranges::find_if(
      kStops.begin() + 1, kStops.end(), [&](const Stop& stop) { return clamped <= stop.share; });
  const Stop& from = *(after - 1);
  const double way = (clamped - from.share) / (after->share - from.share);
  std::array<int, 3> rgb{};
  for (std::size_t i = 0; i < rgb.size(); ++i) {
    rgb[i] = static_cast<int>(std::lround(from.rgb[i] + way * (after->rgb[i] - from.rgb[i])));
  }
  return fmt::format("#{:02x}{:02x}{:02x}", rgb[0], rgb[1], rgb[2]);
}

double draw_load_scale(SvgCanvas& canvas, double left, double top, double most) {
  constexpr int kSteps = 40;
  constexpr double kWidth = 200;
  constexpr double kHeight = 12;
  constexpr double kUnusedBox = 24;
  constexpr TextStyle kSmall = {11};
  const double baseline = top + kHeight - 2;
  canvas.rect({left, top, kUnusedBox, kHeight}, kUnused);
  canvas.text(left + kUnusedBox + 6, baseline, "unused", kSmall);
  const double x = left + kUnusedBox + 100;
  canvas.text(x - 6, baseline, "0 %", {11, Anchor::kEnd});
  for (int i = 0; i < kSteps; ++i) {
    const double step = kWidth / kSteps;
    canvas.rect({x + i * step, top, step + 0.5, kHeight}, load_colour((i + 0.5) / kSteps));
  }
  const std::string end = fmt::format("{:.1f} % of the iteration busy", 100 * most);
  canvas.text(x + kWidth + 6, baseline, end, kSmall);
  return x + kWidth + 6 + text_width(end, kSmall.size);
}

}  // namespace moesim
