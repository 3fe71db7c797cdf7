#pragma once

#include <cstdint>
#include <vector>

#include "kernels/tensor_store.h"
#include "sim/program/group_table.h"

namespace moesim {

// Blocks x rows x columns of the tensor that the ranks' buffers make up together.
struct GlobalShape {
  int64_t blocks = 0;
  int64_t rows = 0;
  int columns = 0;
};

// Where a rank's buffer begins in it. Of the ranks that hold the same part as sums, `first_partial`
// marks the one whose index is 0 in every group that the tensor is partial over.
struct BufferPlace {
  int64_t first_block = 0;
  int64_t first_row = 0;
  bool first_partial = true;
};

// The global row, counted block after block, of a row of a rank's buffer of `local_rows` per block.
inline int64_t global_row(const GlobalShape& shape,
                          const BufferPlace& place,
                          int local_rows,
                          int64_t row) {
  return (place.first_block + row / local_rows) * shape.rows + place.first_row + row % local_rows;
}

GlobalShape global_shape(const Program& program, int tensor);
BufferPlace place_of(const Program& program, const GroupTable& groups, int tensor, int rank);

// A tensor of floating type put together from the buffers of the ranks whose tasks use it (all
// where none does: those of another stage never write it): partial ones added up in rank order,
// replicas compared. Throws Error when two replicas differ in a bit: a reduction is missing, or the
// ranks' results are not those of one Program.
std::vector<float> gather_tensor(const TensorStore& store, int tensor);

}  // namespace moesim
