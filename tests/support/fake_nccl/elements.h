#pragma once

#include <cstddef>

#include "tests/support/fake_nccl/clique.h"

namespace moesim::fake_nccl {

// In bytes. Throws std::logic_error for types that the fake does not have.
size_t size_of(ncclDataType_t type);

// sums += terms[first...]
void add(ncclDataType_t type, const Bytes& terms, size_t first, Bytes& sums);

}  // namespace moesim::fake_nccl
