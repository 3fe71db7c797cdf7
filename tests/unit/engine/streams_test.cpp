// Streams, hosts and hardware queues on fixed tasks: every expected time is worked out by hand from
// the execution model (docs/model.md).
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/engine/simulate.h"
#include "tests/unit/engine/program_maker.h"

namespace moesim {
namespace {

const TaskSpan& span_of_task(const Trace& trace, int task, int rank = 0) {
  for (const TaskSpan& span : trace.spans) {
    if (span.task == task && span.rank == rank) {
      return span;
    }
  }
  throw Error("no such span");
}

TEST(StreamsTest, TasksOfAStreamFollowEachOther) {
  ProgramMaker maker(1);
  maker.fixed("compute", 10);
  const int second = maker.fixed("compute", 5);
  const Trace trace = simulate(maker.program(), nullptr, nullptr);
  EXPECT_EQ(span_of_task(trace, second).launched, ps(0));
  EXPECT_EQ(span_of_task(trace, second).start, ps(10));
  EXPECT_EQ(span_of_task(trace, second).transfer, ps(10));
  EXPECT_EQ(span_of_task(trace, second).end, ps(15));
  EXPECT_EQ(trace.end, ps(15));
}

TEST(StreamsTest, StreamsRunAtOnceAndWaitsOrderThem) {
  ProgramMaker maker(1);
  const int a = maker.fixed("x", 10);
  const int b = maker.fixed("y", 3);
  const int c = maker.fixed("y", 4, {a});
  maker.task(c).order_only = {b};
  const Trace trace = simulate(maker.program(), nullptr, nullptr);
  EXPECT_EQ(span_of_task(trace, b).start, ps(0));
  EXPECT_EQ(span_of_task(trace, c).start, ps(10));
  EXPECT_EQ(trace.end, ps(14));
}

TEST(StreamsTest, OrderOnlyWaitsHoldToo) {
  ProgramMaker maker(1);
  const int a = maker.fixed("x", 10);
  const int b = maker.fixed("y", 3);
  maker.task(b).order_only = {a};
  EXPECT_EQ(simulate(maker.program(), nullptr, nullptr).end, ps(13));
}

TEST(StreamsTest, EmptyProgramTakesNoTime) {
  const Trace trace = simulate(ProgramMaker(3).program(), nullptr, nullptr);
  EXPECT_EQ(trace.end, Time::zero());
  EXPECT_TRUE(trace.spans.empty());
}

TEST(StreamsTest, RankScaleMultipliesFixedTimesToTheNearestPicosecond) {
  // 5 * 1.5 = 7.5 -> 8; 5 * 1.49 = 7.45 -> 7.
  ProgramMaker maker(3);
  maker.fixed("compute", 5);
  maker.program().rank_scale = {1, 1.5, 1.49};
  const Trace trace = simulate(maker.program(), nullptr, nullptr);
  EXPECT_EQ(span_of_task(trace, 0, 0).end, ps(5));
  EXPECT_EQ(span_of_task(trace, 0, 1).end, ps(8));
  EXPECT_EQ(span_of_task(trace, 0, 2).end, ps(7));
  EXPECT_EQ(trace.classes.size(), 3U);
}

TEST(StreamsTest, RolesRunTheirOwnTasks) {
  ProgramMaker maker(3);
  const int first = maker.role("first", {0});
  const int second = maker.role("second", {1});
  const int of_first = maker.fixed("compute", 10);
  const int of_second = maker.fixed("compute", 20);
  const int of_all = maker.fixed("compute", 1, {of_first});
  maker.task(of_first).roles = {first};
  maker.task(of_second).roles = {second};
  const Trace trace = simulate(maker.program(), nullptr, nullptr);
  EXPECT_EQ(span_of_task(trace, of_all, 0).end, ps(11));
  // Rank 1 does not run what it would wait for, rank 2 has no role at all.
  EXPECT_EQ(span_of_task(trace, of_all, 1).end, ps(21));
  EXPECT_EQ(span_of_task(trace, of_all, 2).end, ps(1));
  EXPECT_THROW(span_of_task(trace, of_first, 1), Error);
}

TEST(StreamsTest, AbsurdTimesAreAnError) {
  constexpr std::int64_t kDay = 86'400'000'000'000'000;
  ProgramMaker maker(1);
  maker.fixed("compute", 9 * kDay);
  EXPECT_EQ(simulate(maker.program(), nullptr, nullptr).end, ps(9 * kDay));
  maker.program().rank_scale = {2};
  EXPECT_THROW(simulate(maker.program(), nullptr, nullptr), Error);
  maker.program().rank_scale = {1};
  for (int i = 0; i < 11; ++i) {
    maker.fixed("compute", 9 * kDay);
  }
  EXPECT_THROW(simulate(maker.program(), nullptr, nullptr), Error);
}

// Compute 10, then a task of 4 on each of x and y; y's waits for the compute. Launched in the order
// compute, y, x. With many queues x starts at 0; with one it may not start before y has: at 10.
Program head_of_line_blocking() {
  ProgramMaker maker(1);
  const int compute = maker.fixed("compute", 10);
  maker.fixed("y", 4, {compute});
  maker.fixed("x", 4);
  return maker.program();
}

TEST(HardwareQueueTest, ManyQueuesLetLaterLaunchesPass) {
  const Trace trace = simulate(head_of_line_blocking(), nullptr, nullptr);
  EXPECT_EQ(span_of_task(trace, 2).start, ps(0));
  EXPECT_EQ(span_of_task(trace, 1).start, ps(10));
}

TEST(HardwareQueueTest, OneQueueStartsInLaunchOrder) {
  Profile profile;
  profile.hardware_queues = 1;
  const Trace trace = simulate(head_of_line_blocking(), nullptr, &profile);
  EXPECT_EQ(span_of_task(trace, 2).start, ps(10));
  EXPECT_EQ(trace.end, ps(14));
}

TEST(HardwareQueueTest, AblationGivesEveryStreamAQueue) {
  Profile profile;
  profile.hardware_queues = 1;
  SimulationOptions options;
  options.effects.hardware_queues = false;
  const Trace trace = simulate(head_of_line_blocking(), nullptr, &profile, options);
  EXPECT_EQ(span_of_task(trace, 2).start, ps(0));
}

TEST(HardwareQueueTest, StreamsMapToQueuesInOrderOfFirstUseModuloTheirNumber) {
  // Two queues; streams compute, y, x in order of first use: compute and x share queue 0, y has
  // queue 1. So x (launched last) waits only for compute's start: it begins at 0 although y waits.
  Profile profile;
  profile.hardware_queues = 2;
  const Trace trace = simulate(head_of_line_blocking(), nullptr, &profile);
  EXPECT_EQ(span_of_task(trace, 2).start, ps(0));

  // Used in the order y, compute, x, queue 0 holds y and x: x waits for y's start at 10.
  ProgramMaker maker(1);
  maker.fixed("y", 0);
  const int compute = maker.fixed("compute", 10);
  maker.fixed("y", 4, {compute});
  const int x = maker.fixed("x", 4);
  EXPECT_EQ(span_of_task(simulate(maker.program(), nullptr, &profile), x).start, ps(10));
}

TEST(HardwareQueueTest, AStartIsEnough) {
  // One queue: x need not wait for the end of the long task launched before it.
  Profile profile;
  profile.hardware_queues = 1;
  ProgramMaker maker(1);
  maker.fixed("compute", 100);
  const int x = maker.fixed("x", 4);
  EXPECT_EQ(span_of_task(simulate(maker.program(), nullptr, &profile), x).start, ps(0));
}

TEST(HostTest, EachLaunchTakesTheOverhead) {
  // Launches end at 3, 6, 9; the first task ends at 13 and the second, long launched, follows; the
  // third is on a free stream and starts when launched.
  Profile profile;
  profile.launch_overhead_seconds = 3e-12;
  ProgramMaker maker(1);
  const int a = maker.fixed("x", 10);
  const int b = maker.fixed("x", 10);
  const int c = maker.fixed("y", 1);
  const Trace trace = simulate(maker.program(), nullptr, &profile);
  EXPECT_EQ(span_of_task(trace, a).start, ps(3));
  EXPECT_EQ(span_of_task(trace, b).launched, ps(6));
  EXPECT_EQ(span_of_task(trace, b).start, ps(13));
  EXPECT_EQ(span_of_task(trace, c).launched, ps(9));
  EXPECT_EQ(span_of_task(trace, c).start, ps(9));

  SimulationOptions options;
  options.effects.launch_overhead = false;
  EXPECT_EQ(simulate(maker.program(), nullptr, &profile, options).end, ps(20));
}

TEST(HostTest, HostWaitStopsTheLaunches) {
  // a is launched at 2 and ends at 12. The host gets to the wait at 2, goes on at 12, and launches
  // b at 14 although its stream has been idle.
  Profile profile;
  profile.launch_overhead_seconds = 2e-12;
  ProgramMaker maker(1);
  const int a = maker.fixed("x", 10);
  const int wait = maker.host_wait({a});
  const int b = maker.fixed("y", 5);
  const Trace trace = simulate(maker.program(), nullptr, &profile);
  EXPECT_EQ(span_of_task(trace, wait).launched, ps(2));
  EXPECT_EQ(span_of_task(trace, wait).start, ps(2));
  EXPECT_EQ(span_of_task(trace, wait).end, ps(12));
  EXPECT_EQ(span_of_task(trace, b).launched, ps(14));
  EXPECT_EQ(trace.end, ps(19));
}

TEST(HostTest, HostWaitForWhatIsOverTakesNoTime) {
  // Launched at 5, a ends at 6; b's launch ends at 10, and the wait for a is over at once.
  Profile profile;
  profile.launch_overhead_seconds = 5e-12;
  ProgramMaker maker(1);
  const int a = maker.fixed("x", 1);
  maker.fixed("y", 1);
  const int wait = maker.host_wait({a});
  const int c = maker.fixed("x", 1);
  const Trace trace = simulate(maker.program(), nullptr, &profile);
  EXPECT_EQ(span_of_task(trace, wait).start, ps(10));
  EXPECT_EQ(span_of_task(trace, wait).end, ps(10));
  EXPECT_EQ(span_of_task(trace, c).start, ps(15));
}

TEST(HostTest, HostWaitsHoldUpOnlyTheirOwnRank) {
  ProgramMaker maker(2);
  const int a = maker.fixed("x", 10);
  maker.host_wait({a});
  const int b = maker.fixed("y", 1);
  maker.program().rank_scale = {1, 3};
  const Trace trace = simulate(maker.program(), nullptr, nullptr);
  EXPECT_EQ(span_of_task(trace, b, 0).start, ps(10));
  EXPECT_EQ(span_of_task(trace, b, 1).start, ps(30));
}

TEST(HostTest, ManyHostWaitsInARow) {
  // No recursion from one wait to the next: 100,000 of them are no problem.
  ProgramMaker maker(1);
  const int a = maker.fixed("x", 1);
  for (int i = 0; i < 100'000; ++i) {
    maker.host_wait({a});
  }
  maker.fixed("x", 1);
  EXPECT_EQ(simulate(maker.program(), nullptr, nullptr).end, ps(2));
}

TEST(TraceTest, PassEndsWithAndWithoutSpans) {
  ProgramMaker maker(1);
  maker.fixed("x", 10);
  maker.task(maker.fixed("x", 20)).pass = Pass::kBackward;
  maker.task(maker.fixed("y", 2)).pass = Pass::kUpdate;
  SimulationOptions options;
  for (const bool keep_spans : {true, false}) {
    options.keep_spans = keep_spans;
    const Trace trace = simulate(maker.program(), nullptr, nullptr, options);
    EXPECT_EQ(trace.spans.size(), keep_spans ? 3U : 0U);
    EXPECT_EQ(trace.end, ps(30));
    EXPECT_EQ(trace.pass_end[static_cast<int>(Pass::kForward)], ps(10));
    EXPECT_EQ(trace.pass_end[static_cast<int>(Pass::kRecompute)], ps(0));
    EXPECT_EQ(trace.pass_end[static_cast<int>(Pass::kBackward)], ps(30));
    EXPECT_EQ(trace.pass_end[static_cast<int>(Pass::kUpdate)], ps(2));
  }
}

TEST(TraceTest, SpansAreOrderedByStartTaskRank) {
  ProgramMaker maker(2);
  maker.fixed("x", 0);
  maker.fixed("y", 5);
  maker.fixed("x", 5);
  SimulationOptions options;
  options.resolution = Resolution::kPorts;
  const Trace trace = simulate(maker.program(), nullptr, nullptr, options);
  std::vector<std::pair<int, int>> order;
  for (const TaskSpan& span : trace.spans) {
    EXPECT_EQ(span.start, ps(0));
    order.emplace_back(span.task, span.rank);
  }
  const std::vector<std::pair<int, int>> expected = {
      {0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}};
  EXPECT_EQ(order, expected);
  EXPECT_EQ(trace.resolution, "ports");
  EXPECT_EQ(trace.executor, "simulator");
}

std::string error_of_simulating(const Program& program, const Profile* profile = nullptr) {
  try {
    simulate(program, nullptr, profile);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// 400 days of work on 40 ranks, ten on each: what counts is how long the iteration takes.
TEST(LongTimesTest, ManyRanksMayWorkLongTogether) {
  ProgramMaker maker(40);
  const Time ten_days = Time::from_seconds(10 * 86'400);
  maker.fixed("x", ten_days.picoseconds());
  for (const Resolution resolution : {Resolution::kFold, Resolution::kPorts}) {
    const Trace trace = simulate(maker.program(), nullptr, nullptr, {.resolution = resolution});
    EXPECT_EQ(trace.end, ten_days);
  }
}

TEST(LongTimesTest, AnIterationOfMonthsIsRefused) {
  ProgramMaker maker(1);
  for (int i = 0; i < 10; ++i) {  // 100 days
    maker.fixed("x", Time::from_seconds(10 * 86'400).picoseconds());
  }
  EXPECT_EQ(error_of_simulating(maker.program()),
            "the iteration takes more than 90 days; check sizes, rates, start-up and fixed times");
}

TEST(LongTimesTest, LaunchesOfMonthsAreRefusedByName) {
  ProgramMaker maker(1);
  for (int i = 0; i < 2200; ++i) {  // an hour each: 91.7 days
    maker.fixed("x", 1);
  }
  Profile profile;
  profile.launch_overhead_seconds = 3600;
  EXPECT_EQ(error_of_simulating(maker.program(), &profile),
            "the last tasks are launched after more than 90 days of launches and of work that host "
            "waits wait for; lower launch_overhead, or check sizes, rates and fixed times");
}

}  // namespace
}  // namespace moesim
