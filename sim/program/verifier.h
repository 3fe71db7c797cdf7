#pragma once

#include <string>
#include <vector>

#include "sim/io/profile.h"
#include "sim/io/program.h"

namespace moesim {

enum class ProblemKind {
  kRace,
  kUnwrittenRead,
  kDoubleWrite,
  kOutOfBounds,
  kMismatchedCollective,
  kByteMismatch,
  kDeadlock
};

// The kind as it stands in `verify --json`: "race", "unwritten_read", …
const char* to_string(ProblemKind kind);

struct Problem {
  ProblemKind kind = ProblemKind::kRace;
  std::vector<int> tasks;  // the tasks concerned, ascending
  std::string message;     // names them, the tensor and the missing wait
};

// "race: …", in one line.
std::string to_string(const Problem& problem);

struct Verdict {
  std::vector<Problem> problems;
  std::vector<std::string> warnings;  // head-of-line blocking, suspicious rows

  bool ok() const { return problems.empty(); }
};

struct VerifierOptions {
  int hardware_queues = kDefaultHardwareQueues;  // for the warnings
};

// Proves that a Program is free of races, deadlocks and contradictory sizes, or says where it is
// not. Races are found by a vector clock per stream, not by a matrix of all pairs of tasks.
Verdict verify(const Program& program, const VerifierOptions& options = {});

// Of these problems only those of kind kOutOfBounds, with which no executor can make anything:
// regions beyond their tensors, ranks without a place in a group that they need one in.
std::vector<Problem> out_of_bounds(const Program& program);

}  // namespace moesim
