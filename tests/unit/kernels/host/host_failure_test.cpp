// Runs that do not end well: they end, say why, and leave nothing behind.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kernels/hang.h"
#include "kernels/host/host_workers.h"
#include "kernels/host/real_time.h"
#include "sim/base/error.h"
#include "sim/program/verifier.h"
#include "tests/unit/kernels/host/run_program.h"

namespace moesim {
namespace {

using namespace test;
using testing::AllOf;
using testing::HasSubstr;

std::string hang_of(HostExecutor& executor, const Program& program) {
  TensorStore tensors = filled_tensors(program);
  try {
    executor.run(tensors);
  } catch (const Hang& hang) {
    return hang.what();
  }
  return "no hang";
}

// Ranks 1 and 2 of 0, 1, 2 have no task for the second all-to-all; rank 3 goes on meanwhile.
TEST(HostFailureTest, AHangNamesTheCollectiveAndWhoIsMissing) {
  HandProgram hand(4, {"s", "t"});
  const int group = hand.add_group("three", {{3}, {0, 1, 2}});
  hand.add_collective("meets", 0, all_to_all(group), ms(0));
  const int lonely = hand.add_collective("lonely", 0, all_to_all(group), ms(0));
  hand.add_fixed("late", 1, ms(30));
  hand.task(lonely).roles = {0};
  hand.add_fixed("behind", 0, ms(0));  // whose turn it seems to be, but for its stream
  Program program = hand.program();
  program.roles = {{"first", {0}}, {"others", {1, 2, 3}}};
  HostOptions options;
  options.patience = ms(10);
  HostExecutor executor(program, options);
  for (int run = 0; run < 2; ++run) {
    EXPECT_THAT(hang_of(executor, program),
                AllOf(HasSubstr("'lonely1' of group 'three', instance 1 (ranks 0, 1, 2)"),
                      HasSubstr("rank 1, 2 did not arrive")));
  }
}

TEST(HostFailureTest, TheHostHangsToo) {
  HandProgram hand(2, {"s"});
  const int lonely =
      hand.add_collective("lonely", 0, all_to_all(hand.add_group("all", {{0, 1}})), ms(0));
  hand.task(lonely).roles = {0};
  hand.add_host_wait({lonely});
  Program program = hand.program();
  program.roles = {{"first", {0}}, {"second", {1}}};
  HostOptions options;
  options.patience = ms(10);
  HostExecutor executor(program, options);
  EXPECT_THAT(hang_of(executor, program), HasSubstr("rank 1 did not arrive"));
}

// A long task is no hang, however impatient one is.
TEST(HostFailureTest, WhatTakesLongDoesNotHang) {
  HandProgram hand(1, {"s", "t"});
  const int slow = hand.add_fixed("slow", 0, ms(40));
  hand.add_fixed("waits", 1, ms(0), {slow});
  HostOptions options;
  options.patience = ms(1);
  EXPECT_GE(execute(hand.program(), options).trace.end, ms(40));
}

// Rank 1 sleeps for an hour when rank 0's operation throws.
TEST(HostFailureTest, AnErrorEndsTheRunAtOnce) {
  HandProgram hand(2, {"s", "t"});
  const int bad = hand.add(elementwise(0), ms(0));
  hand.add_collective("never", 1, all_to_all(hand.add_group("all", {{0, 1}})), ms(0), {bad});
  hand.add_fixed("long", 0, hours(1));
  HostOptions options;
  options.make_operation = [](const RowMap&, const Task&, int rank) {
    return std::make_unique<Calls>([rank](TensorStore&) {
      if (rank == 0) {
        throw Error("a bad operand");
      }
    });
  };
  HostExecutor executor(hand.program(), options);
  for (int run = 0; run < 2; ++run) {
    TensorStore tensors = filled_tensors(hand.program());
    EXPECT_THROW(executor.run(tensors), Error);
  }
}

// A transport whose processes never agree on a start.
class NoStart : public Transport {
 public:
  MonotonicTime agree_on_start() override { throw std::runtime_error("one does not answer"); }
  void carry_out(int, int, TensorStore&) override {}
  void watch(const std::optional<Standstill>&) override {}
  void fail(std::exception_ptr) override { ++num_failures; }

