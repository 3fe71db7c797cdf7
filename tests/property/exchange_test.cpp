// The calls of NCCL that the members of a collective make leave the bytes that the plan of the
// collective leaves, on integer data: for every collective of every schedule's Programs, balanced,
// skewed, with drops and on stages, and for random ones; by sends and by ncclAlltoAll.
#include <algorithm>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "kernels/apply_moves.h"
#include "kernels/host/host_script.h"
#include "sim/base/random.h"
#include "sim/cli/validate/equality_cases.h"
#include "sim/schedule/unit_evaluator.h"
#include "tests/property/random_model.h"
#include "tests/support/exchange_runner.h"
#include "tests/support/hand_program.h"

namespace moesim {
namespace {

// Two stores of one Program: one for MoveRunner, one for NCCL's calls.
class Twins {
 public:
  Twins(const Program& program, uint64_t seed)
      : program_(program), random_(seed), expected_(program), actual_(program) {}

  // Integers in [-4, 4] in all rows of a tensor, the same in both: sums are exact.
  void fill(int tensor) {
    const int64_t words = int64_t{program_.tensors[tensor].blocks} * program_.tensors[tensor].rows *
                          program_.tensors[tensor].columns;
    for (int rank = 0; rank < program_.num_ranks; ++rank) {
      for (int64_t word = 0; word < words; ++word) {
        const auto value = random_.uniform_int(-4, 4);
        if (program_.tensors[tensor].dtype == DataType::kInt32) {
          expected_.indices(rank, tensor)[word] = static_cast<int32_t>(value);
        } else {
          expected_.values(rank, tensor)[word] = static_cast<float>(value);
        }
      }
      const auto all = expected_.contents(rank, tensor);
      std::copy(all.begin(), all.end(), actual_.bytes(rank, tensor));
    }
  }

  void run(const MovePlan& moves,
           CollectiveOperation operation,
           bool native,
           const std::vector<int>& ranks) {
    MoveRunner(moves, ranks, expected_).run();
    test::run_exchange(moves, operation, native, ranks, actual_);
  }

  bool are_equal(int tensor) const {
    for (int rank = 0; rank < program_.num_ranks; ++rank) {
      if (!std::ranges::equal(expected_.contents(rank, tensor), actual_.contents(rank, tensor))) {
        return false;
      }
    }
    return true;
  }

 private:
  const Program& program_;
  Random random_;
  TensorStore expected_;
  TensorStore actual_;
};

// Runs each collective of a Program by both. Returns how many there were.
int check_collectives(const Program& program, uint64_t seed) {
  const RowMap map(program);
  const HostScript script = make_host_script(program, map.groups(), 32);
  Twins twins(program, seed);
  int checked = 0;
  for (size_t i = 0; i < script.meetings.size(); ++i) {
    const std::vector<int>& members = script.members(program, static_cast<int>(i));
    std::vector<const Task*> tasks;
    std::set<int> tensors;
    for (const int index : script.meetings[i].tasks) {
      tasks.push_back(&program.tasks.at(static_cast<size_t>(index)));
      for (const auto* regions : {&tasks.back()->reads, &tasks.back()->writes}) {
        for (const Region& region : *regions) {
          tensors.insert(region.tensor);
        }
      }
    }
    if (tensors.empty()) {
      continue;
    }
    std::ranges::for_each(tensors, [&](int tensor) { twins.fill(tensor); });
    const auto operation = std::get<Collective>(tasks.front()->descriptor).operation;
    const MovePlan moves = plan_collective(map, tasks, members);
    twins.run(moves, operation, i % 2 == 0, members);
    for (const int tensor : tensors) {
      EXPECT_TRUE(twins.are_equal(tensor))
          << tasks.front()->name << ", tensor " << program.tensors[tensor].name;
    }
    ++checked;
  }
  return checked;
}

class ExchangeTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ExchangeTest, EveryCollectiveOfTheSchedule) {
  constexpr uint64_t kSeed = 20261130;
  int checked = 0;
  for (const auto& [schedule, load, scenario, degrees] : validation::equality_cases(GetParam())) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << ", " << to_string(load) << ", "
                                      << validation::describe(scenario, degrees));
    const Program program = build_schedule(schedule, scenario, degrees, unit_evaluator());
    checked += check_collectives(program, kSeed);
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(checked, 0);
}

