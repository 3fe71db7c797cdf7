#include "sim/io/gpu_check.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "sim/io/internal/gpu_probe_reader.h"
#include "sim/io/internal/limits.h"

namespace moesim {
namespace {

using io::Fields;

constexpr std::int64_t kMaxTime = io::kMaxMeasuredPicoseconds;
constexpr double kMaxBudget = 3600;
constexpr double kMaxOverrun = 60;  // of a part that takes its time to end
constexpr double kMaxError = 1e9;
constexpr std::size_t kNumbersOfSpan = 6;

GpuCheckPart read_part(const Fields& fields) {
  GpuCheckPart part;
  part.name = fields.text("name");
  part.status = fields.choice<GpuCheckStatus>("status");
  part.budget_seconds = fields.real("budget_seconds", {0, kMaxBudget});
  part.seconds = fields.real("seconds", {0, part.budget_seconds + kMaxOverrun});
  part.num_planned = fields.integer("num_planned", io::kAtLeastZero);
  part.message = fields.text_or("message", "");
  if (part.message.empty() != (part.status == GpuCheckStatus::kDone)) {
    throw fields.error("message", "a part has a message unless it is DONE; the file is damaged");
  }
  return part;
}

// All of kGpuCheckParts, in their order.
std::vector<GpuCheckPart> read_parts(const Fields& root) {
  std::vector<GpuCheckPart> parts;
  for (const Fields& fields : root.children("parts")) {
    parts.push_back(read_part(fields));
    const std::size_t at = parts.size() - 1;
    if (at >= kGpuCheckParts.size() || parts[at].name != kGpuCheckParts[at]) {
      throw fields.error("name",
                         fmt::format("\"{}\" where {} is due; give a file that this version's "
                                     "tests/gpu/run.sh wrote",
                                     parts[at].name,
                                     at < kGpuCheckParts.size() ? kGpuCheckParts[at] : "nothing"));
    }
  }
  if (parts.size() < kGpuCheckParts.size()) {
    throw root.error("parts",
                     fmt::format("no part \"{}\"; give a file that this version's "
                                 "tests/gpu/run.sh wrote",
                                 kGpuCheckParts[parts.size()]));
  }
  return parts;
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

AttentionCase read_attention(const Fields& fields) {
  AttentionCase one;
  one.program = fields.text("program");
  one.failure = fields.text_or("failure", "");
  if (one.failure.empty()) {
    one.num_fused = fields.integer("num_fused", io::kAtLeastZero);
    one.num_buffers = fields.integer("num_buffers", io::kAtLeastOne);
    one.largest_error = fields.real("largest_error", {0, kMaxError});
  }
  return one;
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
  Time last;
  std::set<std::pair<int, int>> seen;
  for (std::size_t at = 0; at < numbers.size(); at += kNumbersOfSpan) {
    const TaskSpan& span = run.spans.emplace_back(read_span(fields, &numbers[at]));
    last = std::max(last, span.end);
    if (!seen.emplace(span.task, span.rank).second) {
      throw fields.error(
          "spans", fmt::format("task {} ends twice on rank {}; remove one", span.task, span.rank));
    }
  }
  if (last != run.end) {
    throw fields.error("end_picoseconds",
                       fmt::format("{} is not the end of the last span, {}; the file is damaged",
                                   run.end.picoseconds(),
                                   last.picoseconds()));
  }
  return run;
}

bool are_the_same(const MeasuredRun& left, const MeasuredRun& right) {
  return std::equal(left.spans.begin(),
                    left.spans.end(),
                    right.spans.begin(),
                    right.spans.end(),
                    [](const TaskSpan& a, const TaskSpan& b) {
                      return a.task == b.task && a.rank == b.rank && a.launched == b.launched &&
                             a.start == b.start && a.transfer == b.transfer && a.end == b.end;
                    });
}

MeasuredProgram read_program(const Fields& fields) {
  MeasuredProgram measured;
  measured.name = fields.text("name");
  measured.hash = fields.text("hash");
  measured.num_ranks = fields.integer("num_ranks", io::kRankCount);
  for (const Fields& run : fields.children("runs")) {
    measured.runs.push_back(read_run(run));
    const std::size_t last = measured.runs.size() - 1;
    for (std::size_t i = 0; i < last; ++i) {
      if (are_the_same(measured.runs[i], measured.runs[last])) {
        throw run.error(fmt::format("the times of run {}, all of them; no two runs are alike", i));
      }
    }
  }
  if (measured.runs.empty()) {
    throw fields.error("runs", "a Program without runs; remove it");
  }
  return measured;
}

// Throws Error where two of a list have one key.
template <typename Item, typename Key>
void check_unique(const Fields& root, const char* list, const std::vector<Item>& items, Key key) {
  std::set<decltype(key(items.front()))> seen;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!seen.insert(key(items[i])).second) {
      throw root.error(list, static_cast<int>(i), "stands twice in the file; remove one");
    }
  }
}

// Results of a part, and how many of them say that they failed.
struct Results {
  const char* list = "";
  std::size_t number = 0;
  std::size_t num_failed = 0;
};

template <typename Item>
Results results_of(const char* list, const std::vector<Item>& items) {
  const auto failed = std::count_if(
      items.begin(), items.end(), [](const Item& item) { return !item.failure.empty(); });
  return {list, items.size(), static_cast<std::size_t>(failed)};
}

// A part that is done has all of its results, and none that failed. `parts` are those that share
// the list.
void check_number(const Fields& root,
                  const Results& results,
                  const GpuCheck& check,
                  std::initializer_list<const char*> parts) {
  std::size_t planned = 0;
  bool is_done = true;
  for (const GpuCheckPart& part : check.parts) {
    if (std::find(parts.begin(), parts.end(), part.name) != parts.end()) {
      planned += static_cast<std::size_t>(part.num_planned);
      is_done = is_done && part.status == GpuCheckStatus::kDone;
    }
  }
  if (results.number > planned || (is_done && results.number < planned)) {
    throw root.error(results.list,
                     fmt::format("{} where {} were planned{}; the file is damaged",
                                 results.number,
                                 planned,
                                 is_done ? " and all are done" : ""));
  }
  if (is_done && results.num_failed > 0) {
    throw root.error(
        results.list,
        fmt::format("{} failed in a part that is done; the file is damaged", results.num_failed));
  }
}

void check_whole(const Fields& root, const GpuCheck& check) {
  io::check_probes_agree(root, check.environment, check.probes);
  const auto key = [](const EqualityCase& one) { return std::pair(one.program, one.num_ranks); };
  check_unique(root, "equality", check.equality, key);
  check_unique(root, "nccl", check.nccl, key);
  check_unique(
      root, "attention", check.attention, [](const AttentionCase& one) { return one.program; });
  check_unique(
      root, "programs", check.programs, [](const MeasuredProgram& one) { return one.hash; });
  check_number(root, results_of("equality", check.equality), check, {"equality"});
  check_number(root, results_of("nccl", check.nccl), check, {"nccl"});
  check_number(root, results_of("attention", check.attention), check, {"attention"});
  check_number(root, {"probes", check.probes.size()}, check, {"probes", "queues"});
  check_number(root, {"programs", check.programs.size()}, check, {"schedules"});
}

}  // namespace

