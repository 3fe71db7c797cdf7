// Gates: scores of every row, the experts that take it, and its weights; backward to the gradients
// of rows and gate weights.
#include <algorithm>

#include "kernels/core/cosine_gate.h"
#include "kernels/core/gate_slots.h"
#include "kernels/gemm.h"
#include "kernels/operations/gate_domains.h"
#include "kernels/operations/make.h"
#include "kernels/operations/slot_map.h"

namespace moesim {
namespace {

constexpr size_t kBackwardReads = 5;

// What forward and backward share: x, w_gate and how they make scores.
class GateBase : public Operation {
 protected:
  GateBase(const TaskSite& site, size_t x)
      : kind_(std::get<Gate>(site.task->descriptor).gate),
        rounding_(site.rounding),
        x_(read_operand(site, x, "x")),
        w_gate_(read_operand(site, x + 1, "w_gate")) {
    require(site,
            w_gate_.runs().size() == 1 && w_gate_.num_rows() == x_.columns,
            "w_gate has no row for each column of x");
  }

  void require_probs(const TaskSite& site, const Operand& probs) const {
    require(site,
            probs.columns == num_experts() && probs.num_rows() == x_.num_rows(),
            "probs has no row of E values for each row of x");
  }

  bool is_cosine() const { return kind_ == GateKind::kXmoe; }
  int num_experts() const { return w_gate_.columns; }
  const float* w_gate(TensorStore& tensors) const {
    return w_gate_.row(tensors, w_gate_.spans.front().first);
  }
  MatrixView w_gate_view(TensorStore& tensors) const {
    return {w_gate(tensors), x_.columns, num_experts()};
  }

  // Of the columns of w_gate; only X-MoE needs them.
  std::vector<float> squares(TensorStore& tensors) const {
    std::vector<float> squares;
    BlockScratch<kWideBlockThreads> scratch;
    for (int expert = 0; is_cosine() && expert < num_experts(); ++expert) {
      squares.push_back(
          column_sum_of_squares(scratch, w_gate(tensors), x_.columns, num_experts(), expert));
    }
    return squares;
  }

  CosineRow cosine_row_of(const std::vector<float>& x,
                          int64_t row,
                          const std::vector<float>& squares,
                          TensorStore& tensors) const {
    return {
        x.data() + row * x_.columns, x_.columns, w_gate(tensors), num_experts(), squares.data()};
  }

  GateKind kind_;
  Rounding rounding_;
  Operand x_;
  Operand w_gate_;
};

class GateForward : public GateBase {
 public:
  explicit GateForward(const TaskSite& site)
      : GateBase(site, 0),
        probs_(write_operand(site, 0, "probs")),
        index_(write_operand(site, 1, "index")),
        weight_(write_operand(site, 2, "weight")),
        domains_(site, x_.num_rows(), probs_.columns, index_) {
    require_probs(site, probs_);
    require(site, weight_.num_rows() == index_.num_rows(), "index and weight differ in slots");
  }

  void run(TensorStore& tensors) const override {
    const std::vector<float> probabilities = score(tensors);
    for (const GateDomain& domain : domains_.domains()) {
      assign(domain, probabilities.data() + domain.first_row * num_experts(), tensors);
    }
  }

 private:
  std::vector<float> score(TensorStore& tensors) const {
    const std::vector<float> x = packed_rows(x_, rounding_, tensors);
    const std::vector<int64_t> rows = probs_.rows();
    const std::vector<float> squares = this->squares(tensors);
    std::vector<float> scores(rows.size() * static_cast<size_t>(num_experts()));
    if (!is_cosine()) {
      multiply({x.data(), x_.num_rows(), x_.columns},
               w_gate_view(tensors),
               {scores.data(), num_experts()});
    }
    BlockScratch<kBlockThreads> scratch;
    BlockScratch<kWideBlockThreads> wide;
    for (size_t row = 0; row < rows.size(); ++row) {
      float* own = scores.data() + row * static_cast<size_t>(num_experts());
      if (is_cosine()) {
        cosine_row(wide, cosine_row_of(x, static_cast<int64_t>(row), squares, tensors), own);
        block_for<kBlockThreads>(num_experts(), [&](int e) { own[e] /= kCosineTemperature; });
      }
      gate_probabilities_row(scratch, weighting_of(kind_), own, num_experts(), own);
      std::copy_n(own, num_experts(), probs_.row(tensors, rows[row]));
    }
    return scores;
  }

  // Fills the domain's slots.
  void assign(const GateDomain& domain, const float* probabilities, TensorStore& tensors) const {
    const std::vector<int> choices = domains_.choices(domain, probabilities);
    const int width = domains_.width(domain);
    const std::vector<int64_t> index_rows = index_.rows();
    const std::vector<int64_t> weight_rows = weight_.rows();
    BlockScratch<kBlockThreads> scratch;
    for (int expert = 0; expert < num_experts(); ++expert) {
      const std::vector<int64_t>& slots = domain.slots[static_cast<size_t>(expert)];
      const auto fill = [&](int slot, int row) {
        const auto at = static_cast<size_t>(slots[static_cast<size_t>(slot)]);
        int32_t& token = *index_.index(tensors, index_rows[at]);
        float& weight = *weight_.row(tensors, weight_rows[at]);
        if (row < 0) {
          token = kNone;
          weight = 0;
          return;
        }
        const GateRow own{probabilities + int64_t{row} * num_experts(),
                          num_experts(),
                          choices.data() + int64_t{row} * width,
                          width};
        token = static_cast<int32_t>(domain.first_row + row);
        weight = combine_weight(weighting_of(kind_), own, expert);
      };
      const auto capacity = static_cast<int>(slots.size());
      if (domains_.experts_choose()) {
        fill_chosen_slots<kBlockThreads>(
            {probabilities, domain.rows, num_experts()}, {0, domain.rows}, expert, capacity, fill);
      } else {
        fill_expert_slots(scratch, {choices.data(), domain.rows, width}, expert, capacity, fill);
      }
    }
  }

