#include "sim/schedule/closed_form.h"

#include <gtest/gtest.h>

namespace moesim {
namespace {

TEST(ClosedFormTest, EachCaseOfFsmoe) {
  // r = 2, a = 10, g = s = 1, e = 1, gar = 50: 2*2*10 + 50 = 90 bounds the rest.
  EXPECT_EQ(fsmoe_case(2, {.a = 10, .g = 1, .s = 1, .e = 1, .gar = 50}), 1);
  EXPECT_EQ(fsmoe_time(2, {.a = 10, .g = 1, .s = 1, .e = 1, .gar = 50}), 90);
  // e = 30: 2*10 + 1 + 1 + 2*30 = 82 > 2*2*10 + 2 = 42.
  EXPECT_EQ(fsmoe_case(2, {.a = 10, .g = 1, .s = 1, .e = 30}), 2);
  EXPECT_EQ(fsmoe_time(2, {.a = 10, .g = 1, .s = 1, .e = 30}), 82);
  // e = 1: 40 + 2 = 42.
  EXPECT_EQ(fsmoe_case(2, {.a = 10, .g = 1, .s = 1, .e = 1}), 3);
  EXPECT_EQ(fsmoe_time(2, {.a = 10, .g = 1, .s = 1, .e = 1}), 42);
  // g = s = 20: 2*10 + 2*40 = 100.
  EXPECT_EQ(fsmoe_case(2, {.a = 10, .g = 20, .s = 20, .e = 1}), 4);
  EXPECT_EQ(fsmoe_time(2, {.a = 10, .g = 20, .s = 20, .e = 1}), 100);
}

TEST(ClosedFormTest, HiddenGradientIsTheTimeBeyondTheAllToAlls) {
  // Case 2: r*e + g + s - 2(r-1)a = 60 + 2 - 20 = 42.
  EXPECT_EQ(fsmoe_hidden(2, {.a = 10, .g = 1, .s = 1, .e = 30}), 42);
  // Case 3: g + s.
  EXPECT_EQ(fsmoe_hidden(2, {.a = 10, .g = 1, .s = 1, .e = 1}), 2);
  // Case 4: r*(g + s) - 2(r-1)a = 80 - 20 = 60.
  EXPECT_EQ(fsmoe_hidden(2, {.a = 10, .g = 20, .s = 20, .e = 1}), 60);
}

TEST(ClosedFormTest, SelectionByPredicatesMayFallBelowTheBound) {
  // With g != s the predicates pick case 1, 2*6*10 + 7 = 127, where case 3 says 120 + 17 = 137.
  const ChunkTimes uneven{.a = 10, .g = 10, .s = 7, .e = 4, .gar = 7};
  EXPECT_EQ(fsmoe_time(6, uneven), 127);
  EXPECT_EQ(fsmoe_bound(6, uneven), 137);
}

TEST(ClosedFormTest, PipeMoeIsTheLargerOfCommunicationAndCompute) {
  EXPECT_EQ(pipemoe_time(4, {.a = 3, .e = 1}), 24);                  // 2*4*3
  EXPECT_EQ(pipemoe_time(4, {.a = 3, .e = 10}), 46);                 // 2*3 + 4*10
  EXPECT_EQ(pipemoe_time(1, {.a = 3, .g = 1, .s = 2, .e = 5}), 14);  // serial
}

}  // namespace
}  // namespace moesim
