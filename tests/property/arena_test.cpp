// Tensors that share memory in an arena are never alive at once: against the order of tasks as a
// full matrix, found the slow way, for random Programs and for those of all schedules. And what
// sharing saves.
#include <algorithm>
#include <iostream>

#include <gtest/gtest.h>

#include "kernels/device/arena_plan.h"
#include "kernels/device/issue_order.h"
#include "kernels/device/lowering_space.h"
#include "sim/base/units.h"
#include "sim/cli/validate/equality_cases.h"
#include "sim/io/inputs.h"
#include "sim/program/role_table.h"
#include "sim/schedule/unit_evaluator.h"
#include "tests/property/equality_model.h"
#include "tests/property/random_program.h"

namespace moesim {
namespace {

// follows[later][earlier]: whether the earlier of two tasks of a role is over before the later one
// begins: the transitive closure of streams, waits and host waits.
std::vector<std::vector<bool>> order_of(const Program& program, const std::vector<bool>& runs) {
  const size_t size = program.tasks.size();
  std::vector<std::vector<bool>> follows(size, std::vector<bool>(size));
  for (size_t later = 0; later < size; ++later) {
    const Task& task = program.tasks[later];
    for (size_t earlier = 0; runs[later] && earlier < later; ++earlier) {
      const bool is_wait = std::count(task.waits.begin(), task.waits.end(), earlier) > 0;
      const int stream = program.tasks[earlier].stream;
      if (runs[earlier] && (is_wait || stream == kNone || stream == task.stream)) {
        follows[later][earlier] = true;
        for (size_t other = 0; other < earlier; ++other) {
          follows[later][other] = follows[later][other] || follows[earlier][other];
        }
      }
    }
  }
  return follows;
}

class BruteForce {
 public:
  BruteForce(const Program& program, int role) : uses_(program.tensors.size()) {
    const RoleTable roles(program);
    std::vector<bool> runs;
    for (const Task& task : program.tasks) {
      const std::vector<int>& running = roles.running(task);
      runs.push_back(std::count(running.begin(), running.end(), role) > 0);
      for (const auto* regions : {&task.reads, &task.writes}) {
        for (const Region& region : *regions) {
          if (runs.back()) {
            uses_[region.tensor].push_back(runs.size() - 1);
          }
        }
      }
    }
    follows_ = order_of(program, runs);
  }

  bool is_used(int tensor) const { return !uses_[tensor].empty(); }

  bool apart(int one, int other) const { return before(one, other) || before(other, one); }

 private:
  bool before(int one, int other) const {
    for (const size_t earlier : uses_[one]) {
      for (const size_t later : uses_[other]) {
        if (!follows_[later][earlier]) {
          return false;
        }
      }
    }
    return true;
  }

