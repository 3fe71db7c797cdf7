// Attention: products and a softmax over rows of scores, sample by sample. Heads of a sample are
// batches of products: those that share keys and values follow each other, in their order.
#include "kernels/device/lower_kinds.h"
#include "kernels/operations/attention_base.h"

namespace moesim {
namespace {

constexpr size_t kBackwardReads = 5;

// Heads first, first + step, …, `count` of them, the k-th of which has keys and values of its own.
struct HeadBatch {
  int first = 0;
  int step = 1;
  int count = 1;
};

std::vector<HeadBatch> head_batches(const Attention& shape) {
  std::vector<HeadBatch> batches;
  if (shape.heads % shape.kv_heads != 0) {
    for (int head = 0; head < shape.heads; ++head) {
      batches.push_back({head, 1, 1});
    }
    return batches;
  }
  const int sharing = shape.heads / shape.kv_heads;
  for (int head = 0; head < sharing; ++head) {
    batches.push_back({head, sharing, shape.kv_heads});
  }
  return batches;
}

// One sample: its rows of qkv as factors, of which the last `queries` are the chunk's own.
struct Sample {
  Elements qkv;
  int64_t queries = 0;
  int64_t keys = 0;
};

class AttentionLowering {
 public:
  AttentionLowering(TaskLowering& lowering, const Operand& x, const Operand& weight)
      : task(lowering),
        shape(std::get<Attention>(task.site().task->descriptor)),
        columns{shape},
        weight_(task.factor(weight, Rounding::kOff)),
        model_columns_(x.columns) {}

  DeviceMatrix qkv_weight() const { return matrix(weight_.row(0), columns.qkv(), model_columns_); }
  DeviceMatrix projection() const {
    return matrix(weight_.row(columns.qkv()), columns.context(), model_columns_);
  }

  // The columns of a head in rows of `stride` columns.
  DeviceMatrix head_columns(const Elements& rows, int64_t count, int first, int stride) const {
    return {rows.from(first), count, shape.head_size, stride, false};
  }
  DeviceMatrix queries(const Sample& at, int head) const {
    const Elements own = at.qkv.from((at.keys - at.queries) * columns.qkv());
    return head_columns(own, at.queries, columns.query(head), columns.qkv());
  }
  DeviceMatrix keys(const Sample& at, int head) const {
    return head_columns(at.qkv, at.keys, columns.key(head), columns.qkv());
  }
  DeviceMatrix values(const Sample& at, int head) const {
    return head_columns(at.qkv, at.keys, columns.value(head), columns.qkv());
  }
  // A head's rows of scores.
  DeviceMatrix scores_of(const Sample& at, const Elements& scores, int head) const {
    return matrix(scores.from(head * at.queries * at.keys), at.queries, at.keys);
  }
  // From a batch's head to its next one.
  int64_t query_step(const HeadBatch& batch) const { return int64_t{batch.step} * shape.head_size; }
  int64_t key_step() const { return shape.head_size; }
  int64_t score_step(const Sample& at, const HeadBatch& batch) const {
    return batch.step * at.queries * at.keys;
  }

  int64_t num_scores(const Sample& at) const { return shape.heads * at.queries * at.keys; }
  int64_t score_rows(const Sample& at) const { return shape.heads * at.queries; }
  ScoreRows rows_of_scores(const Sample& at) const {
    return {static_cast<int>(at.queries),
            static_cast<int>(at.keys),
            static_cast<int>(at.keys - at.queries) + 1,
            shape.causal,
            score_scale(shape)};
  }

  // left * right for a batch of heads; `steps` of left, right and target.
  struct Steps {
    int64_t left = 0;
    int64_t right = 0;
    int64_t target = 0;
  };
  static Product batched(Product product, const HeadBatch& batch, const Steps& steps) {
    product.batch = batch.count;
    product.left_step = steps.left;
    product.right_step = steps.right;
    product.target_step = steps.target;
    return product;
  }

  // Scores of all heads become probabilities, not rounded; rounded in `factors`, which may be none.
  float* probabilities(const Sample& at, const Elements& factors, float* scores) const {
    std::vector<Product> products;
    for (const HeadBatch& batch : head_batches(shape)) {
      const DeviceMatrix to = scores_of(at, floats(scores), batch.first);
      products.push_back(batched({.left = queries(at, batch.first),
                                  .right = keys(at, batch.first).transposed(),
                                  .target = to.at,
                                  .target_stride = at.keys},
                                 batch,
                                 {query_step(batch), key_step(), score_step(at, batch)}));
    }
    task.multiply(products);
    const bool are_factors =
        factors.address == floats(scores).address && task.rounding() == Rounding::kOff;
    const SoftmaxRows softmax{
        rows_of_scores(at), task.rounding(), scores, are_factors ? Elements{} : factors};
    task.kernel(softmax, score_rows(at));
    return scores;
  }

  // Memory for the factors that values of scratch memory become: theirs where the type allows.
  Elements factors_for(const float* values, int64_t count) const {
    return task.factor_type() == ElementType::kFloat32
               ? floats(values)
               : task.space().scratch(task.factor_type(), count);
  }

