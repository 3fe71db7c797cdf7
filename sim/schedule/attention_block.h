#pragma once

#include <string>

#include "sim/schedule/model_program.h"

namespace moesim {

// Positions [first, first + count) of every sample.
struct SequenceRange {
  int first = 0;
  int count = 0;

  int end() const { return first + count; }
};

// Attention of one layer, tensor-parallel over mp: from the replicated input x (B, L, M) to `part`
// (B, L, M), which is partial over mp. Works on the whole sequence or, when causal, by chunks:
// chunk i reads the keys and values of chunks up to i; backward runs the chunks in reverse.
class AttentionBlock {
 public:
  // `input` holds x; `pass` is forward, or recompute for a layer that kept only its input.
  AttentionBlock(ModelProgram& program, int stream, const Place& place, int input);

  int output() const { return part_; }
  int input_gradient() const { return d_input_; }

  void forward(const SequenceRange& range, int chunk);
  // Computes qkv and context anew, for a layer that does not keep them.
  void recompute(const SequenceRange& range, int chunk);
  // `d_part` (B, L, M), replicated over mp, holds the gradient of `output()`; the gradient of x
  // that this makes is partial over mp.
  void backward(int d_part, const SequenceRange& range, int chunk);

 private:
  Task forward_task(const SequenceRange& range) const;
  std::string tensor_name(const char* name, Pass pass) const;
  int add_sequence_tensor(const char* name, Pass pass, int columns);

  ModelProgram* program_;
  int stream_;
  Place place_;
  int input_;
  int qkv_;
  int context_;
  int part_;
  int d_input_ = kNone;
  int d_qkv_ = kNone;
};

}  // namespace moesim
