#include "sim/report/ranks_text.h"

#include <gtest/gtest.h>

namespace moesim {
namespace {

TEST(RanksTextTest, Ranges) {
  EXPECT_EQ(ranks_text({}), "");
  EXPECT_EQ(ranks_text({5}), "5");
  EXPECT_EQ(ranks_text({3, 1, 2}), "1-3");
  EXPECT_EQ(ranks_text({0, 1, 16, 17, 18, 20}), "0-1, 16-18, 20");
  EXPECT_EQ(ranks_text({0, 2, 4, 6}), "0, 2, 4, 6");
  EXPECT_EQ(ranks_text({0, 2, 4, 6, 8}), "0, 2, 4, 6, ...");
}

TEST(RanksTextTest, Classes) {
  EXPECT_EQ(class_text({7, {7}}), "rank 7");
  EXPECT_EQ(class_text({0, {0, 1, 2}}), "rank 0 (stands for 3 ranks: 0-2)");
}

}  // namespace
}  // namespace moesim
