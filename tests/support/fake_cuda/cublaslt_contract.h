#pragma once

namespace moesim::testing {

// What cuBLASLt says without a GPU: which descriptors and attributes it takes and how it refuses
// others, the names of its errors, and what it says of null handles. Expected by GoogleTest of
// whatever is linked, the library itself (tests/gpu) or the fake (tests/unit/kernels/cuda), so that
// the fake refuses what the library refuses and nothing else.
void expect_contract_of_cublaslt();

}  // namespace moesim::testing
