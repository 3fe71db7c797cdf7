#pragma once

#include <string>
#include <vector>

#include "sim/analysis/critical_path.h"
#include "sim/io/program.h"
#include "sim/io/trace.h"

namespace moesim {

// Chrome trace event JSON for Perfetto: a process per rank class, a thread per stream, arrows for
// waits, a counter of busy ports.
std::string to_chrome_trace(const Program& program, const Trace& trace);

struct SvgOptions {
  int first_layer = 0;
  int last_layer = -1;  // inclusive; -1: all
  std::string title{};
  Time axis_end{};  // where the axis of all layers ends, if that is after the iteration
};

// A timeline that a person can read: lanes per stream, tasks coloured by kind with a legend, chunk
// numbers inside boxes, a time axis, the critical path outlined.
std::string to_svg(const Program& program,
                   const Trace& trace,
                   const CriticalPath& path,
                   const SvgOptions& options);

// One of several timelines of a picture.
struct Timeline {
  const Program* program = nullptr;
  const Trace* trace = nullptr;
  CriticalPath path;
  SvgOptions options;
};

// The timelines one above the other.
std::string to_svg(const std::vector<Timeline>& timelines);

}  // namespace moesim
