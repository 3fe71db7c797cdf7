#include "kernels/probe/collective_pattern.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace moesim {
namespace {

// More than a period of 65521 numbers, so that they come again.
constexpr int kRanks = 4;
constexpr int64_t kCount = kRanks * int64_t{40'000};

std::vector<float> floats(const std::vector<Bfloat16>& values) {
  std::vector<float> result;
  std::transform(values.begin(), values.end(), std::back_inserter(result), to_float);
  return result;
}

// All of a collective, worked out one element after the other from what the ranks send.
class CollectivePatternTest : public ::testing::TestWithParam<CollectiveOperation> {
 protected:
  CollectivePatternTest() {
    for (int rank = 0; rank < kRanks; ++rank) {
      sent_.push_back(floats(sent_by(pattern_, rank)));
    }
  }

  float sum_at(size_t index) const {
    float sum = 0;
    for (const std::vector<float>& sent : sent_) {
      sum += sent.at(index);
    }
    return sum;
  }

  float expected(int rank, size_t index) const {
    const auto part = static_cast<size_t>(pattern_.part());
    const size_t own = static_cast<size_t>(rank) * part;
    switch (GetParam()) {
      case CollectiveOperation::kAllReduce:
        return sum_at(index);
      case CollectiveOperation::kReduceScatter:
        return sum_at(own + index);
      case CollectiveOperation::kAllGather:
        return sent_[index / part].at(index % part);
      case CollectiveOperation::kAllToAll:
        return sent_[index / part].at(own + index % part);
      case CollectiveOperation::kShift:
        return sent_[static_cast<size_t>(rank == 0 ? kRanks - 1 : rank - 1)].at(index);
      case CollectiveOperation::kBroadcast:
        return sent_[0].at(index);
    }
    return -1;
  }

  CollectivePattern pattern_{GetParam(), kRanks, kCount};
  std::vector<std::vector<float>> sent_;
};

TEST_P(CollectivePatternTest, ReceivesWhatTheOperationSays) {
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::vector<float> received = floats(received_by(pattern_, rank));
    ASSERT_EQ(received.size(), static_cast<size_t>(pattern_.num_received()));
    for (size_t i = 0; i < received.size(); ++i) {
      ASSERT_EQ(received[i], expected(rank, i)) << "rank " << rank << ", element " << i;
    }
  }
}

// Whole numbers whose sum over the ranks is at most 256: BF16 holds each of them.
TEST_P(CollectivePatternTest, SumsAreExact) {
  for (const std::vector<float>& sent : sent_) {
    for (const float value : sent) {
      ASSERT_EQ(value, static_cast<float>(static_cast<int>(value)));
      ASSERT_GE(value, 0);
      ASSERT_LE(value * kRanks, 256);
    }
  }
}

// Of two ranks' numbers in the same place, 1 in 64 is alike; so are a rank's numbers a part apart.
TEST_P(CollectivePatternTest, PlacesAndRanksAreToldApart) {
  const auto count_alike = [](const auto& begin, const auto& end, const auto& other) {
    int alike = 0;
    for (auto one = begin, two = other; one != end; ++one, ++two) {
      alike += *one == *two ? 1 : 0;
    }
    return alike;
  };
  constexpr int kSome = 20'000;
  const std::vector<float>& first = sent_[0];
  EXPECT_LT(count_alike(first.begin(), first.begin() + kSome, sent_[1].begin()), kSome / 32);
  EXPECT_LT(count_alike(first.begin(), first.begin() + kSome, first.begin() + kSome), kSome / 32);
}

INSTANTIATE_TEST_SUITE_P(Operations,
                         CollectivePatternTest,
                         ::testing::Values(CollectiveOperation::kAllReduce,
                                           CollectiveOperation::kReduceScatter,
                                           CollectiveOperation::kAllGather,
                                           CollectiveOperation::kAllToAll,
                                           CollectiveOperation::kShift,
                                           CollectiveOperation::kBroadcast));

}  // namespace
}  // namespace moesim
