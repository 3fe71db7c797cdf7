#include "sim/io/trace.h"

#include <limits>
#include <tuple>
#include <unordered_map>

#include <fmt/core.h>

#include "sim/io/files.h"
#include "sim/io/internal/limits.h"
#include "sim/io/internal/printer.h"
#include "sim/io/suggestion.h"
#include "sim/proto/trace.pb.h"

namespace moesim {
namespace {

using io::Fields;

Time read_time(const Fields& fields, const char* name) {
  constexpr std::int64_t kMaxTime = std::numeric_limits<std::int64_t>::max();
  return Time::from_picoseconds(fields.long_integer(name, {0, kMaxTime}));
}

class TraceReader {
 public:
  explicit TraceReader(const Program& program) : program_(program) {
    for (std::size_t i = 0; i < program.tasks.size(); ++i) {
      tasks_.emplace(program.tasks[i].name, static_cast<int>(i));
    }
  }

  Trace read(const Fields& root) const {
    Trace trace;
    const std::string name = root.text_or("program", program_.name);
    if (name != program_.name) {
      throw root.error(
          "program",
          fmt::format(
              R"(a trace of "{}", not of "{}"; give its own Program)", name, program_.name));
    }
    trace.executor = root.text("executor");
    trace.resolution = root.text_or("resolution", "");
    trace.end = read_time(root, "end_picoseconds");
    for (const Fields& fields : root.children("classes")) {
      trace.classes.push_back({.representative = fields.integer("representative", ranks()),
                               .ranks = fields.integers("ranks", ranks())});
    }
    for (const Fields& fields : root.children("spans")) {
      const TaskSpan span = read_span(fields);
      if (!trace.spans.empty() && key(span) < key(trace.spans.back())) {
        throw fields.error("spans must follow start, then task, then rank; sort them");
      }
      trace.spans.push_back(span);
    }
    trace.assumptions = root.texts("assumptions");
    return trace;
  }

 private:
  [[nodiscard]] io::IntegerRange ranks() const { return {0, program_.num_ranks - 1}; }

  static std::tuple<Time, int, int> key(const TaskSpan& span) {
    return {span.start, span.task, span.rank};
  }

  [[nodiscard]] int find_task(const Fields& fields) const {
    const std::string name = fields.text("task");
    const auto found = tasks_.find(name);
    if (found == tasks_.end()) {
      std::vector<std::string> names;
      for (const Task& task : program_.tasks) {
        names.push_back(task.name);
      }
      throw fields.error("task", fmt::format("no task \"{}\"; {}", name, suggestion(name, names)));
    }
    return found->second;
  }

  [[nodiscard]] TaskSpan read_span(const Fields& fields) const {
    const TaskSpan span = {.rank = fields.integer("rank", ranks()),
                           .task = find_task(fields),
                           .launched = read_time(fields, "launched_picoseconds"),
                           .start = read_time(fields, "start_picoseconds"),
                           .transfer = read_time(fields, "transfer_picoseconds"),
                           .end = read_time(fields, "end_picoseconds")};
    if (span.launched > span.start || span.start > span.transfer || span.transfer > span.end) {
      throw fields.error("launched, start, transfer and end must not descend; correct the times");
    }
    return span;
  }

  const Program& program_;
  std::unordered_map<std::string, int> tasks_;
};

}  // namespace

std::string trace_to_json(const Trace& trace, const Program& program) {
  proto::Trace message;
  message.set_program(program.name);
  message.set_executor(trace.executor);
  message.set_resolution(trace.resolution);
  message.set_end_picoseconds(trace.end.picoseconds());
  for (const RankClass& one : trace.classes) {
    proto::RankClass& part = *message.add_classes();
    part.set_representative(one.representative);
    part.mutable_ranks()->Assign(one.ranks.begin(), one.ranks.end());
  }
  for (const TaskSpan& span : trace.spans) {
    proto::TaskSpan& part = *message.add_spans();
    part.set_rank(span.rank);
    part.set_task(program.tasks[static_cast<std::size_t>(span.task)].name);
    part.set_launched_picoseconds(span.launched.picoseconds());
    part.set_start_picoseconds(span.start.picoseconds());
    part.set_transfer_picoseconds(span.transfer.picoseconds());
    part.set_end_picoseconds(span.end.picoseconds());
  }
  for (const std::string& assumption : trace.assumptions) {
    message.add_assumptions(assumption);
  }
  return io::to_json(message);
}

Trace load_trace(const std::string& path, const Program& program) {
  return parse_trace(read_file(path), path, program);
}

Trace parse_trace(const std::string& text, const std::string& path, const Program& program) {
  const io::Document document(io::Schema::kTrace, text, path);
  return TraceReader(program).read(document.root());
}

}  // namespace moesim
