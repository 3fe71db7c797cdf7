#pragma once

#include <cstdint>
#include <vector>

#include "kernels/core/bfloat16.h"
#include "sim/io/program.h"

namespace moesim {

// A collective of `count` elements of BF16 in its whole buffer (as `Collective` has bytes), over
// `group_size` ranks, of which it is a multiple. A SHIFT goes to the next rank, the last one's to
// the first; a BROADCAST comes from rank 0.
struct CollectivePattern {
  CollectiveOperation operation = CollectiveOperation::kAllToAll;
  int group_size = 1;  // at most 128
  int64_t count = 0;

  int64_t part() const { return count / group_size; }
  int64_t num_sent() const;
  int64_t num_received() const;
};

// What a rank sends so that it can be told from what others send and from the same elsewhere: small
// whole numbers, the sums of which BF16 holds exactly in any order.
std::vector<Bfloat16> sent_by(const CollectivePattern& pattern, int rank);

// What the rank must have received then.
std::vector<Bfloat16> received_by(const CollectivePattern& pattern, int rank);

}  // namespace moesim