  TaskLowering& task;
  const Attention& shape;
  AttentionColumns columns;

 private:
  FactorRows weight_;
  int64_t model_columns_;
};

// Factor rows of one block of an operand; rounded.
Elements block_factor(TaskLowering& task, const Operand& operand, size_t i) {
  const RowRun rows = operand.block(i);
  return task.packed({{task.at(operand, rows.first), rows.count * operand.columns}},
                     task.rounding(),
                     task.factor_type());
}

class ForwardLowering {
 public:
  explicit ForwardLowering(TaskLowering& task)
      : task_(task),
        continues_(task.site().task->reads.size() > 2),
        x_(read_operand(task.site(), 0, "x")),
        qkv_(write_operand(task.site(), 0, "qkv")),
        context_(write_operand(task.site(), 1, "context")),
        attention_(task, x_, read_operand(task.site(), continues_ ? 2 : 1, "w")) {
    before_.spans.resize(x_.spans.size());
    if (continues_) {
      before_ = read_operand(task.site(), 1, "qkv before the chunk");
    }
  }

  void lower() {
    const int64_t mark = task_.space().scratch_mark();
    for (size_t i = 0; i < x_.spans.size(); ++i) {
      task_.space().rewind_scratch(mark);
      const RowRun rows = x_.block(i);
      task_.multiply({{.left = matrix(block_factor(task_, x_, i), rows.count, x_.columns),
                       .right = attention_.qkv_weight().transposed(),
                       .target = task_.at(qkv_, qkv_.block(i).first),
                       .target_stride = qkv_.columns}});
      attend(i);
      project(i);
    }
  }

 private:
  ElementRun block_run(const Operand& operand, size_t i) const {
    if (operand.tensor == kNone) {
      return {};
    }
    const RowRun rows = operand.block(i);
    return {task_.at(operand, rows.first), rows.count * operand.columns};
  }

  void attend(size_t i) {
    const Sample at{
        task_.packed(
            {block_run(before_, i), block_run(qkv_, i)}, task_.rounding(), task_.factor_type()),
        qkv_.block(i).count,
        before_.block(i).count + qkv_.block(i).count};
    float* scores = task_.scratch<float>(attention_.num_scores(at));
    const Elements factors = attention_.factors_for(scores, attention_.num_scores(at));
    attention_.probabilities(at, factors, scores);
    const Elements context = task_.at(context_, context_.block(i).first);
    std::vector<Product> products;
    for (const HeadBatch& batch : head_batches(attention_.shape)) {
      products.push_back(AttentionLowering::batched(
          {.left = attention_.scores_of(at, factors, batch.first),
           .right = attention_.values(at, batch.first),
           .target = context.from(attention_.columns.query(batch.first)),
           .target_stride = context_.columns},
          batch,
          {attention_.score_step(at, batch), attention_.key_step(), attention_.query_step(batch)}));
    }
    task_.multiply(products);
  }

  void project(size_t i) {
    if (task_.site().task->writes.size() <= 2) {
      return;
    }
    const Operand y = write_operand(task_.site(), 2, "y");
    task_.multiply(
        {{.left =
              matrix(block_factor(task_, context_, i), context_.block(i).count, context_.columns),
          .right = attention_.projection(),
          .target = task_.at(y, y.block(i).first),
          .target_stride = y.columns}});
  }

  TaskLowering& task_;
  bool continues_;
  Operand x_;
  Operand before_;
  Operand qkv_;
  Operand context_;
  AttentionLowering attention_;
};

}  // namespace

void lower_attention_forward(TaskLowering& task) {
  ForwardLowering(task).lower();
}

namespace {

// With S = Q K^T / sqrt(d), P = softmax(S), C = P V: dV = P^T dC, dP = dC V^T, dS from dP,
// dQ = dS K, dK = dS^T Q.
class BackwardLowering {
 public:
  explicit BackwardLowering(TaskLowering& task)
      : task_(task),
        dy_(read_operand(task.site(), 0, "dy")),
        x_(read_operand(task.site(), 1, "x")),
        qkv_(read_operand(task.site(), 2, "qkv")),
        context_(read_operand(task.site(), 3, "context")),
        d_qkv_(sum_operand(task.site(), 0, "d_qkv", kBackwardReads)),
        dx_(write_operand(task.site(), 1, "dx")),
        d_weight_(sum_operand(task.site(), 2, "dw", kBackwardReads)),
        attention_(task, x_, read_operand(task.site(), 4, "w")) {}

  void lower() {
    task_.begin_sum(d_qkv_);
    task_.begin_sum(d_weight_);
    const int64_t mark = task_.space().scratch_mark();
    for (size_t i = 0; i < x_.spans.size(); ++i) {
      task_.space().rewind_scratch(mark);
      const Sample at{block_factor(task_, qkv_, i), x_.block(i).count, qkv_.block(i).count};
      const Elements d_context = backward_projection(i, at);
      backward_heads(i, at, d_context);
      backward_input(i, at);
    }
  }

 private:
  int qkv_columns() const { return attention_.columns.qkv(); }
  int context_columns() const { return attention_.columns.context(); }
  Elements d_weight_rows(int64_t first) const {
    return task_.at(d_weight_, d_weight_.spans.front().first + first);
  }