TEST_P(ExchangeTest, RandomModels) {
  constexpr uint64_t kSeed = 20261201;
  constexpr int kNumModels = 20;
  for (uint64_t trial = 0; trial < kNumModels; ++trial) {
    Random random(kSeed, trial);
    const Scenario scenario = testing::random_scenario(GetParam(), random);
    const Degrees degrees = testing::random_degrees(GetParam(), scenario, random);
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << ", trial " << trial << ": "
                                      << validation::describe(scenario, degrees));
    const Program program = build_schedule(GetParam(), scenario, degrees, unit_evaluator());
    check_collectives(program, kSeed + trial);
    ASSERT_FALSE(HasFailure());
  }
}

INSTANTIATE_TEST_SUITE_P(AllSchedules,
                         ExchangeTest,
                         ::testing::ValuesIn(schedule_names()),
                         [](const auto& parameter) { return parameter.param; });

// Rows of x or y, in up to three pieces with gaps between them, in this order.
std::vector<Region> random_pieces(Random& random, int tensor, int num_rows) {
  std::vector<Region> pieces;
  int next = static_cast<int>(random.uniform_int(0, 2));
  while (num_rows > 0) {
    const bool is_last = pieces.size() == 2;
    const int count = is_last ? num_rows : static_cast<int>(random.uniform_int(1, num_rows));
    pieces.push_back(test::rows(tensor, next, count));
    next += count + static_cast<int>(random.uniform_int(0, 2));
    num_rows -= count;
  }
  random.shuffle(pieces);
  return pieces;
}

// One collective of up to 5 members in random order, whose regions are random pieces.
Program random_collective(Random& random) {
  const auto size = static_cast<int>(random.uniform_int(2, 5));
  test::HandProgram hand(size, {"s"});
  std::vector<int> members(size);
  std::iota(members.begin(), members.end(), 0);
  random.shuffle(members);
  Collective collective;
  collective.operation = static_cast<CollectiveOperation>(random.uniform_int(0, 5));
  collective.group = hand.add_group("group", {members});
  collective.distance = static_cast<int>(random.uniform_int(-size, size));
  collective.wrap = random.uniform_int(0, 1) == 0;
  collective.root = static_cast<int>(random.uniform_int(0, size - 1));
  const int part = static_cast<int>(random.uniform_int(1, 3));
  const auto many = [&](bool all) { return all ? part * size : part; };
  using enum CollectiveOperation;
  const int read = many(collective.operation != kAllGather);
  const int written = many(collective.operation != kReduceScatter);
  const int x = hand.add_tensor("x", read + 8, true);
  const int y = hand.add_tensor("y", written + 8);
  const int task = hand.add_collective("c", 0, collective, test::ps(1));
  hand.task(task).reads = random_pieces(random, x, read);
  hand.task(task).writes = random_pieces(random, y, written);
  return hand.program();
}

TEST(RandomExchangeTest, LeavesTheBytesOfThePlan) {
  constexpr uint64_t kSeed = 20261202;
  for (uint64_t trial = 0; trial < 2000; ++trial) {
    Random random(kSeed, trial);
    const Program program = random_collective(random);
    const auto& collective = std::get<Collective>(program.tasks[0].descriptor);
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << ", trial " << trial << ": "
                                      << to_string(collective.operation));
    const RowMap map(program);
    const std::vector<int>& members = program.groups[0].members[0];
    const MovePlan moves = plan_collective(map, program.tasks[0], members);
    Twins twins(program, kSeed + trial);
    twins.fill(0);
    twins.fill(1);
    twins.run(moves, collective.operation, random.uniform_int(0, 1) == 0, members);
    ASSERT_TRUE(twins.are_equal(1));
  }
}

}  // namespace
}  // namespace moesim
