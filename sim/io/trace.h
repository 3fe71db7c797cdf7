#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/time.h"
#include "sim/io/program.h"

namespace moesim {

// One task's interval on one rank. For a collective, [start, transfer) is the wait for the group's
// last member and [transfer, end) the collective itself; elsewhere transfer = start.
struct TaskSpan {
  int rank = 0;  // of the class's representative
  int task = 0;  // index into Program::tasks
  Time launched;
  Time start;
  Time transfer;
  Time end;
};

// Ranks that behave alike: the trace holds the spans of `representative` for all `ranks`.
struct RankClass {
  int representative = 0;
  std::vector<int> ranks;
};

// What the end of a simulation says of one in which all messages share ports and links at once:
// whether it is the same, as for `flows` itself, or where each drains alone (`fold`, `ports`).
struct SharingStanding {
  bool is_exact = false;  // the same times
  Time at_most;           // else neither ends later
};

// What an executor did with a Program. Spans are ordered by start, then task, then rank; all times
// are relative to the iteration's start.
struct Trace {
  std::string executor;    // "simulator", "cpu", …
  std::string resolution;  // "fold", "ports", "flows"; "ranks": every rank was executed
  std::vector<RankClass> classes;
  std::vector<TaskSpan> spans;
  Time end;
  std::array<Time, kNumPasses> pass_end{};  // by Pass: the end of its last task, zero without tasks
  std::optional<SharingStanding> sharing;   // in no file
  std::vector<std::string> assumptions;     // what the numbers rest on, in order of first use
};

// A trace as JSON: whole picoseconds, tasks by name.
std::string trace_to_json(const Trace& trace, const Program& program);

// Reads a trace of the Program in text format or JSON. Throws Error where it names tasks or ranks
// that the Program does not have, or where times or spans are out of order.
Trace load_trace(const std::string& path, const Program& program);

// The same for text that was read from `path`.
Trace parse_trace(const std::string& text, const std::string& path, const Program& program);

}  // namespace moesim
