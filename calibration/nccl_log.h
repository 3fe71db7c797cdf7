#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibration/nccl_row.h"
#include "sim/collective/layout.h"

namespace moesim {

// One test of one collective.
struct NcclRun {
  std::string collective;  // "all_reduce"
  Layout layout;
  std::vector<std::string> environment;  // versions, arguments, NCCL's settings, GPUs
  std::vector<NcclRow> rows;             // never empty, in the order of the log
};

// A line that looked like a row and is not used, or a half of it.
struct DroppedRow {
  int line = 0;
  std::string reason;
};

struct NcclLog {
  std::string path;
  std::vector<NcclRun> runs;
  std::vector<DroppedRow> dropped;
};

// What a log may not say itself.
struct NcclLogHints {
  std::string collective;        // of runs that do not name one
  std::optional<Layout> layout;  // of runs that list no ranks
};

// Reads what nccl-tests printed: one test or several, among anything else that its launcher and
// NCCL printed. A test's collective is that of the line "Collective test starting", or of any line
// before its rows that names one of the binaries (a command line, "--- all_reduce_perf"); its
// layout comes from the lines "Rank 0 ... on HOST". Takes out tags before lines ("[1,0]<stdout>:",
// "0: "). Throws Error, located, when no row is usable, with what the file is instead and what to
// do; when a test says neither its collective nor its ranks and the hints do not; and when nodes
// have different numbers of ranks.
NcclLog parse_nccl_log(const std::string& path,
                       const std::string& text,
                       const NcclLogHints& hints = {});

}  // namespace moesim
