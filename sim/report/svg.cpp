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

double draw_title(const std::string& title, Time iteration, SvgCanvas& canvas) {
  const std::string time = TimeUnit(iteration.seconds()).format(iteration.seconds());
  canvas.text(TimelineView::kLeft, 38, title, {20, Anchor::kStart, TimelineView::kInk, true});
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
  double y = draw_title(title, trace.end, canvas);
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
                TimelineView::kLeft,
                TimelineView::kRight - TimelineView::kLeft),
      critical_spans(path)};
  ShownKinds shown;
  y = draw_sections(view, canvas, y);
  y = draw_lanes(view, canvas, y, shown);
  y = draw_axis(view, canvas, y);
  y = draw_legend(view, canvas, y, shown);
  return canvas.document(TimelineView::kWidth, y);
}

}  // namespace moesim
