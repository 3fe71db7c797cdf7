#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "sim/base/units.h"
#include "sim/report/ranks_text.h"
#include "sim/report/text.h"
#include "sim/report/timeline_view.h"

namespace moesim {
namespace {

constexpr double kLaneHeight = 36;
constexpr double kLaneGap = 12;
constexpr double kNoteHeight = 24;
constexpr std::size_t kMaxClasses = 4;
constexpr double kThinnest = 0.3;  // a box that can still be seen
constexpr double kOutlined = 10;   // wider boxes have room for an outline

// Where there are too many, those with most of the critical path.
std::vector<int> classes_to_show(const TimelineView& view) {
  std::vector<std::pair<Time, int>> order;  // minus the time on the path, class
  for (int class_index = 0; class_index < view.index.num_classes(); ++class_index) {
    order.emplace_back(Time::zero(), class_index);
  }
  for (const CriticalStep& step : view.path.steps) {
    if (step.kind == StepKind::kTask) {
      order[view.index.class_of_span(step.span)].first -= step.end - step.begin;
    }
  }
  std::sort(order.begin(), order.end());
  order.resize(std::min(order.size(), kMaxClasses));
  std::vector<int> shown;
  for (const auto& [time, class_index] : order) {
    shown.push_back(class_index);
  }
  std::sort(shown.begin(), shown.end());
  return shown;
}

// One stream of one class of ranks.
class Lane {
 public:
  Lane(const TimelineView& view, SvgCanvas& canvas, double y)
      : view_(view), canvas_(canvas), y_(y) {}

  void draw(const std::string& stream, const std::vector<int>& spans, ShownKinds& shown) {
    draw_name(stream, spans);
    draw_background();
    for (const int span : spans) {
      draw_span(span, shown);
    }
    for (const int span : spans) {
      if (view_.critical.contains(span)) {
        draw_outline(view_.trace.spans[span]);
      }
    }
  }

 private:
  Box box(double begin, double end) const {
    return {begin, y_, std::max(end - begin, kThinnest), kLaneHeight};
  }

  void draw_name(const std::string& stream, const std::vector<int>& spans) {
    std::vector<Interval> busy;
    for (const int span : spans) {
      busy.push_back({view_.trace.spans[span].transfer, view_.trace.spans[span].end});
    }
    const double share = ratio(total_length(merged(std::move(busy))), view_.trace.end);
    const double right = view_.left - 12;
    canvas_.text(right, y_ + 16, stream, {view_.kNameFont, Anchor::kEnd, view_.kInk, true});
    canvas_.text(right,
                 y_ + 31,
                 "busy " + format_percent(share, 0),
                 {view_.kSmallFont, Anchor::kEnd, view_.kGrey});
  }

