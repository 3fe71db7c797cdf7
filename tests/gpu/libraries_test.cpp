// CUDA's own libraries as they are installed, opened by their first call. They need no GPU for it.
#include <cublasLt.h>
#include <gtest/gtest.h>
#ifdef MOESIM_HAS_NCCL
#include <nccl.h>
#endif

#include "tests/support/fake_cuda/cublaslt_contract.h"

namespace {

TEST(LibrariesTest, CublasLtIsOfTheVersionThatWasBuiltWith) {
  EXPECT_EQ(cublasLtGetVersion() / 10'000, CUBLAS_VER_MAJOR);
  EXPECT_STREQ(cublasLtGetStatusName(CUBLAS_STATUS_NOT_SUPPORTED), "CUBLAS_STATUS_NOT_SUPPORTED");
}

TEST(LibrariesTest, CublasLtKeepsTheContractOfItsFake) {
  moesim::testing::expect_contract_of_cublaslt();
}

#ifdef MOESIM_HAS_NCCL
TEST(LibrariesTest, NcclIsOfTheVersionThatWasBuiltWith) {
  int version = 0;
  ASSERT_EQ(ncclGetVersion(&version), ncclSuccess);
  EXPECT_EQ(version / 10'000, NCCL_MAJOR);
  EXPECT_STREQ(ncclGetErrorString(ncclSuccess), "no error");
}
#endif

}  // namespace
