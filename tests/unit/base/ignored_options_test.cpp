#include "sim/base/ignored_options.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/error.h"

namespace moesim {
namespace {

// What is said of a command line with these options, of a table of two lines, of which the first
// applies where `is_raw`.
std::string refusal(const std::vector<std::string>& given, bool is_raw) {
  const std::vector<IgnoredOptions> table = {
      {{"--dilation", "--modelled"}, is_raw, "has no effect"},
      {{"--modelled"}, true, "is never right", "give another"}};
  try {
    refuse_ignored(table, [&](const std::string& option) {
      return std::find(given.begin(), given.end(), option) != given.end();
    });
    return "accepted";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(IgnoredOptionsTest, TheFirstLineThatAppliesRefuses) {
  EXPECT_EQ(refusal({"--modelled", "--dilation"}, true), "--dilation has no effect; leave it out");
  EXPECT_EQ(refusal({"--modelled"}, true), "--modelled has no effect; leave it out");
  EXPECT_EQ(refusal({"--modelled"}, false), "--modelled is never right; give another");
}

TEST(IgnoredOptionsTest, OthersAreAccepted) {
  EXPECT_EQ(refusal({}, true), "accepted");
  EXPECT_EQ(refusal({"--dilation"}, false), "accepted");
  EXPECT_EQ(refusal({"--clock"}, true), "accepted");
}

}  // namespace
}  // namespace moesim
