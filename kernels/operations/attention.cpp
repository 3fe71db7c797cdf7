// Attention forward: the whole sequence, or a causal chunk of it behind the rows of qkv that
// earlier chunks made.
#include "kernels/operations/attention_base.h"
#include "kernels/operations/make.h"

namespace moesim {
namespace {

class AttentionForward : public AttentionBase {
 public:
  explicit AttentionForward(const TaskSite& site)
      : AttentionBase(site, 0, continues(site) ? 2 : 1),
        qkv_(write_operand(site, 0, "qkv")),
        context_(write_operand(site, 1, "context")) {
    before_.spans.resize(num_samples());
    if (continues(site)) {
      before_ = read_operand(site, 1, "qkv before the chunk");
    }
    if (site.task->writes.size() > 2) {
      y_ = write_operand(site, 2, "y");
      require(site, y_.columns == x_.columns, "its output has other columns than x");
    }
    require(site,
            qkv_.columns == qkv_columns() && context_.columns == context_columns(),
            "qkv and context do not have the columns of its heads");
    require(site,
            qkv_.spans.size() == num_samples() && context_.spans.size() == num_samples() &&
                before_.spans.size() == num_samples(),
            "its operands differ in samples");
  }

  void run(TensorStore& tensors) const override {
    std::vector<float> buffer;
    for (size_t i = 0; i < num_samples(); ++i) {
      const RowRun x = x_.block(i);
      multiply({rounded_rows(x_, x, rounding_, tensors, buffer), x.count, x_.columns},
               qkv_weight(tensors).transposed(),
               {qkv_.row(tensors, qkv_.block(i).first), qkv_columns()});
      attend(i, tensors);
      if (y_.tensor != kNone) {
        const RowRun context = context_.block(i);
        multiply({rounded_rows(context_, context, rounding_, tensors, buffer),
                  context.count,
                  context_columns()},
                 projection(tensors),
                 {y_.row(tensors, y_.block(i).first), y_.columns});
      }
    }
  }

 private:
  // In this order the operands follow each other: x, [qkv before the chunk], w.
  static bool continues(const TaskSite& site) { return site.task->reads.size() > 2; }

  void attend(size_t i, TensorStore& tensors) const {
    const int64_t queries = qkv_.block(i).count;
    const int64_t keys = before_.block(i).count + queries;
    const std::vector<float> qkv = rounded_qkv(i, tensors);
    float* context = context_.row(tensors, context_.block(i).first);
    std::vector<float> p;
    for (int head = 0; head < shape_.heads; ++head) {
      probabilities(qkv.data(), queries, keys, head, p);
      round_values(p.data(), queries * keys, rounding_, p.data());
      multiply({p.data(), queries, keys},
               head_columns(qkv.data(), keys, value(head)),
               {context + query(head), context_columns()});
    }
  }

  // The rows before the chunk and its own.
  std::vector<float> rounded_qkv(size_t i, TensorStore& tensors) const {
    std::vector<float> qkv;
    for (const Operand* part : {&before_, &qkv_}) {
      const RowRun rows = part->block(i);
      if (rows.count > 0) {
        const float* values = part->row(tensors, rows.first);
        qkv.insert(qkv.end(), values, values + rows.count * qkv_columns());
      }
    }
    round_values(qkv.data(), static_cast<int64_t>(qkv.size()), rounding_, qkv.data());
    return qkv;
  }

  Operand before_;
  Operand qkv_;
  Operand context_;
  Operand y_;
};

}  // namespace

std::unique_ptr<Operation> make_attention_forward(const TaskSite& site) {
  return std::make_unique<AttentionForward>(site);
}

}  // namespace moesim
