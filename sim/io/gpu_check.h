#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/time.h"
#include "sim/io/program.h"
#include "sim/io/trace.h"

namespace moesim {

enum class GpuProbeKind {
  kGemm,
  kGemmBesideCopy,
  kGemmBesideSpin,
  kLateCopy,
  kQueues,
  kCopy,
  kLaunch,
  kCollective,
  kCollectivePair
};

inline constexpr int kNumGpuProbeKinds = 9;

// What a GPU probe times; sim/proto/gpu_check.proto says what each field is. 0: does not matter to
// the kind, or is the library's choice.
struct GpuProbe {
  GpuProbeKind kind = GpuProbeKind::kGemm;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t depth = 0;
  int sms = 0;
  int beside_sms = 0;
  bool cold = false;
  bool priority = false;
  int streams = 0;
  int kernels = 0;
  int queues = 0;
  int64_t bytes = 0;
  int blocks = 0;
  CollectiveOperation operation = CollectiveOperation::kAllReduce;
  int group_size = 0;
  int ctas = 0;
  bool packed = false;

  double flops() const {
    return 2.0 * static_cast<double>(rows) * static_cast<double>(columns) *
           static_cast<double>(depth);
  }

  friend bool operator==(const GpuProbe&, const GpuProbe&) = default;
};

// "GEMM 128 x 4096 x 14336, cold"
std::string to_string(const GpuProbe& probe);

// "gemm", "late_copy", …: as a word of the command line.
const char* to_string(GpuProbeKind kind);

// How far the GPU's speed may drift while a group of probes is measured, relative. A GPU whose
// power is capped changes its clock by a per cent or two all the time.
inline constexpr double kMaxProbeDrift = 0.03;

// One probe, timed again and again.
struct GpuReading {
  GpuProbe probe;
  std::vector<Time> times;  // above zero
  double drift = 0;         // of the reference around it, relative
  bool rejected = false;    // for that drift
  std::string group{};      // of probes that are compared with each other
};

// What one process probed.
struct GpuProbes {
  std::vector<std::string> environment;
  int num_sms = 0;
  std::vector<GpuReading> readings;
  std::vector<std::string> not_run;
  int num_planned = 0;  // readings, had nothing been left out
};

// Whether a line of an environment is a variable ("NCCL_ALGO=Ring"), of those that change how fast
// libraries are, and no fact of the machine.
bool is_gpu_variable(std::string_view line);

enum class GpuCheckStatus { kDone, kCutOff, kFailed, kSkipped };

// The parts of a check, in their order.
inline constexpr auto kGpuCheckParts =
    std::to_array<const char*>({"equality", "probes", "queues", "attention", "schedules", "nccl"});

struct GpuCheckPart {
  std::string name;
  GpuCheckStatus status = GpuCheckStatus::kDone;
  double seconds = 0;
  double budget_seconds = 0;
  std::string message{};
  int num_planned = 0;
};

struct EqualityCase {
  std::string program;
  int num_ranks = 0;
  int num_buffers = 0;
  int num_different = 0;
  std::string failure;  // instead of the numbers
};

// How far fused attention may be from products, of a buffer: the norm of the difference over the
// norm. Both round to BF16, 8 bits, at up to four places one behind the other.
inline constexpr double kFusedAttentionTolerance = 4.0 / 256;

struct AttentionCase {
  std::string program;
  int num_fused = 0;  // 0: there is no kernel, and nothing was compared
  int num_buffers = 0;
  double largest_error = 0;
  std::string failure;  // instead of the numbers
};

struct MeasuredRun {
  Time end;
  std::vector<TaskSpan> spans;
};

// Runs of the Program whose file has the hash.
struct MeasuredProgram {
  std::string name;
  std::string hash;
  int num_ranks = 0;
  std::vector<MeasuredRun> runs;
};

// What tests/gpu/run.sh wrote.
struct GpuCheck {
  std::string version;
  std::string date;
  std::vector<std::string> environment;
  std::vector<GpuCheckPart> parts;  // all of kGpuCheckParts
  std::vector<EqualityCase> equality;
  std::vector<EqualityCase> nccl;  // with a process for each rank
  std::vector<GpuProbes> probes;
  std::vector<MeasuredProgram> programs;
  std::vector<AttentionCase> attention;
};

// Reads a result file (JSON), which comes from another machine and may be damaged. Throws Error
// located at the field where something is missing, stands twice or cannot be: parts that are done
// and lack results, probes of other GPUs than the check's, times that no GPU reaches, probes
// without what their kind needs, spans whose times descend, ends that are not the last span's. What
// only the Programs show is for the caller (sim/cli/gpu_check_plan.h).
GpuCheck parse_gpu_check(const std::string& text, const std::string& path);

// The parts of the file that programs write, each as JSON: run.sh puts them together.
std::string probes_to_json(const GpuProbes& probes);
std::string measured_program_to_json(const MeasuredProgram& measured);
std::string attention_case_to_json(const AttentionCase& one);

// The runs as traces of that Program. Throws Error, located at `path`, where a span names a task or
// a rank that it does not have.
std::vector<Trace> measured_traces(const MeasuredProgram& measured,
                                   const Program& program,
                                   const std::string& path);

}  // namespace moesim
