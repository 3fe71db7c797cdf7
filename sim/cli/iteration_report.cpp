#include "sim/cli/iteration_report.h"

#include <utility>
#include <vector>

#include "sim/analysis/critical_path.h"
#include "sim/io/files.h"
#include "sim/report/link_load.h"
#include "sim/report/timeline.h"

namespace moesim {
namespace {

std::string picture(const IterationOutputs& outputs, const Subject& subject, const Trace& trace) {
  const int queues = hardware_queues(subject.profile_or_null());
  return to_svg(subject.program(),
                trace,
                critical_path(subject.program(), trace, queues),
                {.first_layer = outputs.layers.first,
                 .last_layer = outputs.layers.last,
                 .title = subject.program().name});
}

std::string link_load(const std::string& path, const Subject& subject, const Trace& trace) {
  const LinkLoad load =
      make_link_load(subject.program(), *subject.cluster, subject.profile_or_null(), trace.end);
  return path.ends_with(".svg")   ? to_svg(load, *subject.cluster)
         : path.ends_with(".csv") ? to_csv(load)
                                  : to_json(load);
}

}  // namespace

void write_files(const IterationOutputs& outputs, const Subject& subject, const Trace& trace) {
  std::vector<std::pair<std::string, std::string>> files;
  if (!outputs.trace.empty()) {
    files.emplace_back(outputs.trace, to_chrome_trace(subject.program(), trace));
  }
  if (!outputs.svg.empty()) {
    files.emplace_back(outputs.svg, picture(outputs, subject, trace));
  }
  if (!outputs.link_load.empty()) {
    files.emplace_back(outputs.link_load, link_load(outputs.link_load, subject, trace));
  }
  for (const auto& [path, text] : files) {
    write_file_atomically(path, text);
  }
}

std::string report(const IterationOutputs& outputs,
                   const SimulationResult& result,
                   const Program& program,
                   const Trace& trace) {
  if (!outputs.json) {
    return to_table(result);
  }
  return outputs.spans ? to_json(result, program, trace) : to_json(result);
}

}  // namespace moesim
