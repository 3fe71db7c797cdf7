// Gates: scores of every row, the experts that take it, and its weights; backward to the gradients
// of rows and gate weights.
#include <algorithm>
#include <numeric>

#include "kernels/device/lower_kinds.h"
#include "kernels/device/lower_slots.h"
#include "kernels/operations/gate_domains.h"

namespace moesim {
namespace {

constexpr size_t kBackwardReads = 5;

int blocks_for(int64_t elements, int threads) {
  return static_cast<int>((elements + threads - 1) / threads);
}

// What forward and backward share: x, w_gate and what scores come from.
class GateLowering {
 public:
  GateLowering(TaskLowering& lowering, size_t first_read)
      : task(lowering),
        gate(std::get<Gate>(task.site().task->descriptor)),
        x(read_operand(task.site(), first_read, "x")),
        w_gate(read_operand(task.site(), first_read + 1, "w_gate")),
        rows(x.num_rows()),
        experts(w_gate.columns) {}

  bool is_cosine() const { return gate.gate == GateKind::kXmoe; }
  GateWeighting weighting() const { return weighting_of(gate.gate); }

  // The rows of x as a factor, packed: of FP32 for cosines, which are no products of matrices.
  Elements packed_x() const {
    return task.packed(
        x, task.rounding(), is_cosine() ? ElementType::kFloat32 : task.factor_type());
  }
  DeviceMatrix weight_factor() const {
    return matrix(task.factor(w_gate, Rounding::kOff).row(0), x.columns, experts);
  }

  // Row 0 of x and the embeddings with their squares.
  CosineRow cosine_row_of(const Elements& packed) const {
    const Elements w = task.packed(w_gate, Rounding::kOff, ElementType::kFloat32);
    float* squares = task.scratch<float>(experts);
    const auto* embeddings = reinterpret_cast<const float*>(w.address);
    task.kernel(ColumnSquares{embeddings, x.columns, experts, squares}, experts);
    return {
        reinterpret_cast<const float*>(packed.address), x.columns, embeddings, experts, squares};
  }

  // What the domain's rows choose. The running sums of its routing go into a table.
  const int* choices(const GateDomains& domains,
                     const GateDomain& domain,
                     const float* probabilities) const {
    ChoiceRule rule = domains.choice_rule(domain);
    rule.routed_ends = task.space().numbers(domain.routed_ends);
    int* choices = task.scratch<int>(int64_t{rule.rows} * rule.width);
    if (rule.width > 0) {
      task.kernel(GateChoices{rule, probabilities, choices}, rule.rows);
    }
    return choices;
  }

