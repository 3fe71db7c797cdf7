#include "kernels/mpi/deadline.h"

#include <gtest/gtest.h>

namespace moesim {
namespace {

TEST(DeadlineTest, ThatIsMetDoesNothing) {
  const Deadline deadline(std::chrono::hours(1), "late");
}

TEST(DeadlineDeathTest, ThatIsMissedEndsTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto miss = [] {
    const Deadline deadline(std::chrono::milliseconds(1), "who died?");
    std::this_thread::sleep_for(std::chrono::hours(1));
  };
  EXPECT_EXIT(miss(), testing::ExitedWithCode(1), "who died\\?");
}

}  // namespace
}  // namespace moesim
