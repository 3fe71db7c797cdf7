#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "kernels/operation.h"
#include "kernels/row_spans.h"
#include "sim/base/time.h"
#include "sim/io/cluster.h"
#include "sim/io/profile.h"

namespace moesim {

// What a task's start counts as, and what is waited for.
enum class HostClock {
  // Honest: a task starts when it really can.
  kFree,
  // A task starts at the latest planned end of what it waited for, whenever its thread woke up.
  // Fixed tasks and collectives then take the same times in every run: it checks what waits for
  // what and how links are shared. What the machine adds is invisible: partly circular.
  kAnchored,
  // Nothing is paced: fixed tasks, links, launches and dilation are not waited for. Operations and
  // copies fight for cores and memory for real.
  kRaw
};

// Random delays before tasks, at most `longest`: a missing wait then shows in the results.
struct DelayInjection {
  uint64_t seed = 0;
  Time longest;
};

// One task, ready to start, starts on each rank only after a later one has ended there, or after
// `longest`. Without the wait between the two nothing else keeps them in order, and what the later
// one reads is, for certain, what stood there before. With the wait it is a delay of `longest`.
struct Hold {
  int task = 0;
  int until = 0;
  Time longest;
};

// Makes the operation of a task on a rank, as make_operation does.
using OperationFactory =
    std::function<std::unique_ptr<Operation>(const RowMap& map, const Task& task, int rank)>;

// How long an operation is to last, whatever it takes on this machine.
using OperationTime = std::function<Time(const Task& task, int rank)>;

struct HostOptions {
  HostClock clock = HostClock::kFree;
  // The fabric: rank r is GPU r. Without one, collectives take as long as copying takes.
  std::optional<Cluster> cluster{};
  // An operation lasts this many times its CPU time, times what the Program's speeds and jitter
  // make of it (sim/program/variation.h); up to 1, as long as it takes.
  double dilation = 0;
  // Instead of dilation: operations last what a model says. They compute all the same, but their
  // times are no measurement.
  OperationTime operation_time{};
  int hardware_queues = kDefaultHardwareQueues;
  Time launch_overhead{};
  // kAnchored: a delay beyond this is no longer ignored.
  Time overrun = Time::from_picoseconds(2'000'000'000);
  // How often a run is looked at for whether it still can go on.
  Time patience = Time::from_picoseconds(500'000'000'000);
  std::optional<DelayInjection> delays{};
  std::optional<Hold> hold{};
  Rounding rounding = Rounding::kOff;
  OperationFactory make_operation{};  // empty: moesim::make_operation
};

}  // namespace moesim