  Operand probs_;
  Operand index_;
  Operand weight_;
  GateDomains domains_;
};

class GateBackward : public GateBase {
 public:
  explicit GateBackward(const TaskSite& site)
      : GateBase(site, 3),
        experts_(std::get<Gate>(site.task->descriptor).experts),
        d_weight_(read_operand(site, 0, "d_weight")),
        probs_(read_operand(site, 1, "probs")),
        index_(read_operand(site, 2, "index")),
        dx_(sum_operand(site, 0, "dx", kBackwardReads)),
        dw_gate_(sum_operand(site, 1, "dw_gate", kBackwardReads)),
        domains_(site, x_.num_rows(), probs_.columns, index_) {
    require_probs(site, probs_);
    require(site, d_weight_.num_rows() == index_.num_rows(), "index and d_weight differ in slots");
    require(site,
            dx_.columns == x_.columns && dx_.num_rows() == x_.num_rows(),
            "x and dx differ in shape");
    require(site,
            dw_gate_.runs().size() == 1 && dw_gate_.num_rows() == w_gate_.num_rows() &&
                dw_gate_.columns == w_gate_.columns,
            "w_gate and dw_gate differ in shape");
  }

  void run(TensorStore& tensors) const override {
    begin_sum(dx_, tensors);
    begin_sum(dw_gate_, tensors);
    const std::vector<float> x = packed_rows(x_, rounding_, tensors);
    const std::vector<float> d_logits = logits_gradient(tensors);
    float* dw = dw_gate_.row(tensors, dw_gate_.spans.front().first);
    if (is_cosine()) {
      backward_cosine(x, d_logits, dw, tensors);
      return;
    }
    const MatrixView d{d_logits.data(), x_.num_rows(), num_experts()};
    multiply(
        MatrixView{x.data(), x_.num_rows(), x_.columns}.transposed(), d, {dw, num_experts(), true});
    int64_t row = 0;
    for (const RowRun& run : dx_.runs()) {
      multiply({d_logits.data() + row * num_experts(), run.count, num_experts()},
               w_gate_view(tensors).transposed(),
               {dx_.row(tensors, run.first), dx_.columns, true});
      row += run.count;
    }
  }

 private:
  // Rounded: rows x E.
  std::vector<float> logits_gradient(TensorStore& tensors) const {
    const std::vector<float> probabilities = packed_rows(probs_, Rounding::kOff, tensors);
    const std::vector<int64_t> weights = d_weight_.rows();
    const SlotMap map(index_, experts_, x_.num_rows(), tensors);
    std::vector<float> d_logits(probabilities.size());
    std::vector<float> d_weights(static_cast<size_t>(num_experts()));
    BlockScratch<kBlockThreads> scratch;
    for (const GateDomain& domain : domains_.domains()) {
      const float* scores = probabilities.data() + domain.first_row * num_experts();
      const std::vector<int> choices = domains_.choices(domain, scores);
      const int width = domains_.width(domain);
      for (int64_t row = 0; row < domain.rows; ++row) {
        for (int expert = 0; expert < num_experts(); ++expert) {
          const int64_t slot = expert < map.num_experts() ? map.slot(domain.first_row + row, expert)
                                                          : int64_t{kNone};
          d_weights[static_cast<size_t>(expert)] =
              slot == kNone ? 0.0F : *d_weight_.row(tensors, weights[static_cast<size_t>(slot)]);
        }
        const GateRow own{
            scores + row * num_experts(), num_experts(), choices.data() + row * width, width};
        gate_logits_gradient_row(scratch,
                                 weighting_of(kind_),
                                 own,
                                 d_weights.data(),
                                 d_logits.data() + (domain.first_row + row) * num_experts());
      }
    }
    round_values(
        d_logits.data(), static_cast<int64_t>(d_logits.size()), rounding_, d_logits.data());
    return d_logits;
  }

  void backward_cosine(const std::vector<float>& x,
                       const std::vector<float>& d_logits,
                       float* dw,
                       TensorStore& tensors) const {
    const std::vector<float> squares = this->squares(tensors);
    const std::vector<int64_t> rows = dx_.rows();
    std::vector<float> cosines(static_cast<size_t>(num_experts()));
    BlockScratch<kWideBlockThreads> scratch;
    for (size_t row = 0; row < rows.size(); ++row) {
      const auto at = static_cast<int64_t>(row);
      const CosineRow own = cosine_row_of(x, at, squares, tensors);
      const float inverse_x = cosine_row(scratch, own, cosines.data());
      cosine_backward_row<kWideBlockThreads>(
          own,
          {cosines.data(), d_logits.data() + at * num_experts(), inverse_x},
          rounding_,
          dx_.row(tensors, rows[row]),
          dw);
    }
  }

  std::vector<int> experts_;
  Operand d_weight_;
  Operand probs_;
  Operand index_;
  Operand dx_;
  Operand dw_gate_;
  GateDomains domains_;
};

}  // namespace

std::unique_ptr<Operation> make_gate_forward(const TaskSite& site) {
  return std::make_unique<GateForward>(site);
}

std::unique_ptr<Operation> make_gate_backward(const TaskSite& site) {
  return std::make_unique<GateBackward>(site);
}

}  // namespace moesim
