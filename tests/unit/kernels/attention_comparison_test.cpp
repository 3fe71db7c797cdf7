#include "kernels/attention_comparison.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace moesim {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// A rank with two rows of two elements, and indices that nobody compares.
Program one_tensor() {
  Program program;
  program.name = "p";
  program.num_ranks = 1;
  program.tensors = {{"t", 1, 2, 2, DataType::kBf16, false, 0, {}},
                     {"slots", 1, 1, 1, DataType::kInt32, false, 0, {}}};
  return program;
}

class AttentionComparisonTest : public testing::Test {
 protected:
  void fill(TensorStore& tensors, std::initializer_list<float> values) {
    std::copy(values.begin(), values.end(), tensors.values(0, 0));
  }

  AttentionCase compare() { return compare_attention(fused_, products_, 1); }

  Program program_ = one_tensor();
  TensorStore fused_{program_};
  TensorStore products_{program_};
};

// The difference (0, 0, 3, 4) has norm 5, what is expected (0, 6, 0, 8) has norm 10.
TEST_F(AttentionComparisonTest, DifferencesAreRelativeToTheNorm) {
  fill(fused_, {0, 6, 3, 12});
  fill(products_, {0, 6, 0, 8});
  const AttentionCase result = compare();
  EXPECT_EQ(result.program, "p");
  EXPECT_EQ(result.num_fused, 1);
  EXPECT_EQ(result.num_buffers, 1);
  EXPECT_DOUBLE_EQ(result.largest_error, 0.5);
  EXPECT_EQ(result.failure, "");
}

TEST_F(AttentionComparisonTest, WhatNeitherWroteIsEqual) {
  EXPECT_EQ(compare().largest_error, 0);  // a store begins as NaN
  fill(fused_, {kNan, 1, 1, 1});
  fill(products_, {kNan, 1, 1, 1});
  EXPECT_EQ(compare().largest_error, 0);
  EXPECT_EQ(compare().failure, "");
}

TEST_F(AttentionComparisonTest, WhatOnlyOneWroteHasNoNumber) {
  fill(products_, {1, 1, 1, 1});
  EXPECT_THAT(compare().failure, testing::HasSubstr("t of rank 0 is no number in one"));
  fill(fused_, {1, 1, 1, 1});
  fill(products_, {0, 0, 0, 0});
  EXPECT_THAT(compare().failure, testing::HasSubstr("or zero in one"));
}

}  // namespace
}  // namespace moesim