  int num_failures = 0;
};

// All threads wait at the gate then.
TEST(HostFailureTest, WithoutAStartTheRunEnds) {
  HandProgram hand(2, {"s"});
  hand.add_fixed("f", 0, ms(1));
  const HostOptions options;
  const HostPlan plan = make_host_plan(hand.program(), options, {0, 1});
  HostWorkers workers(plan, options);
  TensorStore tensors = filled_tensors(hand.program());
  NoStart transport;
  EXPECT_THROW(workers.run(tensors, &transport), std::runtime_error);
  EXPECT_EQ(transport.num_failures, 1);
}

// As a user who may have no thread more, which root may always: 64 ranks with one stream each.
void start_without_threads() {
  constexpr uid_t kNobody = 65534;
  const rlimit none{1, 1};
  if ((getuid() == 0 && setuid(kNobody) != 0) || setrlimit(RLIMIT_NPROC, &none) != 0) {
    std::exit(77);
  }
  HandProgram hand(64, {"s"});
  hand.add_fixed("f", 0, ms(1));
  try {
    const HostExecutor executor(hand.program(), {});
  } catch (const Failure& failure) {
    std::fputs(failure.what(), stderr);
    std::exit(1);
  }
  std::exit(0);
}

bool ended_as_it_can(int status) {
  return testing::ExitedWithCode(1)(status) || testing::ExitedWithCode(77)(status);
}

// The threads that did start have ended then.
TEST(HostFailureDeathTest, TooFewThreadsAreAFailure) {
  EXPECT_EXIT(start_without_threads(),
              ended_as_it_can,
              "^$|this machine starts [0-9]+ of the 128 threads that ranks and their streams need "
              "\\(Resource temporarily unavailable; ulimit -u is 1\\); raise the limit");
}

// gather -> y on one stream, sum y -> z on another. Without the wait, the verifier sees a race, and
// with delays the sum reads what is not there yet on some seed.
Program two_collectives(bool waits) {
  HandProgram hand(2, {"a", "b"});
  Collective gather;
  gather.operation = CollectiveOperation::kAllGather;
  gather.group = hand.add_group("all", {{0, 1}});
  Collective sum;
  sum.group = gather.group;
  const int x = hand.add_tensor("x", 1, true);
  const int y = hand.add_tensor("y", 2);
  const int z = hand.add_tensor("z", 2);
  const int first = hand.add_collective("gather", 0, gather, ms(0));
  hand.task(first).reads = {rows(hand.program(), x)};
  hand.task(first).writes = {rows(hand.program(), y)};
  const int second = hand.add_collective("sum", 1, sum, ms(0));
  hand.task(second).reads = {rows(hand.program(), y)};
  hand.task(second).writes = {rows(hand.program(), z)};
  for (const int task : {first, second}) {
    std::get<Collective>(hand.task(task).descriptor).bytes = 8;
  }
  if (waits) {
    hand.task(second).waits = {first};
  }
  return hand.program();
}

// The number of seeds on which z is not twice y.
int num_wrong(const Program& program, int num_seeds) {
  int wrong = 0;
  for (int seed = 0; seed < num_seeds; ++seed) {
    HostOptions options;
    options.delays = DelayInjection{static_cast<uint64_t>(seed), ms(5)};
    TensorStore tensors = filled_tensors(program);
    HostExecutor(program, options).run(tensors);
    wrong += tensors.values(0, 2)[0] == 2 * tensors.values(0, 0)[0] ? 0 : 1;
  }
  return wrong;
}

TEST(HostFailureTest, DelaysShowAMissingWait) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the race is meant";
#endif
  const Program right = two_collectives(true);
  EXPECT_TRUE(verify(right).ok());
  EXPECT_EQ(num_wrong(right, 20), 0);
  const Program wrong = two_collectives(false);
  const Verdict verdict = verify(wrong);
  ASSERT_EQ(verdict.problems.size(), 1U);
  EXPECT_EQ(verdict.problems[0].kind, ProblemKind::kRace);
  EXPECT_GT(num_wrong(wrong, 20), 0);
}

}  // namespace
}  // namespace moesim
