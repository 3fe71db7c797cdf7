#include "sim/base/hash.h"

#include <gtest/gtest.h>

namespace moesim {
namespace {

// Test vectors of the authors of FNV (Fowler, Noll, Vo), 64-bit FNV-1a.
TEST(HashTest, MatchesPublishedVectors) {
  EXPECT_EQ(content_hash(""), "cbf29ce484222325");
  EXPECT_EQ(content_hash("a"), "af63dc4c8601ec8c");
  EXPECT_EQ(content_hash("foobar"), "85944171f73967e8");
}

TEST(HashTest, AddsBytesOneAfterAnother) {
  EXPECT_EQ(Hash().add("foo").add("bar").hex(), "85944171f73967e8");
}

TEST(HashTest, NumbersAreEightBytesLeastSignificantFirst) {
  using namespace std::string_view_literals;
  EXPECT_EQ(Hash().add(0x0201).value(), Hash().add("\x01\x02\0\0\0\0\0\0"sv).value());
}

}  // namespace
}  // namespace moesim
