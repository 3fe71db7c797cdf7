#include "sim/base/version.h"

#include <gmock/gmock.h>

namespace moesim {
namespace {

TEST(VersionTest, IsThreeNumbers) {
  EXPECT_THAT(std::string(version()), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

}  // namespace
}  // namespace moesim
