#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/analysis/trace_index.h"
#include "sim/base/check.h"
#include "sim/report/json_text.h"
#include "sim/report/ranks_text.h"
#include "sim/report/timeline.h"

// The format: "Trace Event Format", Google 2016, as Perfetto reads it. One event a line; times are
// microseconds, here with six decimals: whole picoseconds.
namespace moesim {
namespace {

std::string microseconds(Time time) {
  const std::int64_t picoseconds = time.picoseconds();
  return fmt::format("{}.{:06}", picoseconds / 1'000'000, picoseconds % 1'000'000);
}

class ChromeTrace {
 public:
  ChromeTrace(const Program& program, const Trace& trace)
      : program_(program), trace_(trace), index_(program, trace) {}

  std::string text() && {
    for (int process = 0; process < index_.num_classes(); ++process) {
      add_names(process);
    }
    for (const TaskSpan& span : trace_.spans) {
      add_span(span);
    }
    for (int process = 0; process < index_.num_classes(); ++process) {
      add_waits(process);
      add_counters(process);
    }
    return "{\"displayTimeUnit\": \"ms\",\n\"otherData\": {\"program\": " +
           json_quoted(program_.name) + ", \"executor\": " + json_quoted(trace_.executor) +
           "},\n\"traceEvents\": [" + fmt::to_string(events_) + "\n]}\n";
  }

 private:
  template <typename... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    events_.append(std::string_view(events_.size() == 0 ? "\n{" : ",\n{"));
    fmt::format_to(std::back_inserter(events_), format, std::forward<Values>(values)...);
    events_.push_back('}');
  }

  // A thread per stream, and one for the host's waits.
  int thread_of(const Task& task) const {
    return task.stream == kNone ? static_cast<int>(program_.streams.size()) : task.stream;
  }

  // The name of a process or thread, and its place among its like.
  void add_name(const char* kind, int process, int thread, const std::string& name) {
    const bool is_process = std::string_view(kind) == "process";
    add(R"("ph": "M", "name": "{}_name", "pid": {}, "tid": {}, "args": {{"name": {}}})",
        kind,
        process,
        thread,
        json_quoted(name));
    add(R"("ph": "M", "name": "{}_sort_index", "pid": {}, "tid": {}, "args": {{"sort_index": {}}})",
        kind,
        process,
        thread,
        is_process ? process : thread);
  }

  void add_names(int process) {
    add_name("process", process, 0, class_text(trace_.classes[process]));
    const int num_streams = static_cast<int>(program_.streams.size());
    for (int stream = 0; stream < num_streams; ++stream) {
      add_name("thread", process, stream, program_.streams[stream]);
    }
    const auto& launches = index_.launches(process);
    const auto on_host = [this](int span) {
      return program_.tasks[trace_.spans[span].task].stream == kNone;
    };
    if (std::any_of(launches.begin(), launches.end(), on_host)) {
      add_name("thread", process, num_streams, "host");
    }
  }

  void add_span(const TaskSpan& span) {
    const Task& task = program_.tasks[span.task];
    add(R"("ph": "X", "name": {}, "cat": {}, "pid": {}, "tid": {}, "ts": {}, "dur": {}, )"
        R"("args": {})",
        json_quoted(task.name),
        json_quoted(task.kind),
        index_.class_of_rank(span.rank),
        thread_of(task),
        microseconds(span.start),
        microseconds(span.end - span.start),
        arguments(span, task));
  }

  std::string arguments(const TaskSpan& span, const Task& task) const {
    std::string text =
        fmt::format(R"({{"kind": {}, "pass": "{}")", json_quoted(task.kind), to_string(task.pass));
    text += task.layer == kNone ? "" : fmt::format(R"(, "layer": {})", task.layer);
    text += task.chunk == kNone ? "" : fmt::format(R"(, "chunk": {})", task.chunk);
    text +=
        task.micro_batch == kNone ? "" : fmt::format(R"(, "micro_batch": {})", task.micro_batch);
    text += fmt::format(R"(, "launched_us": {})", microseconds(span.launched));
    if (const Collective* collective = collective_of(task)) {
      text += fmt::format(R"(, "wait_us": {}, "operation": "{}", "group": {}, "bytes": {})",
                          microseconds(span.transfer - span.start),
                          to_string(collective->operation),
                          json_quoted(program_.groups[collective->group].name),
                          collective->bytes);
    }
    return text + "}";
  }

  // An arrow for each wait on another stream; the order within a stream is plain to see.
  void add_waits(int process) {
    for (const int span : index_.launches(process)) {
      const Task& task = program_.tasks[trace_.spans[span].task];
      for (const auto* waits : {&task.waits, &task.order_only}) {
        for (const int wait : *waits) {
          const int cause = index_.span(process, wait);
          if (cause != kNone && program_.tasks[wait].stream != task.stream) {
            add_arrow(process, trace_.spans[cause], trace_.spans[span]);
          }
        }
      }
    }
  }

  // An arrow belongs to the slices around its ends: it leaves a nanosecond, the reader's
  // resolution, before its cause is over.
  void add_arrow(int process, const TaskSpan& from, const TaskSpan& to) {
    const Time inside = std::max(from.start, from.end - Time::from_picoseconds(1000));
    const int id = num_arrows_++;
    add(R"("ph": "s", "name": "wait", "cat": "wait", "id": {}, "pid": {}, "tid": {}, "ts": {})",
        id,
        process,
        thread_of(program_.tasks[from.task]),
        microseconds(inside));
    add(R"("ph": "f", "bp": "e", "name": "wait", "cat": "wait", "id": {}, "pid": {}, "tid": {}, )"
        R"("ts": {})",
        id,
        process,
        thread_of(program_.tasks[to.task]),
        microseconds(to.start));
  }

  // How many collectives move data, by stream. A stream is as near as a trace comes to a port.
  void add_counters(int process) {
    std::vector<std::pair<Time, std::pair<int, int>>> changes;  // when, {stream, +1 or -1}
    std::vector<int> active(program_.streams.size(), kNone);    // kNone: has no collectives
    for (const int index : index_.launches(process)) {
      const TaskSpan& span = trace_.spans[index];
      const Task& task = program_.tasks[span.task];
      if (collective_of(task) != nullptr && span.transfer < span.end) {
        active[task.stream] = 0;
        changes.push_back({span.transfer, {task.stream, 1}});
        changes.push_back({span.end, {task.stream, -1}});
      }
    }
    std::sort(changes.begin(), changes.end());
    for (std::size_t i = 0; i < changes.size(); ++i) {
      active[changes[i].second.first] += changes[i].second.second;
      if (i + 1 == changes.size() || changes[i + 1].first > changes[i].first) {
        add_counter(process, changes[i].first, active);
      }
    }
  }

  void add_counter(int process, Time time, const std::vector<int>& active) {
    std::string values;
    for (std::size_t stream = 0; stream < active.size(); ++stream) {
      if (active[stream] != kNone) {
        values += values.empty() ? "" : ", ";
        values += fmt::format("{}: {}", json_quoted(program_.streams[stream]), active[stream]);
      }
    }
    add(R"("ph": "C", "name": "active collectives", "pid": {}, "ts": {}, "args": {{{}}})",
        process,
        microseconds(time),
        values);
  }

  const Program& program_;
  const Trace& trace_;
  TraceIndex index_;
  fmt::memory_buffer events_;
  int num_arrows_ = 0;
};

}  // namespace

std::string to_chrome_trace(const Program& program, const Trace& trace) {
  return ChromeTrace(program, trace).text();
}

}  // namespace moesim
