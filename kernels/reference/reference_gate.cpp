#include "kernels/reference/reference_gate.h"

#include <algorithm>
#include <numeric>

#include "kernels/core/cosine_gate.h"
#include "kernels/operations/gate_domains.h"

namespace moesim {
namespace {

// The places of the values from the highest to the lowest, the lower of equals first.
std::vector<int> descending(const std::vector<float>& values) {
  std::vector<int> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int left, int right) {
    return values[static_cast<size_t>(left)] > values[static_cast<size_t>(right)];
  });
  return order;
}

std::vector<float> squares(const Matrix& w) {
  std::vector<float> squares;
  BlockScratch<kWideBlockThreads> scratch;
  for (int expert = 0; expert < static_cast<int>(w.columns); ++expert) {
    squares.push_back(column_sum_of_squares(
        scratch, w.row(0), static_cast<int>(w.rows), static_cast<int>(w.columns), expert));
  }
  return squares;
}

CosineRow cosine_row_of(const Matrix& x,
                        int64_t token,
                        const Matrix& w,
                        const std::vector<float>& squares) {
  return {x.row(token),
          static_cast<int>(x.columns),
          w.row(0),
          static_cast<int>(w.columns),
          squares.data()};
}

}  // namespace

GateRow ReferenceGate::row(int64_t token) const {
  const std::vector<int>& choices = choices_[static_cast<size_t>(token)];
  return {
      probabilities_.row(token), model_->experts, choices.data(), static_cast<int>(choices.size())};
}

Matrix ReferenceGate::scores() const {
  if (!is_cosine()) {
    return x_ * weights_->gate;
  }
  Matrix scores(x_.rows, model_->experts);
  const std::vector<float> column_squares = squares(weights_->gate);
  BlockScratch<kWideBlockThreads> scratch;
  for (int64_t token = 0; token < x_.rows; ++token) {
    cosine_row(
        scratch, cosine_row_of(x_, token, weights_->gate, column_squares), scores.row(token));
  }
  for (float& score : scores.values) {
    score /= kCosineTemperature;
  }
  return scores;
}

std::vector<std::vector<Slot>> ReferenceGate::forward(const Matrix& x,
                                                      const std::vector<CapacityDomain>& domains) {
  x_ = rounded(x, rounding_);
  probabilities_ = scores();
  BlockScratch<kBlockThreads> scratch;
  for (int64_t token = 0; token < x.rows; ++token) {
    float* p = probabilities_.row(token);
    gate_probabilities_row(scratch, weighting_of(model_->gate), p, model_->experts, p);
  }
  choices_.assign(static_cast<size_t>(x.rows), {});
  std::vector<std::vector<Slot>> slots(static_cast<size_t>(model_->experts));
  for (const CapacityDomain& domain : domains) {
    if (model_->gate == GateKind::kExpertChoice && domain.routed.empty()) {
      let_experts_choose(domain, slots);
    } else {
      choose(domain);
      fill(domain, slots);
    }
  }
  return slots;
}

float ReferenceGate::weight(int64_t token, int expert) const {
  return combine_weight(weighting_of(model_->gate), row(token), expert);
}

// Which experts the domain's tokens choose: the routing deals its list of experts out to the
// tokens, round and round; without routing and capacity all experts take turns.
void ReferenceGate::choose(const CapacityDomain& domain) {
  const size_t size = domain.tokens.size();
  const auto choices = [&](size_t i) -> std::vector<int>& {
    return choices_[static_cast<size_t>(domain.tokens[i])];
  };
  if (!domain.routed.empty()) {
    size_t entry = 0;
    for (size_t expert = 0; expert < domain.routed.size(); ++expert) {
      for (int n = 0; n < domain.routed[expert]; ++n) {
        choices(entry++ % size).push_back(static_cast<int>(expert));
      }
    }
    return;
  }
  for (size_t i = 0; i < size; ++i) {
    const float* p = probabilities_.row(domain.tokens[i]);
    const std::vector<int> best = descending({p, p + model_->experts});
    for (int j = 0; j < model_->top_k; ++j) {
      const int turn = (static_cast<int>(i) * model_->top_k + j) % model_->experts;
      choices(i).push_back(domain.round_robin ? turn : best[static_cast<size_t>(j)]);
    }
  }
}

// Tokens in order take slots as long as there are some.
void ReferenceGate::fill(const CapacityDomain& domain,
                         std::vector<std::vector<Slot>>& slots) const {
  std::vector<int64_t> used(slots.size(), 0);
  for (const int64_t token : domain.tokens) {
    for (const int expert : choices_[static_cast<size_t>(token)]) {
      const auto at = static_cast<size_t>(expert);
      if (used[at] < domain.capacity[at]) {
        ++used[at];
        slots[at].push_back({token, weight(token, expert)});
      }
    }
  }
}

void ReferenceGate::let_experts_choose(const CapacityDomain& domain,
                                       std::vector<std::vector<Slot>>& slots) const {
  for (int expert = 0; expert < model_->experts; ++expert) {
    std::vector<float> scores;
    for (const int64_t token : domain.tokens) {
      scores.push_back(probabilities_.row(token)[expert]);
    }
    std::vector<int> best = descending(scores);
    const auto at = static_cast<size_t>(expert);
    best.resize(std::min(best.size(), static_cast<size_t>(domain.capacity[at])));
    for (const int place : best) {
      const int64_t token = domain.tokens[static_cast<size_t>(place)];
      slots[at].push_back({token, weight(token, expert)});
    }
  }
}

void ReferenceGate::backward(const Matrix& d_weights, Matrix& dx, Matrix& gradient) const {
  Matrix d_logits(x_.rows, model_->experts);
  BlockScratch<kBlockThreads> scratch;
  for (int64_t token = 0; token < x_.rows; ++token) {
    gate_logits_gradient_row(
        scratch, weighting_of(model_->gate), row(token), d_weights.row(token), d_logits.row(token));
  }
  d_logits = rounded(std::move(d_logits), rounding_);
  if (!is_cosine()) {
    dx += d_logits * transposed(weights_->gate);
    gradient += transposed(x_) * d_logits;
    return;
  }
  const std::vector<float> column_squares = squares(weights_->gate);
  std::vector<float> cosines(static_cast<size_t>(model_->experts));
  BlockScratch<kWideBlockThreads> wide;
  for (int64_t token = 0; token < x_.rows; ++token) {
    const CosineRow own = cosine_row_of(x_, token, weights_->gate, column_squares);
    const float inverse_x = cosine_row(wide, own, cosines.data());
    cosine_backward_row<kWideBlockThreads>(own,
                                           {cosines.data(), d_logits.row(token), inverse_x},
                                           rounding_,
                                           dx.row(token),
                                           gradient.values.data());
  }
}

}  // namespace moesim