  TaskLowering& task;
  const Gate& gate;
  Operand x;
  Operand w_gate;
  int64_t rows;
  int experts;
};

float* lower_scores(const GateLowering& gate) {
  TaskLowering& task = gate.task;
  const Elements x = gate.packed_x();
  float* scores = task.scratch<float>(gate.rows * gate.experts);
  if (gate.is_cosine()) {
    const CosineRow row = gate.cosine_row_of(x);
    task.kernel(CosineScores{row, kCosineTemperature, scores, nullptr}, gate.rows);
  } else {
    task.multiply({{.left = matrix(x, gate.rows, gate.x.columns),
                    .right = gate.weight_factor(),
                    .target = floats(scores),
                    .target_stride = gate.experts}});
  }
  return scores;
}

struct SlotTables {
  const int32_t* slots = nullptr;
  const int32_t* ends = nullptr;
  int count = 0;  // of slots
};

SlotTables slot_tables(const GateDomain& domain, LoweringSpace& space) {
  std::vector<int32_t> slots;
  std::vector<int32_t> ends;
  for (const std::vector<int64_t>& own : domain.slots) {
    slots.insert(slots.end(), own.begin(), own.end());
    ends.push_back(static_cast<int32_t>(slots.size()));
  }
  return {space.numbers(slots), space.numbers(ends), static_cast<int>(slots.size())};
}

}  // namespace

void lower_gate_forward(TaskLowering& task) {
  const GateLowering gate(task, 0);
  const Operand probs = write_operand(task.site(), 0, "probs");
  const Operand index = write_operand(task.site(), 1, "index");
  const Operand weight = write_operand(task.site(), 2, "weight");
  const GateDomains domains(task.site(), gate.rows, gate.experts, index);
  float* scores = lower_scores(gate);
  task.kernel(GateProbabilities{scores, gate.weighting(), task.rows(probs)}, gate.rows);
  for (const GateDomain& domain : domains.domains()) {
    const float* probabilities = scores + domain.first_row * gate.experts;
    const SlotTables tables = slot_tables(domain, task.space());
    const DomainSlots slots{.probabilities = probabilities,
                            .choices = gate.choices(domains, domain, probabilities),
                            .rows = domain.rows,
                            .experts = gate.experts,
                            .width = domains.width(domain),
                            .first_row = static_cast<int>(domain.first_row),
                            .weighting = gate.weighting(),
                            .slots = tables.slots,
                            .ends = tables.ends,
                            .index = task.index(index),
                            .weight = task.rows(weight)};
    if (domains.experts_choose()) {
      const int blocks = std::max(1, blocks_for(domain.rows, FillChosenSlots::kThreads));
      task.kernel(FillChosenSlots{slots, blocks}, int64_t{blocks} * gate.experts, tables.count);
    } else {
      task.kernel(FillExpertSlots{slots}, gate.experts, tables.count);
    }
  }
}

namespace {

// Rounded: rows x E.
float* lower_logits_gradient(const GateLowering& gate) {
  TaskLowering& task = gate.task;
  const Operand d_weight = read_operand(task.site(), 0, "d_weight");
  const Operand probs = read_operand(task.site(), 1, "probs");
  const Operand index = read_operand(task.site(), 2, "index");
  const GateDomains domains(task.site(), gate.rows, gate.experts, index);
  const auto* probabilities = reinterpret_cast<const float*>(
      task.packed(probs, Rounding::kOff, ElementType::kFloat32).address);
  const SlotMapping map = lower_slot_mapping(task, index, gate.gate.experts, gate.rows);
  float* d_logits = task.scratch<float>(gate.rows * gate.experts);
  float* d_weights = task.scratch<float>(gate.rows * gate.experts);
  for (const GateDomain& domain : domains.domains()) {
    const int64_t first = domain.first_row * gate.experts;
    const GateGradient body{.weighting = gate.weighting(),
                            .rounding = task.rounding(),
                            .probabilities = probabilities + first,
                            .choices = gate.choices(domains, domain, probabilities + first),
                            .width = domains.width(domain),
                            .experts = gate.experts,
                            .slots = map.slots + domain.first_row * map.experts,
                            .num_slot_experts = map.experts,
                            .d_weight = task.rows(d_weight),
                            .d_weights = d_weights + first,
                            .d_logits = d_logits + first};
    task.kernel(body, domain.rows);
  }
  return d_logits;
}

void lower_cosine_backward(const GateLowering& gate,
                           const float* d_logits,
                           const Operand& dx,
                           const Operand& dw_gate) {
  TaskLowering& task = gate.task;
  const CosineRow row = gate.cosine_row_of(gate.packed_x());
  float* cosines = task.scratch<float>(gate.rows * gate.experts);
  float* inverse_norms = task.scratch<float>(gate.rows);
  task.kernel(CosineScores{row, 1.0F, cosines, inverse_norms}, gate.rows);
  const CosineGradients of{row, cosines, d_logits, inverse_norms, task.rounding()};
  task.kernel(CosineInputGradient{of, task.rows(dx)}, gate.rows);
  const Elements dw = task.at(dw_gate, dw_gate.spans.front().first);
  const int64_t weights = int64_t{gate.x.columns} * gate.experts;
  task.kernel(CosineWeightGradient{of, static_cast<int>(gate.rows), dw},
              blocks_for(weights, CosineWeightGradient::kThreads));
}

}  // namespace

void lower_gate_backward(TaskLowering& task) {
  const GateLowering gate(task, 3);
  const Operand dx = sum_operand(task.site(), 0, "dx", kBackwardReads);
  const Operand dw_gate = sum_operand(task.site(), 1, "dw_gate", kBackwardReads);
  task.begin_sum(dx);
  task.begin_sum(dw_gate);
  const float* logits = lower_logits_gradient(gate);
  if (gate.is_cosine()) {
    lower_cosine_backward(gate, logits, dx, dw_gate);
    return;
  }
  const int64_t elements = gate.rows * gate.experts;
  const Elements d_logits =
      task.packed({{floats(logits), elements}}, Rounding::kOff, task.factor_type());
  const DeviceMatrix x = matrix(gate.packed_x(), gate.rows, gate.x.columns);
  const DeviceMatrix weight = gate.weight_factor();
  std::vector<Product> products{{.left = x.transposed(),
                                 .right = matrix(d_logits, gate.rows, gate.experts),
                                 .target = task.at(dw_gate, dw_gate.spans.front().first),
                                 .target_stride = gate.experts,
                                 .add = true}};
  int64_t row = 0;
  for (const RowRun& run : dx.runs()) {
    products.push_back({.left = matrix(d_logits.from(row * gate.experts), run.count, gate.experts),
                        .right = weight.transposed(),
                        .target = task.at(dx, run.first),
                        .target_stride = dx.columns,
                        .add = true});
    row += run.count;
  }
  task.multiply(products);
}

}  // namespace moesim