GpuCheck parse_gpu_check(const std::string& text, const std::string& path) {
  const io::Document document(io::Schema::kGpuCheck, text, path);
  const Fields root = document.root();
  GpuCheck check;
  check.version = root.text("version");
  check.date = root.text("date");
  check.environment = root.texts("environment");
  if (check.environment.empty()) {
    throw root.error("environment", "GpuCheck has no \"environment\"; it names the GPU");
  }
  check.parts = read_parts(root);
  for (const Fields& fields : root.children("equality")) {
    check.equality.push_back(read_equality(fields));
  }
  for (const Fields& fields : root.children("nccl")) {
    check.nccl.push_back(read_equality(fields));
  }
  for (const Fields& fields : root.children("probes")) {
    check.probes.push_back(io::read_gpu_probes(fields));
  }
  for (const Fields& fields : root.children("programs")) {
    check.programs.push_back(read_program(fields));
  }
  for (const Fields& fields : root.children("attention")) {
    check.attention.push_back(read_attention(fields));
  }
  check_whole(root, check);
  return check;
}

bool is_gpu_variable(std::string_view line) {
  const auto prefixes = {"CUDA_", "NCCL_", "CUBLAS", "NVIDIA_TF32"};
  return std::any_of(prefixes.begin(), prefixes.end(), [line](const char* prefix) {
    return line.starts_with(prefix);
  });
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
