#include "sim/program/work.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "sim/model/sizes.h"
#include "sim/program/operands.h"

namespace moesim {
namespace {

// A multiply and an add.
constexpr double kFlopsPerMac = 2;
// A backward pass makes two gradients where the forward pass makes one product.
constexpr double kBackwardFactor = 2;

double list_rows(const Region& region) {
  return static_cast<double>(region.num_list_rows());
}

const Tensor& tensor_of(const Program& program, const Region& region) {
  return program.tensors[region.tensor];
}

double bytes_of(const Program& program, const std::vector<Region>& regions) {
  double bytes = 0;
  for (const Region& region : regions) {
    bytes += list_rows(region) * static_cast<double>(tensor_of(program, region).row_bytes());
  }
  return bytes;
}

// Operations that only move or add rows read their inputs once and write their outputs once.
Work memory_work(const Program& program, const Task& task) {
  return {0, 0, bytes_of(program, task.reads) + bytes_of(program, task.writes)};
}

Work scaled(const Work& work, double factor) {
  return {work.flops * factor, work.num_gemms, work.memory_bytes * factor};
}

// A backward pass runs twice the kernels of the forward pass, each as large.
Work in_pass(const Work& forward, Pass pass) {
  if (pass != Pass::kBackward) {
    return forward;
  }
  return {forward.flops * kBackwardFactor,
          forward.num_gemms * static_cast<int>(kBackwardFactor),
          forward.memory_bytes};
}

// flops = 2 * rows * M * H/N_ESP * n_gemm, n_gemm = 2 (simple) or 3 (SwiGLU); backward twice that
// with twice the kernels (FSMoE, section 4, and its code). A recompute pass costs its forward pass,
// whatever it keeps: frameworks recompute whole operations.
Work expert_work(const Program& program, const Expert& expert, const Task& task) {
  const bool backward = task.pass == Pass::kBackward;
  need_regions(task, 3, 1);
  const Region& x = backward ? task.reads[1] : task.reads[0];
  const Region& hidden = backward ? task.reads[2] : task.writes.back();
  const int halves = expert.swiglu ? 2 : 1;
  const double embedding = tensor_of(program, x).columns;
  const int width = tensor_of(program, hidden).columns / halves;
  Work forward;
  forward.num_gemms = expert.swiglu ? 3 : 2;
  forward.flops = kFlopsPerMac * list_rows(x) * embedding * width * forward.num_gemms;
  return in_pass(forward, task.pass);
}

// flops = 2*n*M*C_qkv (QKV) + 2*n*C*M (projection) + 4*B*len*keys*C (scores and AV), n = B*len
// rows, C the columns of the context. keys = L; for the causal chunk [lo, hi) its mean (lo+hi)/2,
// which is L*(i-1/2)/r for chunk i of r (SP-MoE, section 3). Backward twice that.
Work attention_work(const Program& program, const Attention& attention, const Task& task) {
  const bool backward = task.pass == Pass::kBackward;
  need_regions(task, backward ? 4 : 1, backward ? 1 : 2);
  const Region& x = backward ? task.reads[1] : task.reads[0];
  const Tensor& qkv = tensor_of(program, backward ? task.reads[2] : task.writes[0]);
  const Tensor& context = tensor_of(program, backward ? task.reads[3] : task.writes[1]);
  const double embedding = tensor_of(program, x).columns;
  const double keys = attention.causal ? x.first_row + 0.5 * x.num_rows : qkv.rows;
  const double projected = qkv.columns + context.columns;
  Work forward;
  forward.num_gemms = 4;
  forward.flops =
      kFlopsPerMac * list_rows(x) * (embedding * projected + 2 * keys * context.columns);
  return in_pass(forward, task.pass);
}

// How often a gate passes over its fp32 scores (rows x E) besides the GEMM, read or written.
// Softmax or sigmoid reads and writes them and top-k reads them: 3. X-MoE first scales them by the
// norms: 5. Expert-Choice turns them so that each expert's tokens lie together, for a top-k that
// reads and writes them: 6. Assumed: one kernel per step.
double gate_passes(GateKind gate) {
  switch (gate) {
    case GateKind::kGshard:
    case GateKind::kSigmoid:
      return 3;
    case GateKind::kXmoe:
      return 5;
    case GateKind::kExpertChoice:
      return 6;
  }
  return 0;
}

// flops = 2 * rows * M * E; X-MoE: 2 * rows * d * (M + E) in two GEMMs, d = min(256, M), whose
// projection is also normalised (read and written).
Work gate_work(const Program& program, const Gate& gate, const Task& task) {
  const bool backward = task.pass == Pass::kBackward;
  need_regions(task, backward ? 4 : 1, 1);
  const Region& x = backward ? task.reads[3] : task.reads[0];
  const Region& probs = backward ? task.reads[1] : task.writes[0];
  const double rows = list_rows(x);
  const double embedding = tensor_of(program, x).columns;
  const double experts = tensor_of(program, probs).columns;
  const auto score_bytes = static_cast<double>(size_of(DataType::kFp32));
  Work forward{kFlopsPerMac * rows * embedding * experts,
               1,
               gate_passes(gate.gate) * rows * experts * score_bytes};
  if (gate.gate == GateKind::kXmoe) {
    const double columns = std::min<double>(kXmoeColumns, embedding);
    forward.flops = kFlopsPerMac * rows * columns * (embedding + experts);
    forward.num_gemms = 2;
    forward.memory_bytes += 2 * rows * columns * score_bytes;
  }
  return in_pass(forward, task.pass);
}

struct NominalWork {
  const Program& program;
  const Task& task;

  Work operator()(const Fixed&) const { return {}; }
  Work operator()(const Collective&) const { return {}; }
  Work operator()(const HostWait&) const { return {}; }
  Work operator()(const Gate& gate) const { return gate_work(program, gate, task); }
  Work operator()(const Expert& expert) const { return expert_work(program, expert, task); }
  Work operator()(const Attention& attention) const {
    return attention_work(program, attention, task);
  }
  Work operator()(const Order&) const { return memory_work(program, task); }
  Work operator()(const Unorder&) const { return memory_work(program, task); }
  Work operator()(const Slice&) const { return memory_work(program, task); }
  Work operator()(const Replicate&) const { return memory_work(program, task); }
  Work operator()(const LocalSum&) const { return memory_work(program, task); }
  Work operator()(const Elementwise&) const { return memory_work(program, task); }
  Work operator()(const Optimizer&) const { return memory_work(program, task); }
};

}  // namespace

Work work_of(const Program& program, const Task& task, double valid_share) {
  if (task.reads.empty() && task.writes.empty()) {
    return {};
  }
  return scaled(std::visit(NominalWork{program, task}, task.descriptor), valid_share);
}

}  // namespace moesim
