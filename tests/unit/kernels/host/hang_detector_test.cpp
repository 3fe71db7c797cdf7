// Two processes of two ranks each; collective "c0" of all ranks, then "c1" of all ranks.
#include "kernels/host/hang_detector.h"

#include <gmock/gmock.h>

#include "kernels/hang.h"
#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using namespace test;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int kRun = 7;

class HangDetectorTest : public testing::Test {
 protected:
  HangDetectorTest() : hand_(4, {"s"}) {
    const int group = hand_.add_group("all", {{0, 1, 2, 3}});
    hand_.add_collective("c", 0, all_to_all(group), ps(1));
    hand_.add_collective("c", 0, all_to_all(group), ps(1));
    program_ = hand_.program();
    GroupTable groups;
    groups.update(program_);
    script_ = make_host_script(program_, groups, 32);
    detector_.begin(kRun);
  }

  // Ranks `present` of the process have come to the second meeting and all of its ranks have left
  // the first.
  static StandstillReport report(int process, std::vector<int> present, int from_ms, int to_ms) {
    StandstillReport report{kRun, {}};
    report.standstill.from = Time::from_seconds(from_ms * 1e-3);
    report.standstill.to = to_ms == kForGood ? Time::max() : Time::from_seconds(to_ms * 1e-3);
    report.standstill.arrived.assign(2, std::vector<bool>(4));
    report.standstill.left = report.standstill.arrived;
    for (const int rank : {2 * process, 2 * process + 1}) {
      report.standstill.arrived[0][rank] = report.standstill.left[0][rank] = true;
    }
    for (const int rank : present) {
      report.standstill.arrived[1][rank] = true;
    }
    return report;
  }

  std::string hang_of(int process, const StandstillReport& report) {
    try {
      detector_.hear(process, to_bytes(report));
      return "no hang";
    } catch (const Hang& hang) {
      return hang.what();
    }
  }

  static constexpr int kForGood = -1;

  HandProgram hand_;
  Program program_;
  HostScript script_;
  HangDetector detector_{program_, script_, 2};
};

TEST_F(HangDetectorTest, NamesWhoIsMissing) {
  EXPECT_EQ(hang_of(0, report(0, {0, 1}, 100, 600)), "no hang");
  EXPECT_THAT(hang_of(1, report(1, {2}, 300, 800)),
              AllOf(HasSubstr("collective 'c1' of group 'all', instance 0 (ranks 0, 1, 2, 3)"),
                    HasSubstr("rank 3 did not arrive"),
                    Not(HasSubstr("c0"))));
}

// Process 1 is done and will not do anything any more.
TEST_F(HangDetectorTest, WhoIsDoneStandsStillForGood) {
  EXPECT_EQ(hang_of(1, report(1, {}, 50, kForGood)), "no hang");
  EXPECT_THAT(hang_of(0, report(0, {0, 1}, 100, 600)), HasSubstr("rank 2, 3 did not arrive"));
}

TEST_F(HangDetectorTest, AllDoneIsNoHang) {
  EXPECT_EQ(hang_of(1, report(1, {}, 50, kForGood)), "no hang");
  EXPECT_EQ(hang_of(0, report(0, {}, 60, kForGood)), "no hang");
}

// All have come: the network is at work, however long it takes.
TEST_F(HangDetectorTest, WhatTravelsDoesNotHang) {
  EXPECT_EQ(hang_of(0, report(0, {0, 1}, 100, 600'000)), "no hang");
  EXPECT_EQ(hang_of(1, report(1, {2, 3}, 100, 600'000)), "no hang");
}

// Process 1 moved at 600 ms, perhaps because of what 0 did until 595 ms: 5 ms are within the error
// of the clocks.
TEST_F(HangDetectorTest, StandstillsMustOverlap) {
  EXPECT_EQ(hang_of(0, report(0, {0, 1}, 595, 1000)), "no hang");
  EXPECT_EQ(hang_of(1, report(1, {2}, 100, 600)), "no hang");
  EXPECT_THAT(hang_of(1, report(1, {2}, 700, 1200)), HasSubstr("rank 3 did not arrive"));
}

TEST_F(HangDetectorTest, EarlierRunsAreForgotten) {
  StandstillReport old = report(1, {2}, 100, 600);
  old.run = kRun - 1;
  EXPECT_EQ(hang_of(1, old), "no hang");
  EXPECT_EQ(hang_of(0, report(0, {0, 1}, 100, 600)), "no hang");
  detector_.begin(kRun + 1);
  EXPECT_EQ(hang_of(1, report(1, {2}, 100, 600)), "no hang");
}

}  // namespace
}  // namespace moesim
