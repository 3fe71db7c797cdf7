#include "kernels/host/span_trace.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace moesim {

Trace trace_of_spans(const Program& program, std::vector<TaskSpan> spans) {
  Trace trace;
  for (int rank = 0; rank < program.num_ranks; ++rank) {
    trace.classes.push_back({rank, {rank}});
  }
  for (const TaskSpan& span : spans) {
    trace.end = std::max(trace.end, span.end);
    Time& pass_end = trace.pass_end[static_cast<size_t>(program.tasks[span.task].pass)];
    pass_end = std::max(pass_end, span.end);
  }
  std::sort(spans.begin(), spans.end(), [](const TaskSpan& a, const TaskSpan& b) {
    return std::tie(a.start, a.task, a.rank) < std::tie(b.start, b.task, b.rank);
  });
  trace.spans = std::move(spans);
  return trace;
}

}  // namespace moesim
