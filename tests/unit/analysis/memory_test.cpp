#include "sim/analysis/memory.h"

#include <gtest/gtest.h>

#include "tests/support/hand_program.h"
#include "tests/support/recurrence.h"

namespace moesim {
namespace {

using test::HandProgram;
using test::ps;
using test::run_recurrence;

// Tensors of R rows have 4*R bytes.
class MemoryTest : public ::testing::Test {
 protected:
  int add(const std::string& kind,
          const std::vector<int>& reads,
          const std::vector<int>& writes,
          Pass pass = Pass::kForward,
          const Descriptor& descriptor = Elementwise{}) {
    Task task;
    task.kind = kind;
    task.stream = 0;
    task.pass = pass;
    task.descriptor = descriptor;
    for (const int tensor : reads) {
      task.reads.push_back(test::rows(hand_.program(), tensor));
    }
    for (const int tensor : writes) {
      task.writes.push_back(test::rows(hand_.program(), tensor));
    }
    return hand_.add(std::move(task), ps(10));
  }

  MemoryUse use() const {
    return memory_use(hand_.program(), run_recurrence(hand_.program(), hand_.durations()));
  }

  HandProgram hand_{1, {"compute"}};
};

// x -> a -> b -> c: x lives throughout, each other tensor while it is made and read. Fullest while
// b is made (x, a, b: 40 + 400 + 80) or c (x, b, c: 40 + 80 + 800).
TEST_F(MemoryTest, TensorsLiveFromFirstWriterToLastUser) {
  const int x = hand_.add_tensor("x", 10, true);
  const int a = hand_.add_tensor("a", 100);
  const int b = hand_.add_tensor("b", 20);
  const int c = hand_.add_tensor("c", 200);
  add("first", {x}, {a});
  add("second", {a}, {b});
  add("third", {b}, {c});
  const MemoryUse memory = use();
  EXPECT_EQ(memory.peak_bytes, 920);
  EXPECT_EQ(memory.activation_bytes, 920);
}

// a is freed by the second task when the third begins, at the same moment: they never meet.
TEST_F(MemoryTest, EqualTimesAreOrderedByTask) {
  const int x = hand_.add_tensor("x", 1, true);
  const int a = hand_.add_tensor("a", 100);
  const int b = hand_.add_tensor("b", 1);
  const int c = hand_.add_tensor("c", 100);
  add("first", {x}, {a});
  add("second", {a}, {b});
  add("third", {b}, {c});
  EXPECT_EQ(use().peak_bytes, 4 + 400 + 4);
}

// Nobody reads `a` again after its last write: it is a result and meets `b` at the end.
TEST_F(MemoryTest, ResultsLiveToTheEnd) {
  const int x = hand_.add_tensor("x", 1, true);
  const int a = hand_.add_tensor("a", 100);
  const int b = hand_.add_tensor("b", 50);
  add("first", {x}, {a});
  add("again", {a}, {a});
  add("second", {x}, {b});
  EXPECT_EQ(use().peak_bytes, 4 + 400 + 200);
}

// `hidden` is made beside `y` and never read, as where a layer recomputes it: gone when z is made.
TEST_F(MemoryTest, WorkspacesLiveAsLongAsTheirTask) {
  const int x = hand_.add_tensor("x", 1, true);
  const int y = hand_.add_tensor("y", 2);
  const int hidden = hand_.add_tensor("hidden", 100);
  const int z = hand_.add_tensor("z", 90);
  add("expert", {x}, {y, hidden});
  add("next", {y}, {z});
  EXPECT_EQ(use().peak_bytes, 4 + 8 + 400);  // and not 4 + 8 + 400 + 360
}

// An expert reads x and its weight; its gradient is reduced in place and read by the optimizer,
// which has a state of its own. Fullest in the update: everything but the output.
TEST_F(MemoryTest, ToldApartByUse) {
  const int x = hand_.add_tensor("x", 1, true);
  const int w = hand_.add_tensor("w", 10, true);
  const int state = hand_.add_tensor("state", 20, true);
  const int y = hand_.add_tensor("y", 2);
  const int dw = hand_.add_tensor("dw", 10);
  add("expert", {x, w}, {y}, Pass::kForward, Expert{});
  add("expert", {y, x, w}, {dw}, Pass::kBackward, Expert{});
  add("optimizer", {w, dw, state}, {w, state}, Pass::kUpdate, Optimizer{});
  const MemoryUse memory = use();
  EXPECT_EQ(memory.weight_bytes, 40);
  EXPECT_EQ(memory.optimizer_bytes, 80);
  EXPECT_EQ(memory.gradient_bytes, 40);
  EXPECT_EQ(memory.activation_bytes, 4 + 8);  // x and y, while the expert's backward runs
  EXPECT_EQ(memory.peak_bytes, 40 + 80 + 40 + 12);
}

TEST_F(MemoryTest, WeightsAreKnownWithoutAnOptimizer) {
  const int x = hand_.add_tensor("x", 1, true);
  const int w = hand_.add_tensor("w", 10, true);
  const int y = hand_.add_tensor("y", 2);
  add("gate", {x, w}, {y}, Pass::kForward, Gate{});
  EXPECT_EQ(use().weight_bytes, 40);
}

// Without an optimizer nobody reads the gradient: it is told by being what the backward pass
// leaves.
TEST_F(MemoryTest, GradientsAreKnownWithoutAnOptimizer) {
  const int x = hand_.add_tensor("x", 1, true);
  const int y = hand_.add_tensor("y", 3);
  const int dy = hand_.add_tensor("dy", 5);
  const int dw = hand_.add_tensor("dw", 10);
  add("forward", {x}, {y});
  add("loss", {y}, {dy}, Pass::kBackward);
  add("backward", {dy, x}, {dw}, Pass::kBackward);
  add("reduce", {dw}, {dw}, Pass::kBackward);
  const MemoryUse memory = use();
  EXPECT_EQ(memory.gradient_bytes, 40);
  EXPECT_EQ(memory.activation_bytes, 4 + 20);  // x and dy, while dw is made
}

TEST_F(MemoryTest, UnusedTensorsTakeNothing) {
  hand_.add_tensor("unused", 1000, true);
  add("nothing", {}, {});
  EXPECT_EQ(use().peak_bytes, 0);
}

// Role "big" holds 400 bytes, role "small" 40: the fullest rank counts.
TEST(MemoryOfRolesTest, TheFullestRankCounts) {
  Program program;
  program.num_ranks = 2;
  program.streams = {"compute"};
  program.roles = {{"small", {0}}, {"big", {1}}};
  for (const int size : {10, 100}) {
    Tensor tensor;
    tensor.rows = size;
    tensor.columns = 1;
    program.tensors.push_back(tensor);
  }
  for (int role = 0; role < 2; ++role) {
    Task task;
    task.roles = {role};
    task.stream = 0;
    task.writes = {test::rows(program, role)};
    program.tasks.push_back(task);
  }
  const Trace trace = run_recurrence(program, {ps(1), ps(1)});
  EXPECT_EQ(memory_use(program, trace).peak_bytes, 400);
}

// Rank 0 makes a (400 bytes) and sends it, rank 1 receives it as b (400) and makes c (40) of it.
// The sender never has b, the receiver never a.
TEST(MemoryOfRolesTest, AShiftHasASenderAndAReceiver) {
  HandProgram hand(2, {"compute"});
  Collective shift;
  shift.operation = CollectiveOperation::kShift;
  shift.group = hand.add_group("pp_even", {{0, 1}});
  shift.distance = 1;
  const int a = hand.add_tensor("a", 100);
  const int b = hand.add_tensor("b", 100);
  const int c = hand.add_tensor("c", 10);
  Program program = hand.program();
  program.roles = {{"stage0", {0}}, {"stage1", {1}}};
  const auto add = [&](std::vector<int> roles, const Descriptor& descriptor) -> Task& {
    Task& task = program.tasks.emplace_back();
    task.roles = std::move(roles);
    task.stream = 0;
    task.descriptor = descriptor;
    return task;
  };
  add({0}, Elementwise{}).writes = {test::rows(program, a)};
  Task& moves = add({0, 1}, shift);
  moves.reads = {test::rows(program, a)};
  moves.writes = {test::rows(program, b)};
  Task& uses = add({1}, Elementwise{});
  uses.reads = {test::rows(program, b)};
  uses.writes = {test::rows(program, c)};
  const Trace trace = run_recurrence(program, {ps(1), ps(1), ps(1)});
  EXPECT_EQ(memory_use(program, trace).peak_bytes, 440);
}

}  // namespace
}  // namespace moesim