  void draw_background() {
    for (std::size_t window = 0; window < view_.scale.windows().size(); ++window) {
      const Interval& shown = view_.scale.windows()[window];
      canvas_.rect(box(view_.scale.x(window, shown.begin), view_.scale.x(window, shown.end)),
                   "#F4F4F4");
      for (const Time tick : view_.scale.ticks(window, view_.kTickSpacing)) {
        const double x = view_.scale.x(window, tick);
        canvas_.line(
            x, y_ - kLaneGap / 2, x, y_ + kLaneHeight + kLaneGap / 2, R"(stroke="#DADADA")");
      }
    }
  }

  void draw_span(int index, ShownKinds& shown) {
    const TaskSpan& span = view_.trace.spans[index];
    const Task& task = view_.program.tasks[span.task];
    view_.for_each_window({span.start, span.transfer}, [&](double begin, double end) {
      canvas_.rect({begin, y_ + 9, end - begin, kLaneHeight - 18}, "url(#hatching)");
      shown.waits = true;
    });
    view_.for_each_window({span.transfer, span.end}, [&](double begin, double end) {
      // A thin border parts neighbours of one kind; on narrow boxes it would hide the colour.
      std::string attributes = end - begin > 3 ? R"(stroke="#ffffff" stroke-width="0.8")" : "";
      attributes += is_faded(task) ? R"( opacity="0.3")" : "";
      canvas_.rect_with_tooltip(
          box(begin, end), view_.palette.colour(task.kind), attributes, tooltip(span, task));
      draw_label(task, box(begin, end));
      shown.kinds.insert(task.kind);
    });
  }

  // Tasks of layers that the picture is not about.
  bool is_faded(const Task& task) const {
    const SvgOptions& options = view_.options;
    const bool inside = task.layer >= options.first_layer &&
                        (options.last_layer < 0 || task.layer <= options.last_layer);
    return task.layer != kNone && !inside;
  }

  static std::string tooltip(const TaskSpan& span, const Task& task) {
    return fmt::format("{}: {} to {}, {}",
                       task.name,
                       format_time(span.transfer),
                       format_time(span.end),
                       format_time(span.end - span.transfer));
  }

  // As much of "kind chunk" as fits.
  void draw_label(const Task& task, const Box& box) {
    const TextStyle style = {
        view_.kSmallFont, Anchor::kMiddle, view_.palette.text_colour(task.kind)};
    const std::string chunk = task.chunk == kNone ? "" : std::to_string(task.chunk);
    const std::string whole = chunk.empty() ? task.kind : task.kind + " " + chunk;
    if (!canvas_.text_if_fits(box, whole, style)) {
      canvas_.text_if_fits(box, chunk, style);
    }
  }

  // An outline, or a bar below what is too narrow for one: at every scale it shows which stream the
  // iteration waits for.
  void draw_outline(const TaskSpan& span) {
    view_.for_each_window({span.transfer, span.end}, [&](double begin, double end) {
      if (end - begin > kOutlined) {
        const Box inside = {begin + 1, y_ + 1, end - begin - 2, kLaneHeight - 2};
        canvas_.rect(inside, "none", R"(stroke="#111111" stroke-width="2")");
      } else {
        const Box bar = box(begin, end);
        canvas_.rect({bar.x, y_ + kLaneHeight + 1, bar.width, 4}, view_.kInk);
      }
    });
  }

  const TimelineView& view_;
  SvgCanvas& canvas_;
  double y_;
};

double draw_class(
    const TimelineView& view, SvgCanvas& canvas, double y, int class_index, ShownKinds& shown) {
  if (view.index.num_classes() > 1) {
    const std::string name = class_text(view.trace.classes[class_index]);
    canvas.text(view.left, y + 14, name, {12, Anchor::kStart, view.kInk, true});
    y += kNoteHeight;
  }
  std::vector<std::vector<int>> lanes(view.program.streams.size());
  for (const int span : view.index.launches(class_index)) {
    const int stream = view.program.tasks[view.trace.spans[span].task].stream;
    if (stream != kNone) {
      lanes[stream].push_back(span);
    }
  }
  for (std::size_t stream = 0; stream < lanes.size(); ++stream) {
    if (!lanes[stream].empty()) {
      Lane(view, canvas, y).draw(view.program.streams[stream], lanes[stream], shown);
      y += kLaneHeight + kLaneGap;
    }
  }
  return y;
}

}  // namespace

double draw_lanes(const TimelineView& view, SvgCanvas& canvas, double y, ShownKinds& shown) {
  canvas.raw(
      R"svg(<defs><pattern id="hatching" width="6" height="6" patternUnits="userSpaceOnUse" )svg"
      R"svg(patternTransform="rotate(45)"><rect width="6" height="6" fill="#ffffff"/>)svg"
      R"svg(<rect width="2" height="6" fill="#9a9a9a"/></pattern></defs>)svg");
  const std::vector<int> classes = classes_to_show(view);
  for (const int class_index : classes) {
    y = draw_class(view, canvas, y, class_index, shown);
  }
  const std::size_t hidden = view.trace.classes.size() - classes.size();
  if (hidden > 0) {
    const std::string note = fmt::format(
        "{} more classes of ranks are not shown: they have less of the critical path", hidden);
    canvas.text(view.left, y + 10, note, {12, Anchor::kStart, view.kGrey});
    y += kNoteHeight;
  }
  return y;
}

}  // namespace moesim
