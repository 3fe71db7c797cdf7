#include "sim/base/check.h"

#include <gtest/gtest.h>

namespace moesim {
namespace {

TEST(CheckDeathTest, NamesPlaceConditionAndMessage) {
  const int size = 3;
  // Compiler caches may hand the compiler a path relative to the build folder.
  EXPECT_DEATH(
      CHECK(size > 4, "size is {}", size),
      "^(\\.\\./)*tests/unit/base/check_test\\.cpp:[0-9]+: CHECK\\(size > 4\\) failed: size is 3");
}

TEST(CheckDeathTest, MessageIsOptional) {
  EXPECT_DEATH(CHECK(1 + 1 == 3), "CHECK\\(1 \\+ 1 == 3\\) failed\n");
}

TEST(CheckTest, EvaluatesItsConditionOnce) {
  int evaluations = 0;
  CHECK(++evaluations == 1, "not printed");
  EXPECT_EQ(evaluations, 1);
}

}  // namespace
}  // namespace moesim
