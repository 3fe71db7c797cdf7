#include "sim/analysis/dropping.h"

#include <gtest/gtest.h>

namespace moesim {
namespace {

// One gate of two experts with `rows` rows each on one rank, which wants 8 and 2 of them.
Program gate_program(int rows) {
  Program program;
  program.num_ranks = 1;
  program.streams = {"compute"};
  program.tensors = {{"probs", 1, 5, 2, DataType::kFp32, false, 0, {}},
                     {"index", 2, rows, 1, DataType::kInt32, false, 0, {}}};
  program.routings = {{"skewed", {{8, 2}}}};
  Task task;
  task.name = "gate";
  task.stream = 0;
  Gate gate;
  gate.top_k = 2;
  gate.experts = {0, 1};
  gate.routing = 0;
  task.descriptor = gate;
  task.writes = {{0, 0, 1, 0, 5, kNone}, {1, 0, 2, 0, rows, kNone}};
  program.tasks = {task};
  return program;
}

TEST(DroppingTest, CountsWhatExceedsTheCapacity) {
  // Capacity 5: (8 - 5) + 0 of 10 choices.
  EXPECT_DOUBLE_EQ(dropped_share(gate_program(5)), 0.3);
  EXPECT_DOUBLE_EQ(dropped_share(gate_program(8)), 0);
}

TEST(DroppingTest, AnExpertsSlotsGoOnThroughItsBlocks) {
  Program program = gate_program(3);  // four blocks of 3 rows: 6 for each expert
  program.tensors[1].blocks = 4;
  program.tasks[0].writes[1].num_blocks = 4;
  std::get<Gate>(program.tasks[0].descriptor).experts = {0, 1, 0, 1};
  EXPECT_DOUBLE_EQ(dropped_share(program), 0.2);
}

TEST(DroppingTest, NothingIsDroppedWithoutCapacityOrRouting) {
  Program program = gate_program(5);
  std::get<Gate>(program.tasks[0].descriptor).no_drop = true;
  EXPECT_DOUBLE_EQ(dropped_share(program), 0);
  program = gate_program(5);
  std::get<Gate>(program.tasks[0].descriptor).routing = kNone;
  EXPECT_DOUBLE_EQ(dropped_share(program), 0);
  EXPECT_DOUBLE_EQ(kept_share(Program{}), 1);
}

// 5 tokens choose 2 experts each; two experts with 3 rows keep 6 of the 10 choices.
TEST(DroppingTest, ASmallCapacityDropsBalancedChoicesToo) {
  Program program = gate_program(3);
  std::get<Gate>(program.tasks[0].descriptor).routing = kNone;
  EXPECT_DOUBLE_EQ(kept_share(program), 0.6);
  EXPECT_DOUBLE_EQ(dropped_share(program), 0.4);
}

// Experts that choose their tokens fill all rows: 2 * 10 pairs, where 5 tokens would choose 10.
TEST(DroppingTest, ExpertsThatChooseFillTheirRows) {
  Program program = gate_program(10);
  Gate& gate = std::get<Gate>(program.tasks[0].descriptor);
  gate.routing = kNone;
  gate.gate = GateKind::kExpertChoice;
  EXPECT_DOUBLE_EQ(kept_share(program), 2);
  EXPECT_DOUBLE_EQ(dropped_share(program), 0);
}

}  // namespace
}  // namespace moesim
