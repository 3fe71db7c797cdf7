#include "kernels/device/fused_attention.h"

namespace moesim {

// The last query sees all keys, each one before it one less.
int64_t AttentionExtent::num_seen() const {
  return is_causal ? queries * keys - queries * (queries - 1) / 2 : queries * keys;
}

}  // namespace moesim
