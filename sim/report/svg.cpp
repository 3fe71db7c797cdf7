#include <algorithm>
#include <string>

#include "sim/report/text.h"
#include "sim/report/timeline_sections.h"
#include "sim/report/timeline_view.h"

namespace moesim {
namespace {

std::set<int> critical_spans(const CriticalPath& path) {
  std::set<int> spans;
  for (const CriticalStep& step : path.steps) {
    if (step.kind == StepKind::kTask) {
      spans.insert(step.span);
    }
  }
  return spans;
}

// Where the time axis begins: right of the longest name.
double left_margin(const Program& program) {
  double longest = 0;
  for (const std::string& stream : program.streams) {
    longest = std::max(longest, 1.1 * text_width(stream, TimelineView::kNameFont));  // bold
  }
  return std::clamp(longest + 24, 100.0, 400.0);
}

double draw_title(
    const std::string& title, Time iteration, double left, double y, SvgCanvas& canvas) {
  const std::string time = TimeUnit(iteration.seconds()).format(iteration.seconds());
  canvas.text(left, y + 38, title, {20, Anchor::kStart, TimelineView::kInk, true});
  canvas.text(TimelineView::kRight,
              y + 38,
              "iteration " + time,
              {20, Anchor::kEnd, TimelineView::kInk, true});
  return y + 56;
}

std::vector<Interval> windows_of(const Program& program,
                                 const Trace& trace,
                                 const SvgOptions& options) {
  std::vector<Interval> windows =
      layer_windows(program, trace, options.first_layer, options.last_layer);
  const bool is_whole = windows.front().begin == Time::zero() && windows.front().end == trace.end;
  if (is_whole) {
    windows.front().end = std::max(trace.end, options.axis_end);
  }
  return windows;
}

// Draws from `y` down and returns where it ended.
double draw_timeline(const Timeline& timeline, double y, SvgCanvas& canvas) {
  const auto& [program, trace, path, options] = timeline;
  const std::string& title = options.title.empty() ? program->name : options.title;
  const double left = left_margin(*program);
  y = draw_title(title, trace->end, left, y, canvas);
  if (trace->end == Time::zero()) {
    return y;
  }
  const TimelineView view = {
      *program,
      *trace,
      path,
      options,
      TraceIndex(*program, *trace),
      Palette(*program),
      TimeScale(windows_of(*program, *trace, options), left, TimelineView::kRight - left),
      critical_spans(path),
      left};
  ShownKinds shown;
  y = draw_sections(view, canvas, y);
  y = draw_lanes(view, canvas, y, shown);
  y = draw_axis(view, canvas, y);
  return draw_legend(view, canvas, y, shown);
}

}  // namespace

std::string to_svg(const Program& program,
                   const Trace& trace,
                   const CriticalPath& path,
                   const SvgOptions& options) {
  return to_svg({{&program, &trace, path, options}});
}

std::string to_svg(const std::vector<Timeline>& timelines) {
  SvgCanvas canvas;
  double y = 0;
  for (const Timeline& timeline : timelines) {
    y = draw_timeline(timeline, y, canvas);
  }
  return canvas.document(TimelineView::kWidth, y);
}

}  // namespace moesim
