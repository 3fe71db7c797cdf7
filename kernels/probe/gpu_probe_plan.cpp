#include "kernels/probe/gpu_probe_plan.h"

#include <algorithm>
#include <array>

namespace moesim {
namespace {

// The matrices of an expert, columns x depth: DeepSeek-V3's, a small model's, Mixtral's.
struct Shape {
  int64_t columns;
  int64_t depth;
};
constexpr auto kShapes = std::to_array<Shape>({{2048, 7168}, {8192, 2048}, {14336, 4096}});

constexpr int64_t kMebibyte = int64_t{1} << 20U;
constexpr int64_t kCopyBytes = 256 * kMebibyte;
// A GEMM of some milliseconds, beside which other kernels run.
constexpr GpuProbe kLongGemm = {
    .kind = GpuProbeKind::kGemm, .rows = 8192, .columns = 8192, .depth = 4096};

ProbeGroup gemms() {
  ProbeGroup group{"gemm", {}};
  for (const Shape& shape : kShapes) {
    for (int64_t tokens = 16; tokens <= 8192; tokens *= 2) {
      for (const bool cold : {false, true}) {
        group.probes.push_back({.kind = GpuProbeKind::kGemm,
                                .rows = tokens,
                                .columns = shape.columns,
                                .depth = shape.depth,
                                .cold = cold});
      }
    }
  }
  return group;
}

ProbeGroup copies(const ProbeMachine& machine) {
  ProbeGroup group{"copy", {}};
  for (int blocks = 1; blocks <= 16 * machine.num_sms; blocks *= 2) {
    group.probes.push_back({.kind = GpuProbeKind::kCopy, .bytes = kCopyBytes, .blocks = blocks});
  }
  return group;
}

ProbeGroup launches() {
  return {"launch",
          {{.kind = GpuProbeKind::kLaunch, .kernels = 100},
           {.kind = GpuProbeKind::kLaunch, .kernels = 1000}}};
}

// From all SMs down to an eighth, in steps that cuBLASLt can follow.
ProbeGroup gemms_on_sms(const ProbeMachine& machine) {
  ProbeGroup group{"gemm_sms", {kLongGemm}};
  for (int eighths = 8; eighths >= 1; --eighths) {
    GpuProbe probe = kLongGemm;
    probe.sms = std::max(1, machine.num_sms * eighths / 8);
    group.probes.push_back(probe);
  }
  return group;
}

// Each k with a GEMM that would take all SMs, and with one that leaves k alone.
ProbeGroup contention(const ProbeMachine& machine) {
  ProbeGroup group{"contention", {kLongGemm}};
  for (const int held : {1, 2, 4, 8, 16, 24, 32, 48, 64}) {
    for (const int limit : {0, machine.num_sms - held}) {
      for (const auto kind : {GpuProbeKind::kGemmBesideSpin, GpuProbeKind::kGemmBesideCopy}) {
        GpuProbe probe = kLongGemm;
        probe.kind = kind;
        probe.sms = limit;
        probe.beside_sms = held;
        if (held < machine.num_sms) {
          group.probes.push_back(probe);
        }
      }
    }
  }
  return group;
}

ProbeGroup late_copies() {
  constexpr int kBlocks = 8;  // as many as a collective's channels
  ProbeGroup group{"late", {kLongGemm}};
  group.probes.push_back({.kind = GpuProbeKind::kCopy, .bytes = 16 * kMebibyte, .blocks = kBlocks});
  for (const bool priority : {false, true}) {
    GpuProbe probe = kLongGemm;
    probe.kind = GpuProbeKind::kLateCopy;
    probe.priority = priority;
    probe.bytes = 16 * kMebibyte;
    probe.blocks = kBlocks;
    group.probes.push_back(probe);
  }
  return group;
}

ProbeGroup queues(const ProbeMachine& machine) {
  return {"queues",
          {{.kind = GpuProbeKind::kQueues, .streams = 1, .kernels = 3, .queues = machine.queues},
           {.kind = GpuProbeKind::kQueues, .streams = 8, .kernels = 3, .queues = machine.queues}}};
}

void add_collectives(const GpuProbe& like, ProbeGroup& group) {
  for (const int64_t bytes : {64 * kMebibyte / 1024, kMebibyte, 16 * kMebibyte, 128 * kMebibyte}) {
    GpuProbe probe = like;
    probe.bytes = bytes;
    group.probes.push_back(probe);
  }
}

// NCCL's kernels carry what is sent, with oneself too; the other collectives of one rank alone are
// copies of the device, which the group "copy" has.
std::vector<CollectiveOperation> operations(int group_size) {
  std::vector<CollectiveOperation> sends = {CollectiveOperation::kAllToAll,
                                            CollectiveOperation::kShift};
  if (group_size > 1) {
    sends.insert(sends.end(),
                 {CollectiveOperation::kAllGather,
                  CollectiveOperation::kReduceScatter,
                  CollectiveOperation::kAllReduce,
                  CollectiveOperation::kBroadcast});
  }
  return sends;
}

void add_all_to_alls(int group_size, ProbeGroup& group) {
  const GpuProbe plain = {.kind = GpuProbeKind::kCollective,
                          .operation = CollectiveOperation::kAllToAll,
                          .group_size = group_size};
  for (const int ctas : {1, 4, 16}) {
    GpuProbe probe = plain;
    probe.ctas = ctas;
    add_collectives(probe, group);
  }
  GpuProbe packed = plain;
  packed.packed = true;
  add_collectives(packed, group);
  GpuProbe pair = plain;
  pair.kind = GpuProbeKind::kCollectivePair;
  add_collectives(pair, group);
}

ProbeGroup collectives(const ProbeMachine& machine) {
  ProbeGroup group{"collective", {}};
  for (int size = machine.num_gpus > 1 ? 2 : 1; size <= machine.num_gpus; size *= 2) {
    for (const auto operation : operations(size)) {
      add_collectives(
          {.kind = GpuProbeKind::kCollective, .operation = operation, .group_size = size}, group);
    }
    add_all_to_alls(size, group);
  }
  return group;
}

void leave_out_too_large(const ProbeMachine& machine, std::vector<ProbeGroup>& groups) {
  for (ProbeGroup& group : groups) {
    std::erase_if(group.probes, [&](const GpuProbe& probe) {
      return probe_memory(probe) > machine.memory_bytes;
    });
  }
  std::erase_if(groups, [](const ProbeGroup& group) { return group.probes.empty(); });
}

}  // namespace

int64_t probe_memory(const GpuProbe& probe) {
  constexpr int64_t kElement = 2;                   // BF16
  constexpr int64_t kCopyBeside = 512 * kMebibyte;  // of the kernel that copies, and to empty L2
  const int64_t matrices = kElement * (probe.rows * probe.depth + probe.depth * probe.columns +
                                       probe.rows * probe.columns);
  const int64_t copies =
      (probe.kind == GpuProbeKind::kCollectivePair || probe.packed ? 4 : 2) * probe.bytes;
  return matrices + copies + kCopyBeside;
}

std::vector<ProbeGroup> plan_gpu_probes(const ProbeMachine& machine) {
  std::vector<ProbeGroup> groups = {gemms(),
                                    copies(machine),
                                    launches(),
                                    gemms_on_sms(machine),
                                    contention(machine),
                                    late_copies(),
                                    queues(machine)};
  if (machine.has_nccl) {
    groups.push_back(collectives(machine));
  }
  leave_out_too_large(machine, groups);
  return groups;
}

std::vector<ProbeGroup> plan_queue_probes(const ProbeMachine& machine) {
  return {queues(machine)};
}

}  // namespace moesim
