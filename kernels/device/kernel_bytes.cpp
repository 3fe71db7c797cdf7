#include "kernels/device/kernel_bytes.h"

#include "sim/base/check.h"

namespace moesim {
namespace {

constexpr int64_t kNumber = 4;  // bytes of an FP32 or INT32

int64_t row_bytes(const DeviceRows& rows) {
  return rows.columns * size_of(rows.buffer.type);
}

struct KernelBytes {
  int64_t blocks;
  int64_t slots;

  int64_t operator()(const CombinePieces&) const {
    CHECK(false, "the pieces know their bytes");
    return 0;
  }
  int64_t operator()(const ColumnSquares& k) const {
    return (int64_t{k.rows} + 1) * k.columns * kNumber;
  }
  int64_t operator()(const CosineScores& k) const {
    const int64_t norms = k.inverse_norms == nullptr ? 0 : blocks;
    return (embeddings(k.first) + blocks * (k.first.columns + k.first.experts) + norms) * kNumber;
  }
  // Scores are read and take their place again.
  int64_t operator()(const GateProbabilities& k) const {
    return blocks * (2 * k.probs.columns * kNumber + row_bytes(k.probs));
  }
  int64_t operator()(const GateChoices& k) const {
    const bool reads = k.rule.kind == ChoiceRule::Kind::kProbability;
    return blocks * ((reads ? k.rule.experts : 0) + k.rule.width) * kNumber;
  }
  int64_t operator()(const FillExpertSlots& k) const {
    return int64_t{k.domain.rows} * k.domain.width * kNumber + slot_bytes(k.domain);
  }
  int64_t operator()(const FillChosenSlots& k) const { return slot_bytes(k.domain); }
  // Probabilities, choices and slots in; gradients of weights and of logits out.
  int64_t operator()(const GateGradient& k) const {
    const int64_t numbers = 3 * int64_t{k.experts} + k.width + k.num_slot_experts;
    return blocks * (numbers * kNumber + k.width * row_bytes(k.d_weight));
  }
  int64_t operator()(const CosineInputGradient& k) const {
    const CosineRow& row = k.of.first;
    const int64_t numbers = row.columns + 2 * int64_t{row.experts} + 1;
    return embeddings(row) * kNumber + blocks * (numbers * kNumber + 2 * row_bytes(k.dx));
  }
  int64_t operator()(const CosineWeightGradient& k) const {
    const CosineRow& row = k.of.first;
    const int64_t weights = int64_t{row.columns} * row.experts;
    const int64_t numbers = row.columns + 2 * int64_t{row.experts} + 1;
    return (embeddings(row) + k.rows * numbers) * kNumber + 2 * weights * size_of(k.dw.type);
  }
  int64_t operator()(const GatherRows& k) const {
    return blocks * (kNumber + row_bytes(k.x) + row_bytes(k.buffer));
  }
  // Of each slot its token, its expert, and the place of both in the map.
  int64_t operator()(const MapSlots& k) const { return 3 * int64_t{k.num_slots} * kNumber; }
  // A slot belongs to one row.
  int64_t operator()(const SumSlots& k) const {
    const int64_t map = blocks * k.experts * kNumber;
    const int64_t listed = slots * (row_bytes(k.buffer) + row_bytes(k.weight));
    return map + listed + (k.adds ? 2 : 1) * blocks * row_bytes(k.to);
  }
  int64_t operator()(const ScaleSlots& k) const {
    return blocks * (kNumber + row_bytes(k.dy) + row_bytes(k.buffer) + row_bytes(k.weight) +
                     row_bytes(k.d_buffer) + row_bytes(k.d_weight));
  }
  int64_t operator()(const Activate& k) const {
    return blocks * (row_bytes(k.hidden) + k.width * size_of(k.to.type));
  }
  int64_t operator()(const DifferentiateHidden& k) const {
    const int64_t gradients = k.width + k.hidden.columns;
    return blocks * (row_bytes(k.hidden) + gradients * size_of(k.d_hidden.type));
  }
  int64_t operator()(const SoftmaxRows& k) const {
    return blocks * k.rows.keys * (kNumber + size_of(k.probabilities.type));
  }
  int64_t operator()(const SoftmaxBackwardRows& k) const {
    const int64_t factors = size_of(k.gradient_factors.type) + size_of(k.probability_factors.type);
    return blocks * k.rows.keys * (2 * kNumber + factors);
  }
  int64_t operator()(const OptimizerStep& k) const {
    const int64_t state = k.state.columns == 0 ? 0 : (k.is_adam ? 4 : 0) + (k.keeps_copy ? 1 : 0);
    return blocks * (2 * row_bytes(k.weights) + row_bytes(k.gradients) +
                     state * k.weights.columns * size_of(k.state.buffer.type));
  }

  static int64_t embeddings(const CosineRow& row) {
    return (int64_t{row.columns} + 1) * row.experts;
  }
  // Of each slot its place, its row and its weight.
  int64_t slot_bytes(const DomainSlots& domain) const {
    const int64_t probabilities = int64_t{domain.rows} * domain.experts * kNumber;
    return probabilities + slots * (2 * kNumber + row_bytes(domain.weight));
  }
};

}  // namespace

int64_t bytes_of(const KernelBody& body, int64_t blocks, int64_t slots) {
  return std::visit(KernelBytes{blocks, slots}, body);
}

DeviceStep kernel_step(const KernelBody& body, int64_t blocks, int64_t slots) {
  return {Kernel{body, blocks}, {bytes_of(body, blocks, slots), 0}};
}

}  // namespace moesim
