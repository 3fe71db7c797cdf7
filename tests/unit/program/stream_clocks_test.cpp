#include "sim/program/stream_clocks.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "sim/base/random.h"

namespace moesim {
namespace {

TEST(StreamClocksTest, ShowsTheLastTaskOfEachStream) {
  StreamClocks clocks;
  const StreamClock start;
  const StreamClock first = clocks.with(start, 0, 3);
  const StreamClock second = clocks.with(first, 5, 4);
  EXPECT_EQ(clocks.at(start, 0), kNone);
  EXPECT_EQ(clocks.at(first, 0), 3);
  EXPECT_EQ(clocks.at(first, 5), kNone);  // a clock is a value: the later one does not change it
  EXPECT_EQ(clocks.at(second, 0), 3);
  EXPECT_EQ(clocks.at(second, 5), 4);
  EXPECT_EQ(clocks.at(second, 1000), kNone);
}

TEST(StreamClocksTest, MergesTheLaterOfEachStream) {
  StreamClocks clocks;
  const StreamClock left = clocks.with(clocks.with({}, 0, 7), 1, 2);
  const StreamClock right = clocks.with(clocks.with({}, 1, 5), 9, 6);
  const StreamClock both = clocks.merged(left, right);
  EXPECT_EQ(clocks.at(both, 0), 7);
  EXPECT_EQ(clocks.at(both, 1), 5);
  EXPECT_EQ(clocks.at(both, 9), 6);
  EXPECT_EQ(clocks.first_ahead(left, right), 7);
  EXPECT_EQ(clocks.first_ahead(right, left), 5);
  EXPECT_EQ(clocks.first_ahead(left, both), kNone);
}

// Against plain vectors: each new clock follows one, or the merge of two, of those before it.
TEST(StreamClocksTest, AgreesWithVectors) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto draw = [&random](std::size_t below) {
      return static_cast<std::size_t>(random.uniform_int(0, static_cast<std::int64_t>(below) - 1));
    };
    const std::size_t num_streams = 1 + draw(40);
    StreamClocks clocks;
    std::vector<StreamClock> made = {{}};
    std::vector<std::vector<int>> expected = {std::vector<int>(num_streams, kNone)};
    for (int task = 0; task < 200; ++task) {
      const std::size_t left = draw(made.size());
      const std::size_t right = draw(made.size());
      const std::size_t stream = draw(num_streams);
      std::vector<int> merged = expected[left];
      int ahead = kNone;
      for (std::size_t i = 0; i < num_streams; ++i) {
        ahead =
            ahead == kNone && expected[left][i] > expected[right][i] ? expected[left][i] : ahead;
        merged[i] = std::max(merged[i], expected[right][i]);
      }
      EXPECT_EQ(clocks.first_ahead(made[left], made[right]), ahead);
      merged[stream] = task;
      expected.push_back(merged);
      made.push_back(
          clocks.with(clocks.merged(made[left], made[right]), static_cast<int>(stream), task));
      for (std::size_t i = 0; i < num_streams; ++i) {
        ASSERT_EQ(clocks.at(made.back(), static_cast<int>(i)), merged[i]);
      }
    }
  }
}

}  // namespace
}  // namespace moesim
