#pragma once

#include <string>
#include <vector>

#include "sim/io/gpu_check.h"
#include "sim/io/inputs.h"
#include "sim/io/program.h"

namespace moesim {

// With how many chunks the GPU check runs its schedules.
inline constexpr int kRecordedDegree = 2;

// A Program that is timed.
struct PlannedProgram {
  Program program;
  std::string hash;                // of its file
  bool times_collectives = false;  // a probe, of whose collectives' times costs are made
};

// The one Program whose attention is compared (tests/gpu/attention.txtpb).
inline constexpr const char* kAttentionProgram = "attention";

struct PlannedEquality {
  std::string schedule;
  int num_ranks = 0;
  int num_buffers = 0;  // of all ranks
};

// What tests/gpu/pack.sh carries, as this build makes it.
struct GpuCheckPlan {
  std::vector<PlannedEquality> equality;
  std::vector<PlannedEquality> nccl;
  std::vector<PlannedProgram> programs;
};

struct GpuCheckScenarios {
  std::vector<Inputs> timed{};         // probes and schedules
  std::vector<Inputs> compared{};      // with the CPU backend, on logical ranks of the GPU
  std::vector<Inputs> in_processes{};  // the same, a process for each rank and NCCL between them
};

GpuCheckPlan plan_gpu_check(const GpuCheckScenarios& scenarios);

// Throws Error, located at `path` and the field, where the file has what this build does not plan:
// a Program with another hash or name, other buffers, or runs without a span for every task on
// every rank that runs it; and where a probe's collective takes no time.
void check_against(const GpuCheckPlan& plan, const GpuCheck& check, const std::string& path);

}  // namespace moesim
