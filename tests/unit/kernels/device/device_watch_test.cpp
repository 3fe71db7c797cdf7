// Two ranks on streams s and t. On each: a task of 1 ms on s (position 0), a collective of both on
// s (1), a task on t (2). The clock is the test's.
#include "kernels/device/device_watch.h"

#include <gmock/gmock.h>

#include "kernels/hang.h"
#include "kernels/host/hang_detector.h"
#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kCompute = 0;
constexpr int kCollective = 1;
constexpr int kOther = 2;

Time ms(int milliseconds) {
  return Time::from_seconds(milliseconds * 1e-3);
}

class DeviceWatchTest : public testing::Test {
 protected:
  DeviceWatchTest() : hand_(2, {"s", "t"}) {
    const int group = hand_.add_group("all", {{0, 1}});
    hand_.add_fixed("f", 0, ms(1));
    hand_.add_collective("c", 0, all_to_all(group), ps(1));
    hand_.add_fixed("g", 1, ms(1));
    GroupTable groups;
    groups.update(hand_.program());
    script_ = make_host_script(hand_.program(), groups, 32);
  }

  // Of both ranks in one process, which have issued all.
  DeviceWatch watch_of(std::vector<int> ranks) {
    DeviceWatch watch(script_, ranks, ms(100));
    for (const int rank : ranks) {
      watch.set_host_waits(rank, true);
    }
    return watch;
  }

  static void end(DeviceWatch& watch, int rank, std::vector<int> positions) {
    for (const int position : positions) {
      watch.see(rank, position, TaskProgress::kBegun);
      watch.see(rank, position, TaskProgress::kEnded);
    }
  }

  HandProgram hand_;
  HostScript script_;
};

// Rank 1 never comes: seen at 20 ms, told when nothing has changed for 100 ms.
TEST_F(DeviceWatchTest, TellsWhoCameToACollective) {
  DeviceWatch watch = watch_of({0, 1});
  end(watch, 0, {kCompute, kOther});
  end(watch, 1, {kOther});
  watch.see(0, kCollective, TaskProgress::kBegun);
  EXPECT_FALSE(watch.look(ms(20)));
  EXPECT_FALSE(watch.look(ms(119)));
  const auto standstill = watch.look(ms(120));
  ASSERT_TRUE(standstill);
  EXPECT_EQ(standstill->from, ms(20));
  EXPECT_EQ(standstill->to, ms(120));
  EXPECT_THAT(standstill->arrived, ElementsAre(ElementsAre(true, false)));
  EXPECT_THAT(standstill->left, ElementsAre(ElementsAre(false, false)));
}

// However long a kernel runs, and however long a host takes to load one, they go on.
TEST_F(DeviceWatchTest, WhoWorksDoesNotStandStill) {
  DeviceWatch watch = watch_of({0});
  watch.see(0, kCompute, TaskProgress::kBegun);
  EXPECT_FALSE(watch.look(ms(0)));
  EXPECT_FALSE(watch.look(ms(90'000)));
  watch.see(0, kCompute, TaskProgress::kEnded);
  watch.see(0, kCollective, TaskProgress::kBegun);
  watch.set_host_waits(0, false);
  EXPECT_FALSE(watch.look(ms(90'001)));
  EXPECT_FALSE(watch.look(ms(180'000)));
  watch.set_host_waits(0, true);
  EXPECT_FALSE(watch.look(ms(180'001)));
  EXPECT_TRUE(watch.look(ms(180'101)));
}

TEST_F(DeviceWatchTest, EveryChangeBeginsThePatienceAnew) {
  DeviceWatch watch = watch_of({0});
  EXPECT_FALSE(watch.look(ms(0)));
  end(watch, 0, {kCompute});
  EXPECT_FALSE(watch.look(ms(99)));
  watch.see(0, kCollective, TaskProgress::kBegun);
  EXPECT_FALSE(watch.look(ms(198)));
  watch.see(0, kCollective, TaskProgress::kBegun);  // no news
  EXPECT_FALSE(watch.look(ms(297)));
  EXPECT_TRUE(watch.look(ms(298)));
}

TEST_F(DeviceWatchTest, WhoIsDoneStandsStillForGood) {
  DeviceWatch watch = watch_of({1});
  end(watch, 1, {kCompute, kCollective, kOther});
  const auto standstill = watch.look(ms(5));
  ASSERT_TRUE(standstill);
  EXPECT_EQ(standstill->from, ms(5));
  EXPECT_EQ(standstill->to, Time::max());
  EXPECT_THAT(standstill->left, ElementsAre(ElementsAre(false, true)));
}

// Two processes: rank 1 stands before the collective with a wait that nobody ends.
TEST_F(DeviceWatchTest, ProcessesNameTheMissingRankTogether) {
  HangDetector detector(hand_.program(), script_, 2);
  detector.begin(1);
  for (const int rank : {0, 1}) {
    DeviceWatch watch = watch_of({rank});
    end(watch, rank, {kOther});
    if (rank == 0) {
      end(watch, rank, {kCompute});
      watch.see(rank, kCollective, TaskProgress::kBegun);
    }
    EXPECT_FALSE(watch.look(ms(0)));
    const auto standstill = watch.look(ms(200));
    ASSERT_TRUE(standstill);
    try {
      detector.add(rank, {1, *standstill});
      EXPECT_EQ(rank, 0);
    } catch (const Hang& hang) {
      EXPECT_EQ(rank, 1);
      EXPECT_THAT(hang.what(),
                  HasSubstr("collective 'c1' of group 'all', instance 0 (ranks 0, 1): rank 1 did "
                            "not arrive"));
    }
  }
}

// Both have come and neither has left: the network is at work, or a peer died, which others see.
TEST_F(DeviceWatchTest, ACollectiveOfAllIsNoHang) {
  HangDetector detector(hand_.program(), script_, 1);
  detector.begin(1);
  DeviceWatch watch = watch_of({0, 1});
  for (const int rank : {0, 1}) {
    end(watch, rank, {kCompute, kOther});
    watch.see(rank, kCollective, TaskProgress::kBegun);
  }
  EXPECT_FALSE(watch.look(ms(0)));
  const auto standstill = watch.look(ms(100));
  ASSERT_TRUE(standstill);
  EXPECT_NO_THROW(detector.add(0, {1, *standstill}));
}

TEST_F(DeviceWatchTest, TasksDoNotGoBack) {
  DeviceWatch watch = watch_of({0});
  watch.see(0, kOther, TaskProgress::kEnded);
  EXPECT_DEATH(watch.see(0, kOther, TaskProgress::kBegun), "task 2 of rank 0 goes back");
}

}  // namespace
}  // namespace moesim