  std::vector<std::vector<size_t>> uses_;  // by tensor: tasks
  std::vector<std::vector<bool>> follows_;
};

std::vector<int64_t> sizes_of(const Program& program) {
  std::vector<int64_t> sizes;
  for (const Tensor& tensor : program.tensors) {
    sizes.push_back(kDeviceAlignment * tensor.bytes());  // so that nothing is lost to it
  }
  return sizes;
}

// Returns the sum of the buffers that the role uses.
int64_t check_arena(const Program& program,
                    int role,
                    const std::vector<bool>& is_kept,
                    const ArenaPlan& plan) {
  const std::vector<int64_t> sizes = sizes_of(program);
  const BruteForce lives(program, role);
  int64_t sum = 0;
  const auto num_tensors = static_cast<int>(sizes.size());
  for (int one = 0; one < num_tensors; ++one) {
    EXPECT_EQ(plan.offsets[one] == kNone, !lives.is_used(one));
    if (!lives.is_used(one)) {
      continue;
    }
    sum += sizes[one];
    EXPECT_EQ(plan.offsets[one] % kDeviceAlignment, 0);
    EXPECT_LE(plan.offsets[one] + sizes[one], plan.bytes);
    for (int other = one + 1; other < num_tensors; ++other) {
      const bool overlap = lives.is_used(other) &&
                           plan.offsets[one] < plan.offsets[other] + sizes[other] &&
                           plan.offsets[other] < plan.offsets[one] + sizes[one];
      EXPECT_TRUE(!overlap || (!is_kept[one] && !is_kept[other] && lives.apart(one, other)))
          << program.tensors[one].name << " and " << program.tensors[other].name;
    }
  }
  return sum;
}

// Tasks of two roles on three streams, host waits among them; each touches a few of the tensors
// whose turn it is, and waits for a few earlier tasks. What it computes, and whether it races, is
// nothing to an arena.
Program random_lives(Random& random) {
  constexpr int kNumTensors = 20;
  constexpr int kNumTasks = 60;
  const auto pick = [&](int64_t first, int64_t last) {
    return static_cast<int>(random.uniform_int(first, last));
  };
  Program program;
  program.num_ranks = 2;
  program.roles = {{"first", {0}}, {"second", {1}}};
  program.streams = {"a", "b", "c"};
  for (int i = 0; i < kNumTensors; ++i) {
    program.tensors.emplace_back().rows = pick(1, 9);
    program.tensors.back().columns = 1;
  }
  for (int index = 0; index < kNumTasks; ++index) {
    Task task;
    task.stream = pick(0, 9) == 0 ? kNone : pick(0, 2);
    task.descriptor = task.stream == kNone ? Descriptor(HostWait{}) : Descriptor(Fixed{});
    if (pick(0, 2) == 0) {
      task.roles = {pick(0, 1)};
    }
    for (int i = pick(0, 2); i > 0; --i) {
      const int turn = index * kNumTensors / kNumTasks + pick(-1, 1);
      Region region;
      region.tensor = std::clamp(turn, 0, kNumTensors - 1);
      region.num_blocks = 1;
      region.num_rows = 1;
      (pick(0, 1) == 0 ? task.reads : task.writes).push_back(region);
    }
    for (int i = pick(0, 3); i > 0 && index > 0; --i) {
      task.waits.push_back(pick(std::max(0, index - 8), index - 1));
    }
    program.tasks.push_back(task);
  }
  return program;
}

TEST(ArenaTest, RandomPrograms) {
  constexpr uint64_t kSeed = 20261130;
  constexpr int kNumPrograms = 300;
  int64_t arenas = 0;
  int64_t buffers = 0;
  for (int trial = 0; trial < kNumPrograms; ++trial) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << ", trial " << trial);
    Random random(kSeed, static_cast<uint64_t>(trial));
    const Program program = random_lives(random);
    std::vector<bool> is_kept;
    for (size_t tensor = 0; tensor < program.tensors.size(); ++tensor) {
      is_kept.push_back(random.uniform() < 0.1);
    }
    for (int role = 0; role < 2; ++role) {
      const ArenaPlan plan = plan_arena({&program, role, sizes_of(program), is_kept});
      buffers += check_arena(program, role, is_kept, plan);
      arenas += plan.bytes;
    }
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_LT(arenas, buffers * 3 / 4) << "they share little: the test shows little";
}

class ArenaOfScheduleTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ArenaOfScheduleTest, SharesMemory) {
  const Program program = testing::two_chunks(GetParam(), testing::equality_model());
  const std::vector<bool> is_kept = inputs_and_results(program);
  const ArenaPlan plan = plan_arena({&program, 0, sizes_of(program), is_kept});
  const int64_t sum = check_arena(program, 0, is_kept, plan);
  EXPECT_LT(plan.bytes, sum);
}

