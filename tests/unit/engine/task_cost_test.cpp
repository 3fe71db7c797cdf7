// Durations of compute tasks from their work and the profile's figures.
#include "sim/engine/task_cost.h"

#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "tests/unit/engine/program_maker.h"

namespace moesim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Region whole(const Program& program, int tensor) {
  return {.tensor = tensor,
          .num_blocks = program.tensors[tensor].blocks,
          .num_rows = program.tensors[tensor].rows};
}

// An expert over 10 rows of 6 columns with 4 hidden columns, and a copy of 10 rows of 6 fp32.
class TaskCostTest : public testing::Test {
 protected:
  TaskCostTest() {
    Program& program = maker_.program();
    for (const auto& [name, rows, columns] : {std::tuple("x", 10, 6),
                                              std::tuple("w1", 4, 6),
                                              std::tuple("w2", 4, 6),
                                              std::tuple("y", 10, 6),
                                              std::tuple("hidden", 10, 4)}) {
      Tensor& tensor = program.tensors.emplace_back();
      tensor.name = name;
      tensor.rows = rows;
      tensor.columns = columns;
    }
    maker_.fixed("compute", 1);
    expert_ = program.tasks[0];
    expert_.name = "expert";
    expert_.descriptor = Expert{.experts = {0}};
    expert_.reads = {whole(program, 0), whole(program, 1), whole(program, 2)};
    expert_.writes = {whole(program, 3), whole(program, 4)};
    copy_ = expert_;
    copy_.name = "copy";
    copy_.descriptor = Elementwise{};
    copy_.reads = {whole(program, 0)};
    copy_.writes = {whole(program, 3)};
  }

  ProgramMaker maker_{1};
  Cluster cluster_ = make_cluster(1, 1);
  Profile profile_;
  Task expert_;
  Task copy_;
};

TEST_F(TaskCostTest, GemmsPayStartupAndFlops) {
  // Two GEMMs of 2 * 10 * 6 * 4 = 480 FLOP: 2 * 50 + 960 * 3 ps.
  profile_.gemm = GemmCost{50e-12, 3e-12, {}};
  TaskCosts costs(maker_.program(), &cluster_, &profile_);
  EXPECT_EQ(costs.duration(expert_, 0), ps(2 * 50 + 960 * 3));
  EXPECT_THAT(costs.assumptions(), IsEmpty());
}

TEST_F(TaskCostTest, MemoryBoundWorkPaysItsBytes) {
  // Read and written once: 2 * 10 * 6 * 4 bytes at half a byte per picosecond.
  profile_.memory_bytes_per_second = 0.5e12;
  TaskCosts costs(maker_.program(), &cluster_, &profile_);
  EXPECT_EQ(costs.duration(copy_, 0), ps(2 * 10 * 6 * 4 * 2));
}

// 2 us + 960 FLOPs (2 * 10 * 6 * 4 in each of two GEMMs) * 10 ps = 2.0096 us; GEMM figures and the
// other passes' do not count.
TEST_F(TaskCostTest, AnOperationsOwnFigureWins) {
  profile_.gemm = GemmCost{1, 1, {}};
  profile_.operations = {{"expert", Pass::kBackward, 1, 1, 1, {}},
                         {"expert", Pass::kForward, 2e-6, 1e-11, 0, {}}};
  TaskCosts costs(maker_.program(), &cluster_, &profile_);
  EXPECT_EQ(costs.duration(expert_, 0), Time::from_picoseconds(2'009'600));
  expert_.pass = Pass::kRecompute;
  EXPECT_EQ(costs.duration(expert_, 0), Time::from_picoseconds(2'009'600));
}

// 960 FLOPs on the log-log line through 480 FLOPs in 1 us and 1,920 in 16 us: twice the work takes
// four times as long.
TEST_F(TaskCostTest, AnOperationsTableIsInterpolated) {
  profile_.operations = {{"expert", Pass::kForward, 0, 0, 0, {}, {{480, 1e-6}, {1920, 16e-6}}}};
  TaskCosts costs(maker_.program(), &cluster_, &profile_);
  EXPECT_NEAR(costs.duration(expert_, 0).seconds(), 4e-6, 1e-11);
}

TEST_F(TaskCostTest, AbsentFiguresCostNothingAndAreNotedOnce) {
  TaskCosts costs(maker_.program(), &cluster_, &profile_);
  EXPECT_EQ(costs.duration(copy_, 0), Time::zero());
  EXPECT_EQ(costs.duration(expert_, 0), Time::zero());
  EXPECT_EQ(costs.duration(copy_, 0), Time::zero());
  EXPECT_THAT(costs.assumptions(), ElementsAre(HasSubstr("memory rate"), HasSubstr("GEMM")));
}

TEST_F(TaskCostTest, RankScaleIsForFixedTimesOnly) {
  maker_.program().rank_scale = {3};
  profile_.gemm = GemmCost{50e-12, 0, {}};
  TaskCosts costs(maker_.program(), &cluster_, &profile_);
  EXPECT_EQ(costs.duration(maker_.task(0), 0), ps(3));
  EXPECT_EQ(costs.duration(expert_, 0), ps(100));
}

TEST_F(TaskCostTest, WorkNeedsAProfile) {
  TaskCosts costs(maker_.program(), nullptr, nullptr);
  EXPECT_EQ(costs.duration(maker_.task(0), 0), ps(1));
  try {
    costs.duration(expert_, 0);
    FAIL() << "no Error";
  } catch (const Error& error) {
    EXPECT_THAT(error.text(), HasSubstr("'expert'"));
    EXPECT_THAT(error.text(), HasSubstr("profile"));
  }
}

}  // namespace
}  // namespace moesim
