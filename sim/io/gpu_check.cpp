#include "sim/io/gpu_check.h"

#include <limits>

#include <fmt/core.h>

#include "sim/io/internal/limits.h"

namespace moesim {
namespace {

using io::Fields;

constexpr std::int64_t kMaxTime = std::numeric_limits<std::int64_t>::max();
constexpr double kMaxSeconds = 1e6;
constexpr std::size_t kNumbersOfSpan = 6;

GpuProbe read_probe(const Fields& fields) {
  const auto count = [&](const char* name) { return fields.integer_or(name, 0, io::kAtLeastZero); };
  const auto long_count = [&](const char* name) {
    return fields.has(name) ? fields.long_integer(name, {0, io::kMaxBytes}) : 0;
  };
  return {.kind = fields.choice_or("kind", GpuProbeKind::kGemm),
          .rows = long_count("rows"),
          .columns = long_count("columns"),
          .depth = long_count("depth"),
          .sms = count("sms"),
          .beside_sms = count("beside_sms"),
          .cold = fields.flag("cold"),
          .priority = fields.flag("priority"),
          .streams = count("streams"),
          .kernels = count("kernels"),
          .queues = count("queues"),
          .bytes = long_count("bytes"),
          .blocks = count("blocks"),
          .operation = fields.choice_or("operation", CollectiveOperation::kAllReduce),
          .group_size = count("group_size"),
          .ctas = count("ctas"),
          .packed = fields.flag("packed")};
}

GpuReading read_reading(const Fields& fields) {
  GpuReading reading;
  reading.probe = read_probe(fields.child("probe"));
  for (const std::int64_t time : fields.long_integers("picoseconds", {1, kMaxTime})) {
    reading.times.push_back(Time::from_picoseconds(time));
  }
  if (reading.times.empty()) {
    throw fields.error("picoseconds", "a reading without times; remove it");
  }
  reading.drift = fields.real_or("drift", 0, {0, kMaxSeconds});
  reading.rejected = fields.flag("rejected");
  return reading;
}

GpuProbes read_probes(const Fields& fields) {
  GpuProbes probes;
  probes.environment = fields.texts("environment");
  probes.num_sms = fields.integer("num_sms", io::kAtLeastOne);
  for (const Fields& reading : fields.children("readings")) {
    probes.readings.push_back(read_reading(reading));
  }
  probes.not_run = fields.texts("not_run");
  return probes;
}

GpuCheckPart read_part(const Fields& fields) {
  return {.name = fields.text("name"),
          .status = fields.choice<GpuCheckStatus>("status"),
          .seconds = fields.real("seconds", {0, kMaxSeconds}),
          .budget_seconds = fields.real("budget_seconds", {0, kMaxSeconds}),
          .message = fields.text_or("message", "")};
}

EqualityCase read_equality(const Fields& fields) {
  EqualityCase one;
  one.program = fields.text("program");
  one.num_ranks = fields.integer("num_ranks", io::kRankCount);
  one.failure = fields.text_or("failure", "");
  if (one.failure.empty()) {
    one.num_buffers = fields.integer("num_buffers", io::kAtLeastOne);
    one.num_different = fields.integer("num_different", {0, one.num_buffers});
  }
  return one;
}

TaskSpan read_span(const Fields& fields, const std::int64_t* numbers) {
  const auto time = [&](int at) { return Time::from_picoseconds(numbers[at]); };
  if (numbers[0] >= io::kMaxRanks || numbers[1] >= io::kMaxInt || time(2) > time(3) ||
      time(3) > time(4) || time(4) > time(5)) {
    throw fields.error(
        "spans",
        fmt::format("a span reads {} {} {} {} {} {}; it is rank, task, and launched, "
                    "start, transfer, end, which do not descend",
                    numbers[0],
                    numbers[1],
                    numbers[2],
                    numbers[3],
                    numbers[4],
                    numbers[5]));
  }
  return {.rank = static_cast<int>(numbers[0]),
          .task = static_cast<int>(numbers[1]),
          .launched = time(2),
          .start = time(3),
          .transfer = time(4),
          .end = time(5)};
}

MeasuredRun read_run(const Fields& fields) {
  MeasuredRun run;
  run.end = Time::from_picoseconds(fields.long_integer("end_picoseconds", {1, kMaxTime}));
  const std::vector<std::int64_t> numbers = fields.long_integers("spans", {0, kMaxTime});
  if (numbers.empty() || numbers.size() % kNumbersOfSpan != 0) {
    throw fields.error(
        "spans",
        fmt::format("{} numbers; give {} for each span: rank, task, launched, start, "
                    "transfer, end",
                    numbers.size(),
                    kNumbersOfSpan));
  }
  for (std::size_t at = 0; at < numbers.size(); at += kNumbersOfSpan) {
    run.spans.push_back(read_span(fields, &numbers[at]));
  }
  return run;
}

MeasuredProgram read_program(const Fields& fields) {
  MeasuredProgram measured;
  measured.name = fields.text("name");
  measured.hash = fields.text("hash");
  measured.num_ranks = fields.integer("num_ranks", io::kRankCount);
  for (const Fields& run : fields.children("runs")) {
    measured.runs.push_back(read_run(run));
  }
  if (measured.runs.empty()) {
    throw fields.error("runs", "a Program without runs; remove it");
  }
  return measured;
}

}  // namespace

GpuCheck parse_gpu_check(const std::string& text, const std::string& path) {
  const io::Document document(io::Schema::kGpuCheck, text, path);
  const Fields root = document.root();
  GpuCheck check;
  check.version = root.text("version");
  check.date = root.text("date");
  check.environment = root.texts("environment");
  for (const Fields& fields : root.children("parts")) {
    check.parts.push_back(read_part(fields));
  }
  if (check.parts.empty()) {
    throw root.error("parts", "GpuCheck has no \"parts\"; give a file that tests/gpu/run.sh wrote");
  }
  for (const Fields& fields : root.children("equality")) {
    check.equality.push_back(read_equality(fields));
  }
  for (const Fields& fields : root.children("probes")) {
    check.probes.push_back(read_probes(fields));
  }
  for (const Fields& fields : root.children("programs")) {
    check.programs.push_back(read_program(fields));
  }
  return check;
}

std::vector<Trace> measured_traces(const MeasuredProgram& measured,
                                   const Program& program,
                                   const std::string& path) {
  const auto num_tasks = static_cast<int>(program.tasks.size());
  std::vector<Trace> traces;
  for (const MeasuredRun& run : measured.runs) {
    Trace trace;
    trace.executor = "cuda";
    trace.resolution = "ranks";
    for (int rank = 0; rank < program.num_ranks; ++rank) {
      trace.classes.push_back({.representative = rank, .ranks = {rank}});
    }
    for (const TaskSpan& span : run.spans) {
      if (span.rank >= program.num_ranks || span.task >= num_tasks) {
        throw Error(
            path,
            fmt::format("{}: a span of task {} on rank {}, but it has {} tasks and {} ranks; "
                        "check the file with the moesim of its version",
                        measured.name,
                        span.task,
                        span.rank,
                        num_tasks,
                        program.num_ranks));
      }
    }
    trace.spans = run.spans;
    trace.end = run.end;
    traces.push_back(std::move(trace));
  }
  return traces;
}

}  // namespace moesim