// The quickstart's model, two chunks in every pass.
TEST_P(ArenaOfScheduleTest, OfARealModel) {
  const Scenario scenario = load_scenario("scenarios/quickstart.txtpb");
  const Program program = testing::two_chunks(GetParam(), scenario);
  std::vector<int64_t> sizes;
  for (const Tensor& tensor : program.tensors) {
    sizes.push_back(tensor.bytes());
  }
  const std::vector<bool> is_kept = inputs_and_results(program);
  const ArenaPlan plan = plan_arena({&program, 0, sizes, is_kept});
  int64_t sum = 0;
  int64_t kept = 0;
  for (size_t tensor = 0; tensor < sizes.size(); ++tensor) {
    const int64_t size = plan.offsets[tensor] == kNone ? 0 : sizes[tensor];
    sum += size;
    kept += is_kept[tensor] ? size : 0;
  }
  EXPECT_LT(plan.bytes, sum);
  EXPECT_GE(plan.bytes, kept);
  std::cout << GetParam() << ": " << program.tensors.size() << " tensors of " << format_bytes(sum)
            << " in an arena of " << format_bytes(plan.bytes) << "; inputs and results "
            << format_bytes(kept) << '\n';
}

INSTANTIATE_TEST_SUITE_P(AllSchedules,
                         ArenaOfScheduleTest,
                         ::testing::ValuesIn(schedule_names()),
                         [](const auto& parameter) { return parameter.param; });

// Everything is issued once, behind what it waits for, and collectives for all members.
void check_order(const Program& program) {
  GroupTable groups;
  groups.update(program);
  const HostScript script = make_host_script(program, groups, 32);
  std::vector<std::vector<bool>> is_issued;
  std::vector<std::vector<size_t>> num_in_lane;
  for (const RankScript& rank : script.ranks) {
    is_issued.emplace_back(rank.tasks.size());
    num_in_lane.emplace_back(rank.lanes.size());
  }
  size_t num_left = 0;
  for (const RankScript& rank : script.ranks) {
    num_left += rank.tasks.size();
  }
  for (const Issue& issue : issue_order(program, script)) {
    for (const auto& [rank, position] : issue.places) {
      const ScriptTask& task = script.ranks[rank].tasks[position];
      ASSERT_EQ(task.meeting, issue.meeting);
      for (const int wait : task.waits) {
        ASSERT_TRUE(is_issued[rank][wait]);
      }
      for (int earlier = 0; earlier < position; ++earlier) {
        ASSERT_TRUE(script.ranks[rank].tasks[earlier].lane != kNone || is_issued[rank][earlier]);
      }
      if (task.lane != kNone) {
        ASSERT_EQ(script.ranks[rank].lanes[task.lane][num_in_lane[rank][task.lane]++], position);
      }
    }
    for (const auto& [rank, position] : issue.places) {
      ASSERT_FALSE(is_issued[rank][position]);
      is_issued[rank][position] = true;
      --num_left;
    }
  }
  EXPECT_EQ(num_left, 0U);
}

TEST(IssueOrderTest, EverySchedule) {
  for (const std::string& schedule : schedule_names()) {
    SCOPED_TRACE(schedule);
    check_order(testing::two_chunks(schedule, testing::equality_model()));
  }
}

// As in scenarios/stages.txtpb.
TEST(IssueOrderTest, Stages) {
  for (const std::string& schedule : schedule_names()) {
    SCOPED_TRACE(schedule);
    const Scenario scenario =
        testing::staged_model({.mp = 2, .dp = 2, .esp = 2, .ep = 2, .edp = 1, .pp = 2});
    check_order(testing::two_chunks(schedule, scenario));
  }
}

TEST(IssueOrderTest, RandomPrograms) {
  constexpr uint64_t kSeed = 20261201;
  constexpr int kNumPrograms = 300;
  for (int trial = 0; trial < kNumPrograms; ++trial) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << ", trial " << trial);
    Random random(kSeed, static_cast<uint64_t>(trial));
    check_order(testing::random_program(random, 30));
    ASSERT_FALSE(HasFailure());
  }
}

}  // namespace
}  // namespace moesim