  // Rounded: the gradient of the context.
  Elements backward_projection(size_t i, const Sample& at) {
    const DeviceMatrix dy = matrix(block_factor(task_, dy_, i), at.queries, dy_.columns);
    const DeviceMatrix context =
        matrix(block_factor(task_, context_, i), at.queries, context_columns());
    const int64_t count = at.queries * context_columns();
    const Elements d_context = task_.space().scratch(task_.factor_type(), count);
    task_.multiply({{.left = context.transposed(),
                     .right = dy,
                     .target = d_weight_rows(qkv_columns()),
                     .target_stride = d_weight_.columns,
                     .add = true},
                    {.left = dy,
                     .right = attention_.projection().transposed(),
                     .target = d_context,
                     .target_stride = context_columns()}});
    return task_.packed({{d_context, count}}, task_.rounding(), task_.factor_type());
  }

  void backward_heads(size_t i, const Sample& at, const Elements& d_context) {
    const int64_t count = attention_.num_scores(at);
    float* p = task_.scratch<float>(count);
    attention_.probabilities(at, {}, p);
    float* d_scores = task_.scratch<float>(count);
    std::vector<Product> products;
    for (const HeadBatch& batch : head_batches(attention_.shape)) {
      products.push_back(AttentionLowering::batched(
          {.left = d_context_of(at, d_context, batch.first),
           .right = attention_.values(at, batch.first).transposed(),
           .target = attention_.scores_of(at, floats(d_scores), batch.first).at,
           .target_stride = at.keys},
          batch,
          {attention_.query_step(batch), attention_.key_step(), attention_.score_step(at, batch)}));
    }
    task_.multiply(products);
    const Elements p_factors = attention_.factors_for(p, count);
    const Elements d_factors = attention_.factors_for(d_scores, count);
    task_.kernel(
        SoftmaxBackwardRows{
            attention_.rows_of_scores(at), task_.rounding(), p, d_scores, p_factors, d_factors},
        attention_.score_rows(at));
    add_head_gradients(i, at, d_context, p_factors, d_factors);
  }

  DeviceMatrix d_context_of(const Sample& at, const Elements& d_context, int head) const {
    return attention_.head_columns(
        d_context, at.queries, attention_.columns.query(head), context_columns());
  }

  void add_head_gradients(size_t i,
                          const Sample& at,
                          const Elements& d_context,
                          const Elements& p,
                          const Elements& ds) {
    const AttentionColumns& columns = attention_.columns;
    const Elements d_qkv = task_.at(d_qkv_, d_qkv_.block(i).first);
    const Elements d_own = d_qkv.from((at.keys - at.queries) * qkv_columns());
    const auto add = [&](const DeviceMatrix& left, const DeviceMatrix& right, const Elements& to) {
      return Product{left, right, to, qkv_columns(), true};
    };
    std::vector<Product> products;
    for (const HeadBatch& batch : head_batches(attention_.shape)) {
      const int head = batch.first;
      const int64_t query = attention_.query_step(batch);
      const int64_t key = attention_.key_step();
      const int64_t score = attention_.score_step(at, batch);
      const DeviceMatrix ds_of = attention_.scores_of(at, ds, head);
      products.push_back(AttentionLowering::batched(
          add(ds_of, attention_.keys(at, head), d_own.from(columns.query(head))),
          batch,
          {score, key, query}));
      products.push_back(AttentionLowering::batched(
          add(ds_of.transposed(), attention_.queries(at, head), d_qkv.from(columns.key(head))),
          batch,
          {score, query, key}));
      products.push_back(
          AttentionLowering::batched(add(attention_.scores_of(at, p, head).transposed(),
                                         d_context_of(at, d_context, head),
                                         d_qkv.from(columns.value(head))),
                                     batch,
                                     {score, query, key}));
    }
    task_.multiply(products);
  }

  void backward_input(size_t i, const Sample& at) {
    const Elements d_own =
        task_.at(d_qkv_, d_qkv_.block(i).first).from((at.keys - at.queries) * qkv_columns());
    const DeviceMatrix d = matrix(
        task_.packed({{d_own, at.queries * qkv_columns()}}, task_.rounding(), task_.factor_type()),
        at.queries,
        qkv_columns());
    task_.multiply({{.left = d,
                     .right = attention_.qkv_weight(),
                     .target = task_.at(dx_, dx_.block(i).first),
                     .target_stride = dx_.columns},
                    {.left = d.transposed(),
                     .right = matrix(block_factor(task_, x_, i), at.queries, x_.columns),
                     .target = d_weight_rows(0),
                     .target_stride = d_weight_.columns,
                     .add = true}});
  }

  TaskLowering& task_;
  Operand dy_;
  Operand x_;
  Operand qkv_;
  Operand context_;
  Operand d_qkv_;
  Operand dx_;
  Operand d_weight_;
  AttentionLowering attention_;
};

}  // namespace

void lower_attention_backward(TaskLowering& task) {
  BackwardLowering(task).lower();
}

}  // namespace moesim
