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

TEST(ClosedFormTest, OneCommunicationAtATimeIsThatOfTheLastOrTheFirstChunk) {
  // With g = s PipeMoE's: c = 2*3 + 1 + 1 = 8; 4*8 + gar, and 8 + 4*10.
  EXPECT_EQ(one_communication_time(4, {.a = 3, .g = 1, .s = 1, .e = 1, .gar = 5}), 37);
  EXPECT_EQ(one_communication_time(4, {.a = 3, .g = 1, .s = 1, .e = 10, .gar = 5}), 48);
  // A long scatter waits for the first expert: (1 + 0) + 3 + 2*(4 + 1) = 14; PipeMoE's is 12.
  EXPECT_EQ(one_communication_time(2, {.a = 1, .g = 0, .s = 4, .e = 3}), 14);
  EXPECT_EQ(pipemoe_time(2, {.a = 1, .g = 0, .s = 4, .e = 3}), 12);
  // A long gather: the last expert ends at 2*(1 + 4) + 3, then 0 + 1.
  EXPECT_EQ(one_communication_time(2, {.a = 1, .g = 4, .s = 0, .e = 3}), 14);
}

}  // namespace
}  // namespace moesim
