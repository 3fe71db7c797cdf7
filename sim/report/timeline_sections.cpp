#include "sim/report/timeline_sections.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/core.h>

#include "sim/base/error.h"

namespace moesim {
namespace {

// Recomputation happens within the backward pass.
constexpr std::array<std::string_view, 3> kPhases = {"forward", "backward", "update"};

std::size_t phase_of(Pass pass) {
  switch (pass) {
    case Pass::kForward:
      return 0;
    case Pass::kRecompute:
    case Pass::kBackward:
      return 1;
    case Pass::kUpdate:
      return 2;
  }
  return 0;
}

void extend(std::optional<Interval>& interval, const TaskSpan& span) {
  if (!interval) {
    interval = {span.start, span.end};
    return;
  }
  interval->begin = std::min(interval->begin, span.start);
  interval->end = std::max(interval->end, span.end);
}

// The extent of each layer's tasks in one phase.
std::map<int, std::optional<Interval>> layer_extents(const Program& program,
                                                     const Trace& trace,
                                                     std::size_t phase) {
  std::map<int, std::optional<Interval>> extents;
  for (const TaskSpan& span : trace.spans) {
    const Task& task = program.tasks[span.task];
    if (task.layer != kNone && phase_of(task.pass) == phase) {
      extend(extents[task.layer], span);
    }
  }
  return extents;
}

int last_layer(const Program& program) {
  int last = kNone;
  for (const Task& task : program.tasks) {
    last = std::max(last, task.layer);
  }
  return last;
}

}  // namespace

std::vector<Section> pass_sections(const Program& program, const Trace& trace) {
  std::array<std::optional<Interval>, kPhases.size()> extents;
  for (const TaskSpan& span : trace.spans) {
    extend(extents[phase_of(program.tasks[span.task].pass)], span);
  }
  std::vector<Section> sections;
  Time reached;
  for (std::size_t phase = 0; phase < kPhases.size(); ++phase) {
    if (extents[phase] && extents[phase]->end > reached) {
      const Time begin = std::max(reached, extents[phase]->begin);
      sections.push_back({std::string(kPhases[phase]), kNone, {begin, extents[phase]->end}});
      reached = extents[phase]->end;
    }
  }
  return sections;
}

std::vector<Section> layer_sections(const Program& program, const Trace& trace) {
  std::vector<Section> sections;
  for (std::size_t phase = 0; phase < kPhases.size(); ++phase) {
    const std::size_t first = sections.size();
    for (const auto& [layer, extent] : layer_extents(program, trace, phase)) {
      sections.push_back({fmt::format("layer {}", layer), layer, *extent});
    }
    const auto begins_earlier = [](const Section& a, const Section& b) {
      return a.interval.begin < b.interval.begin;
    };
    std::stable_sort(
        sections.begin() + static_cast<std::ptrdiff_t>(first), sections.end(), begins_earlier);
  }
  for (std::size_t i = 0; i + 1 < sections.size(); ++i) {
    Interval& interval = sections[i].interval;
    interval.end = std::min(interval.end, sections[i + 1].interval.begin);
  }
  std::erase_if(sections, [](const Section& section) {
    return section.interval.end <= section.interval.begin;
  });
  return sections;
}

std::vector<Interval> layer_windows(const Program& program,
                                    const Trace& trace,
                                    int first,
                                    int last) {
  const int highest = last_layer(program);
  const int end = last < 0 ? highest : last;
  if (first <= 0 && end >= highest) {
    return {{Time::zero(), trace.end}};
  }
  std::vector<Interval> windows;
  for (std::size_t phase = 0; phase < kPhases.size(); ++phase) {
    std::optional<Interval> window;
    for (const auto& [layer, extent] : layer_extents(program, trace, phase)) {
      if (first <= layer && layer <= end) {
        extend(window, {0, 0, extent->begin, extent->begin, extent->begin, extent->end});
      }
    }
    // A gap on the axis pays when what it leaves out is a tenth of what is shown.
    if (!window || window->end <= window->begin) {
      continue;
    }
    if (!windows.empty()) {
      const Time left_out = window->begin - windows.back().end;
      const Time shown = window->end - windows.back().begin;
      if (10 * left_out < shown) {
        windows.back().end = std::max(windows.back().end, window->end);
        continue;
      }
    }
    windows.push_back(*window);
  }
  if (windows.empty()) {
    throw Error(fmt::format(
        "no task of layers {}..{} takes time; the Program has layers 0..{}", first, end, highest));
  }
  return windows;
}

}  // namespace moesim
