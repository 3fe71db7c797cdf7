#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/probe/probe_device.h"
#include "sim/io/gpu_check.h"

namespace moesim {

// Probes that are compared with each other, and are therefore rejected together when the GPU's
// speed changes meanwhile.
struct ProbeGroup {
  std::string name;
  std::vector<GpuProbe> probes;
};

// The GEMM that tells whether the GPU has become slower: long enough to be steady, and bound by
// computing.
inline constexpr GpuProbe kReferenceProbe = {
    .kind = GpuProbeKind::kGemm, .rows = 4096, .columns = 4096, .depth = 4096};

// What is probed on such a machine, the most useful first, since a budget may cut it off:
//   gemm        tokens of an expert x shapes of its matrices, with cold and warm L2
//   copy        bandwidth against the number of blocks
//   launch      what the host takes for a kernel
//   gemm_sms    one GEMM against the SMs that it may use
//   contention  the same beside k SMs that copy, and beside k SMs that are only occupied
//   late        a kernel that copies, launched behind a GEMM, with and without priority
//   queues      chains of kernels, issued one chain after the other
//   collective  operations x sizes x groups x CTAs; packed; two at once. One GPU alone only sends
//               to itself: AlltoAll and SHIFT
// Probes that do not fit into the machine's memory are left out.
std::vector<ProbeGroup> plan_gpu_probes(const ProbeMachine& machine);

// Only the group that tells one hardware queue from many, which needs a process of its own.
std::vector<ProbeGroup> plan_queue_probes(const ProbeMachine& machine);

// Device memory that a probe needs, in bytes.
int64_t probe_memory(const GpuProbe& probe);

}  // namespace moesim
