#pragma once

#include <string>
#include <vector>

#include "sim/analysis/intervals.h"
#include "sim/io/program.h"
#include "sim/io/trace.h"

namespace moesim {

// A named stretch of an iteration: a pass, or a layer within a pass.
struct Section {
  std::string name;
  int layer = kNone;
  Interval interval;
};

// Forward, backward (with recomputation) and update, as far as they occur: each from where the one
// before it ends to the end of its own last task.
std::vector<Section> pass_sections(const Program& program, const Trace& trace);

// The layers of each pass in the order in which they begin: each until the next one begins.
std::vector<Section> layer_sections(const Program& program, const Trace& trace);

// The windows of time in which a picture of layers first..last (-1: to the last one) shows them:
// the whole iteration for all layers, else one for their forward and one for their backward tasks,
// joined where little lies between them. Throws Error when no task belongs to such a layer.
std::vector<Interval> layer_windows(const Program& program,
                                    const Trace& trace,
                                    int first,
                                    int last);

}  // namespace moesim
