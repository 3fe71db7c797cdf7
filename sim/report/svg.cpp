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

double draw_title(const std::string& title, Time iteration, double left, SvgCanvas& canvas) {
  const std::string time = TimeUnit(iteration.seconds()).format(iteration.seconds());
  canvas.text(left, 38, title, {20, Anchor::kStart, TimelineView::kInk, true});
  canvas.text(
      TimelineView::kRight, 38, "iteration " + time, {20, Anchor::kEnd, TimelineView::kInk, true});
  return 56;
}

}  // namespace

std::string to_svg(const Program& program,
                   const Trace& trace,
                   const CriticalPath& path,
                   const SvgOptions& options) {
  SvgCanvas canvas;
  const std::string& title = options.title.empty() ? program.name : options.title;
  const double left = left_margin(program);
  double y = draw_title(title, trace.end, left, canvas);
  if (trace.end == Time::zero()) {
    return canvas.document(TimelineView::kWidth, y);
  }
  const TimelineView view = {
      program,
      trace,
      path,
      options,
      TraceIndex(program, trace),
      Palette(program),
      TimeScale(layer_windows(program, trace, options.first_layer, options.last_layer),
                left,
                TimelineView::kRight - left),
      critical_spans(path),
      left};
  ShownKinds shown;
  y = draw_sections(view, canvas, y);
  y = draw_lanes(view, canvas, y, shown);
  y = draw_axis(view, canvas, y);
  y = draw_legend(view, canvas, y, shown);
  return canvas.document(TimelineView::kWidth, y);
}

}  // namespace moesim
