#pragma once

#include <set>
#include <string>
#include <string_view>

#include "sim/analysis/trace_index.h"
#include "sim/report/palette.h"
#include "sim/report/svg_canvas.h"
#include "sim/report/time_scale.h"
#include "sim/report/timeline.h"

// The pieces of the picture that to_svg puts together, from top to bottom.
namespace moesim {

// What the pieces share.
struct TimelineView {
  const Program& program;
  const Trace& trace;
  const CriticalPath& path;
  const SvgOptions& options;
  TraceIndex index;
  Palette palette;
  TimeScale scale;
  std::set<int> critical;  // spans on the critical path
  double left = 0;         // of the time axis; the names of streams stand before it

  static constexpr double kWidth = 1600;
  static constexpr double kRight = 1576;
  static constexpr double kTickSpacing = 110;
  static constexpr double kNameFont = 13;
  static constexpr double kSmallFont = 11;
  static constexpr std::string_view kInk = "#111111";
  static constexpr std::string_view kGrey = "#666666";

  // Calls draw(x of the begin, x of the end) for each window that shows a part of the interval.
  template <typename Draw>
  void for_each_window(const Interval& interval, Draw draw) const {
    for (std::size_t window = 0; window < scale.windows().size(); ++window) {
      const Interval part = clipped(interval, scale.windows()[window]);
      if (part.begin < part.end) {
        draw(scale.x(window, part.begin), scale.x(window, part.end));
      }
    }
  }
};

// What the lanes turned out to show, for the legend.
struct ShownKinds {
  std::set<std::string> kinds;
  bool waits = false;
};

// Each draws below `y` and returns where the next piece may begin.
double draw_sections(const TimelineView& view, SvgCanvas& canvas, double y);
double draw_lanes(const TimelineView& view, SvgCanvas& canvas, double y, ShownKinds& shown);
double draw_axis(const TimelineView& view, SvgCanvas& canvas, double y);
double draw_legend(const TimelineView& view, SvgCanvas& canvas, double y, const ShownKinds& shown);

}  // namespace moesim
