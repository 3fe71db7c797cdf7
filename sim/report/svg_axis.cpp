#include <map>
#include <string>

#include <fmt/core.h>

#include "sim/report/text.h"
#include "sim/report/timeline_view.h"

namespace moesim {
namespace {

constexpr std::string_view kAxisStroke = R"(stroke="#333333")";

// As many as tell two ticks apart.
int num_decimals(double step) {
  int decimals = 0;
  for (; step < 0.999 && decimals < 6; step *= 10) {
    ++decimals;
  }
  return decimals;
}

// Two strokes across the gap before a window say that time is left out.
void draw_break(const TimelineView& view, SvgCanvas& canvas, double y, std::size_t window) {
  const double right = view.scale.x(window, view.scale.windows()[window].begin);
  const double middle = right - TimeScale::kGap / 2;
  canvas.line(middle - 5, y + 6, middle - 1, y - 6, kAxisStroke);
  canvas.line(middle + 1, y + 6, middle + 5, y - 6, kAxisStroke);
}

// Entries side by side; another line when one is full.
class Legend {
 public:
  Legend(SvgCanvas& canvas, double left, double y)
      : canvas_(canvas), left_(left), x_(left), y_(y) {}

  double y() const { return y_; }

  void add(const std::string& label, std::string_view fill, std::string_view attributes = "") {
    const double width = 20 + text_width(label, kFont) + 14;
    if (x_ + width > TimelineView::kRight && x_ > left_) {
      x_ = left_;
      y_ += 22;
    }
    canvas_.rect({x_, y_, 14, 14}, fill, attributes);
    canvas_.text(x_ + 20, y_ + 11.5, label, {kFont, Anchor::kStart, TimelineView::kInk});
    x_ += width;
  }

 private:
  static constexpr double kFont = 12;

  SvgCanvas& canvas_;
  double left_;
  double x_;
  double y_;
};

}  // namespace

double draw_axis(const TimelineView& view, SvgCanvas& canvas, double y) {
  const TimeUnit unit(view.trace.end.seconds());
  const double step = view.scale.tick_step(view.kTickSpacing).seconds() * unit.per_second();
  const TextStyle style = {view.kSmallFont, Anchor::kMiddle, view.kGrey};
  for (std::size_t window = 0; window < view.scale.windows().size(); ++window) {
    const Interval& shown = view.scale.windows()[window];
    canvas.line(
        view.scale.x(window, shown.begin), y, view.scale.x(window, shown.end), y, kAxisStroke);
    if (window > 0) {
      draw_break(view, canvas, y, window);
    }
    for (const Time tick : view.scale.ticks(window, view.kTickSpacing)) {
      const double x = view.scale.x(window, tick);
      canvas.line(x, y, x, y + 5, kAxisStroke);
      const double value = tick.seconds() * unit.per_second();
      canvas.text(x, y + 18, fmt::format("{:.{}f}", value, num_decimals(step)), style);
    }
  }
  const TextStyle at_left = {view.kSmallFont, Anchor::kEnd, view.kGrey};
  canvas.text(view.left - 12, y + 18, fmt::format("time, {}", unit.name()), at_left);
  return y + 36;
}

double draw_legend(const TimelineView& view, SvgCanvas& canvas, double y, const ShownKinds& shown) {
  const std::map<std::string, Time> times = view.path.by_kind(view.program, view.trace);
  Legend legend(canvas, view.left, y);
  for (const std::string& kind : view.palette.kinds()) {
    if (shown.kinds.contains(kind)) {
      const auto time = times.find(kind);
      const std::string share =
          time == times.end() ? "" : " " + format_percent(ratio(time->second, view.trace.end), 0);
      legend.add(kind + share, view.palette.colour(kind));
    }
  }
  if (shown.waits) {
    legend.add("waiting for the group", "url(#hatching)");
  }
  legend.add("critical path, with each kind's share (narrow tasks: a bar below)",
             "none",
             R"(stroke="#111111" stroke-width="2")");
  return legend.y() + 30;
}

}  // namespace moesim
