#pragma once

#include <string>
#include <vector>

#include "kernels/core/rounding.h"
#include "kernels/row_spans.h"
#include "kernels/tensor_store.h"
#include "sim/io/program.h"

namespace moesim {

// A task on one rank, to be resolved.
struct TaskSite {
  const RowMap* map = nullptr;
  const Task* task = nullptr;
  int rank = 0;
  Rounding rounding = Rounding::kOff;

  const Program& program() const { return map->program(); }
};

// Rows that stand one behind the other in a buffer.
struct RowRun {
  int64_t first = 0;
  int64_t count = 0;
};

// A region of a task on its rank: the list of rows that hold tokens.
struct Operand {
  int rank = 0;
  int tensor = kNone;
  int columns = 0;
  std::vector<RowSpan> spans;  // one for each block
  bool is_continued = false;   // of a sum: the task adds to what stands there

  int64_t num_rows() const;
  // The rows of the i-th block.
  RowRun block(size_t i) const { return {spans[i].first, spans[i].valid}; }
  // The same rows in as few pieces as there are.
  std::vector<RowRun> runs() const;
  // The place of each row in the buffer.
  std::vector<int64_t> rows() const;

  float* row(TensorStore& tensors, int64_t at) const { return tensors.values(rank, tensor, at); }
  int32_t* index(TensorStore& tensors, int64_t at) const {
    return tensors.indices(rank, tensor, at);
  }
};

// The i-th region that the task reads or writes. Throws Error where there is none.
Operand read_operand(const TaskSite& site, size_t i, const char* name);
Operand write_operand(const TaskSite& site, size_t i, const char* name);

// The i-th region written, which the task adds up in: to what stands there where the region is
// also among the reads behind the kind's own, else to zeros.
Operand sum_operand(const TaskSite& site, size_t i, const char* name, size_t num_own_reads);

// Throws Error "task '...': what" unless the condition holds.
void require(const TaskSite& site, bool condition, const char* what);

// Puts zeros where the sum begins.
void begin_sum(const Operand& sum, TensorStore& tensors);

// The values of a run of rows, rounded into `buffer` where the task rounds.
const float* rounded_rows(const Operand& operand,
                          const RowRun& run,
                          Rounding rounding,
                          TensorStore& tensors,
                          std::vector<float>& buffer);

// All rows of the operand, one behind the other, rounded.
std::vector<float> packed_rows(const Operand& operand, Rounding rounding, TensorStore& tensors);

}  // namespace moesim
