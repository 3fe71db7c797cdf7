#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "calibration/robust_fit.h"
#include "sim/io/gpu_check.h"
#include "sim/io/profile.h"

namespace moesim {

// A median over repetitions: how many there were, and how well it is known (median_spread).
struct KnownTime {
  double seconds = 0;
  std::optional<double> spread{};
  int num_samples = 0;
};

KnownTime known_time(const GpuReading& reading);

// GEMM times of one shape of an expert's matrix against FLOPs, that is against tokens.
struct GemmFinding {
  int64_t columns = 0;
  int64_t depth = 0;
  bool cold = false;
  Line line;
  double most_flops_per_second = 0;  // of any number of tokens
};

// What a GEMM loses beside a kernel that holds SMs, as factors of its time alone. A kernel that
// only occupies them takes SMs; one that copies takes as many and memory bandwidth besides:
//   sm_loss = t(beside spin) / t(alone),  memory_loss = t(beside copy) / t(beside spin)
// `limit`: the SMs that the GEMM was told to use; 0: all.
struct ContentionFinding {
  int held_sms = 0;
  int limit = 0;
  double sm_loss = 1;
  double memory_loss = 1;
};

// A kernel launched behind a GEMM. 0: it ran as if the GEMM were not there; 1: it began when the
// GEMM ended:
//   waited = (t(late) - t(alone)) / t(GEMM)
struct LateFinding {
  bool priority = false;
  double waited = 0;
};

// `streams` chains of `kernels` equal kernels of time d, issued chain by chain. Where every chain
// has a queue of its own they take kernels * d; in one queue a chain's first kernel starts when the
// last one of the chain before has started:
//   one queue: (streams * (kernels - 1) + 1) * d
// `serialized` is where the measured time lies: 0 own queues, 1 one queue.
struct QueueFinding {
  int queues = 0;
  int streams = 0;
  double serialized = 0;
};

struct CollectiveFinding {
  CollectiveOperation operation = CollectiveOperation::kAllReduce;
  int group_size = 0;
  int ctas = 0;
  bool packed = false;
  Line line;  // by bytes per rank
};

// Two at once over one alone, at one size: 2 where one fills what it goes through, 1 where its
// bottleneck is its own.
struct PairFinding {
  int group_size = 0;
  int64_t bytes = 0;
  double factor = 0;
};

// What the probes of a GPU say. What was not measured, or was rejected, is absent.
struct GpuFindings {
  int num_readings = 0;
  int num_rejected = 0;
  std::vector<GemmFinding> gemms;
  std::optional<Line> gemm_by_sms;  // t = startup + slope * (1 / SMs)
  std::vector<ContentionFinding> contention;
  std::vector<LateFinding> late;
  std::vector<QueueFinding> queues;
  std::optional<KnownTime> launch;    // of one kernel
  double copy_bytes_per_second = 0;   // read and written; 0: not measured
  std::optional<double> copy_spread;  // of the fastest grid's median
  int copy_blocks = 0;                // the fewest that reach 95 % of it
  std::vector<CollectiveFinding> collectives;
  std::vector<PairFinding> pairs;
};

GpuFindings gpu_findings(const std::vector<GpuProbes>& probes);

// The profile that they make: GEMMs by FLOPs (cold caches, all shapes), the memory's rate, what a
// launch takes, and collectives over two GPUs or more, which are taken to be of one node. The
// caller adds its name and source.
Profile gpu_profile(const std::vector<GpuProbes>& probes);

}  // namespace moesim
