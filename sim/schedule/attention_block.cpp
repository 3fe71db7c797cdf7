#include "sim/schedule/attention_block.h"

#include <utility>

#include "sim/schedule/task_kinds.h"

namespace moesim {

AttentionBlock::AttentionBlock(ModelProgram& program, int stream, const Place& place, int input)
    : program_(&program),
      stream_(stream),
      place_(place),
      input_(input),
      qkv_(add_sequence_tensor("qkv", place.pass, program.sizes().qkv_columns())),
      context_(add_sequence_tensor("context", place.pass, program.sizes().query_columns)),
      part_(program.add_partial_tokens(tensor_name("attention", place.pass))) {}

std::string AttentionBlock::tensor_name(const char* name, Pass pass) const {
  const char* recompute = pass == Pass::kRecompute ? "recompute." : "";
  return program_->layer_prefix(place_.layer) + recompute + name;
}

int AttentionBlock::add_sequence_tensor(const char* name, Pass pass, int columns) {
  const ModelConfig& model = program_->model();
  return program_->add_tensor(tensor_name(name, pass), model.batch, model.sequence, columns);
}

Task AttentionBlock::forward_task(const SequenceRange& range) const {
  const ModelConfig& model = program_->model();
  const ParallelConfig& parallel = program_->scenario().parallel;
  Task task;
  task.descriptor = Attention{model.heads / parallel.mp,
                              model.kv_heads / parallel.mp,
                              model.head_size(),
                              model.attention == AttentionMask::kCausal};
  task.reads.push_back(program_->rows(input_, range.first, range.count));
  if (range.first > 0) {
    task.reads.push_back(program_->rows(qkv_, 0, range.first));
  }
  task.reads.push_back(program_->dense_rows(program_->dense().weight, place_.layer));
  task.writes.push_back(program_->rows(qkv_, range.first, range.count));
  task.writes.push_back(program_->rows(context_, range.first, range.count));
  return task;
}

void AttentionBlock::forward(const SequenceRange& range, int chunk) {
  Task task = forward_task(range);
  task.writes.push_back(program_->rows(part_, range.first, range.count));
  program_->add_task(
      task_kind::kAttention, stream_, {place_.pass, place_.layer, chunk}, std::move(task));
}

void AttentionBlock::recompute(const SequenceRange& range, int chunk) {
  if (range.first == 0) {
    qkv_ = add_sequence_tensor("qkv", Pass::kRecompute, program_->sizes().qkv_columns());
    context_ = add_sequence_tensor("context", Pass::kRecompute, program_->sizes().query_columns);
  }
  program_->add_task(
      task_kind::kAttention, stream_, {Pass::kRecompute, place_.layer, chunk}, forward_task(range));
}

void AttentionBlock::backward(int d_part, const SequenceRange& range, int chunk) {
  const ModelConfig& model = program_->model();
  const bool first_chunk = d_input_ == kNone;
  if (first_chunk) {
    d_input_ = program_->add_partial_tokens(tensor_name("d_input", Pass::kBackward));
    d_qkv_ = add_sequence_tensor("d_qkv", Pass::kBackward, program_->sizes().qkv_columns());
  }
  const int keys = model.attention == AttentionMask::kCausal ? range.end() : model.sequence;
  const Region d_keys = program_->rows(d_qkv_, 0, keys);
  const Region d_weight = program_->dense_rows(program_->dense().gradient, place_.layer);
  Task task;
  task.descriptor = forward_task(range).descriptor;
  task.reads = {program_->rows(d_part, range.first, range.count),
                program_->rows(input_, range.first, range.count),
                program_->rows(qkv_, 0, keys),
                program_->rows(context_, range.first, range.count),
                program_->dense_rows(program_->dense().weight, place_.layer)};
  if (!first_chunk) {
    task.reads.push_back(d_keys);
  }
  task.writes = {d_keys, program_->rows(d_input_, range.first, range.count)};
  program_->accumulate(task, d_weight);
  program_->add_task(
      task_kind::kAttention, stream_, {Pass::kBackward, place_.layer, chunk}, std::move(task));
}

}  // namespace moesim
