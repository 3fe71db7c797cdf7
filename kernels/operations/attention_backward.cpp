// Attention backward. The gradients of keys and values gather from all later queries: chunks run in
// reverse, and a chunk's own rows of d_qkv are complete when it has added its part.
#include "kernels/operations/attention_base.h"
#include "kernels/operations/make.h"

namespace moesim {
namespace {

constexpr size_t kNumReads = 5;

class AttentionBackward : public AttentionBase {
 public:
  explicit AttentionBackward(const TaskSite& site)
      : AttentionBase(site, 1, 4),
        dy_(read_operand(site, 0, "dy")),
        qkv_(read_operand(site, 2, "qkv")),
        context_(read_operand(site, 3, "context")),
        d_qkv_(sum_operand(site, 0, "d_qkv", kNumReads)),
        dx_(write_operand(site, 1, "dx")),
        d_weight_(sum_operand(site, 2, "dw", kNumReads)) {
    require(site,
            qkv_.columns == qkv_columns() && d_qkv_.columns == qkv_columns() &&
                context_.columns == context_columns() && dx_.columns == x_.columns &&
                dy_.columns == x_.columns && d_weight_.columns == x_.columns,
            "an operand has the wrong columns");
    for (const Operand* operand : {&dy_, &qkv_, &context_, &d_qkv_, &dx_}) {
      require(site, operand->spans.size() == num_samples(), "its operands differ in samples");
    }
    require(site,
            d_weight_.runs().size() == 1 && d_weight_.num_rows() == weight_.num_rows(),
            "dw has other rows than w");
    for (size_t i = 0; i < num_samples(); ++i) {
      require(site, qkv_.block(i).count >= x_.block(i).count, "qkv lacks rows of the chunk");
      require(site, qkv_.block(i).count == d_qkv_.block(i).count, "qkv and d_qkv differ");
    }
  }

  void run(TensorStore& tensors) const override {
    begin_sum(d_qkv_, tensors);
    begin_sum(d_weight_, tensors);
    for (size_t i = 0; i < num_samples(); ++i) {
      run_sample(i, tensors);
    }
  }

 private:
  // What the heads of one sample work on.
  struct Sample {
    int64_t queries = 0;
    int64_t keys = 0;
    std::vector<float> qkv;        // rounded
    std::vector<float> d_context;  // rounded
    float* d_qkv = nullptr;        // the first key's row
  };

  float* d_weight_rows(TensorStore& tensors, int64_t first) const {
    return d_weight_.row(tensors, d_weight_.spans.front().first + first);
  }

  void run_sample(size_t i, TensorStore& tensors) const {
    std::vector<float> buffer;
    Sample at{x_.block(i).count, qkv_.block(i).count, {}, {}, nullptr};
    at.d_qkv = d_qkv_.row(tensors, d_qkv_.block(i).first);
    at.qkv.resize(static_cast<size_t>(at.keys * qkv_columns()));
    round_values(
        qkv_.row(tensors, qkv_.block(i).first), at.keys * qkv_columns(), rounding_, at.qkv.data());
    backward_projection(i, tensors, at);
    for (int head = 0; head < shape_.heads; ++head) {
      backward_head(head, at);
    }
    backward_input(i, tensors, at);
  }

  void backward_projection(size_t i, TensorStore& tensors, Sample& at) const {
    std::vector<float> dy_buffer;
    std::vector<float> context_buffer;
    const MatrixView dy{
        rounded_rows(dy_, dy_.block(i), rounding_, tensors, dy_buffer), at.queries, dy_.columns};
    const MatrixView context{
        rounded_rows(context_, context_.block(i), rounding_, tensors, context_buffer),
        at.queries,
        context_columns()};
    multiply(
        context.transposed(), dy, {d_weight_rows(tensors, qkv_columns()), d_weight_.columns, true});
    at.d_context.resize(static_cast<size_t>(at.queries * context_columns()));
    multiply(dy, projection(tensors).transposed(), {at.d_context.data(), context_columns()});
    round_values(
        at.d_context.data(), at.queries * context_columns(), rounding_, at.d_context.data());
  }

  // With S = Q K^T / sqrt(d), P = softmax(S), C = P V: dV = P^T dC, dP = dC V^T, dS from dP,
  // dQ = dS K, dK = dS^T Q.
  void backward_head(int head, const Sample& at) const {
    std::vector<float> p;
    probabilities(at.qkv.data(), at.queries, at.keys, head, p);
    const int64_t scores = at.queries * at.keys;
    const MatrixView d_context{
        at.d_context.data() + query(head), at.queries, shape_.head_size, context_columns()};
    std::vector<float> d_scores(static_cast<size_t>(scores));
    multiply(d_context,
             head_columns(at.qkv.data(), at.keys, value(head)).transposed(),
             {d_scores.data(), at.keys});
    round_values(d_scores.data(), scores, rounding_, d_scores.data());
    BlockScratch<kWideBlockThreads> scratch;
    for (int64_t row = 0; row < at.queries; ++row) {
      float* d = d_scores.data() + row * at.keys;
      softmax_backward_row(
          scratch, softmax_shape(row, at.queries, at.keys), p.data() + row * at.keys, d, d);
    }
    round_values(d_scores.data(), scores, rounding_, d_scores.data());
    round_values(p.data(), scores, rounding_, p.data());

    const int64_t before = (at.keys - at.queries) * qkv_columns();
    const MatrixView ds{d_scores.data(), at.queries, at.keys};
    multiply(ds,
             head_columns(at.qkv.data(), at.keys, key(head)),
             {at.d_qkv + before + query(head), qkv_columns(), true});
    multiply(ds.transposed(),
             head_columns(at.qkv.data() + before, at.queries, query(head)),
             {at.d_qkv + key(head), qkv_columns(), true});
    multiply(MatrixView{p.data(), at.queries, at.keys}.transposed(),
             d_context,
             {at.d_qkv + value(head), qkv_columns(), true});
  }

  void backward_input(size_t i, TensorStore& tensors, const Sample& at) const {
    std::vector<float> x_buffer;
    std::vector<float> d_own(static_cast<size_t>(at.queries * qkv_columns()));
    round_values(at.d_qkv + (at.keys - at.queries) * qkv_columns(),
                 at.queries * qkv_columns(),
                 rounding_,
                 d_own.data());
    const MatrixView d{d_own.data(), at.queries, qkv_columns()};
    multiply(d, qkv_weight(tensors), {dx_.row(tensors, dx_.block(i).first), dx_.columns});
    multiply(d.transposed(),
             {rounded_rows(x_, x_.block(i), rounding_, tensors, x_buffer), at.queries, x_.columns},
             {d_weight_rows(tensors, 0), d_weight_.columns, true});
  }

  Operand dy_;
  Operand qkv_;
  Operand context_;
  Operand d_qkv_;
  Operand dx_;
  Operand d_weight_;
};

}  // namespace

std::unique_ptr<Operation> make_attention_backward(const TaskSite& site) {
  return std::make_unique<AttentionBackward>(site);
}

}  // namespace moesim
