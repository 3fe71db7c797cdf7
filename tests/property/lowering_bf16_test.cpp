// Tensors stored as BF16: each task on its own, on inputs that BF16 holds exactly, beside the CPU
// backend's FP32.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "kernels/inputs.h"
#include "kernels/operation.h"
#include "sim/cli/validate/equality_cases.h"
#include "sim/program/role_table.h"
#include "sim/schedule/unit_evaluator.h"
#include "tests/property/random_model.h"
#include "tests/support/host_attention.h"
#include "tests/support/lowered_run.h"

namespace moesim {
namespace {

void run_on_host(const RowMap& map, const Task& task, TensorStore& tensors) {
  const RoleTable roles(map.program());
  for (const int role : roles.running(task)) {
    for (const int rank : roles.ranks(role)) {
      if (const auto operation = make_operation(map, task, rank, Rounding::kOff)) {
        operation->run(tensors);
      }
    }
  }
}

// |actual - expected| over |expected|, in the Euclidean norm over the rows that the region names on
// all ranks; 0 where neither has anything.
double distance(const RowMap& map,
                const Task& task,
                const Region& region,
                const TensorStore& actual,
                const TensorStore& expected) {
  double difference = 0;
  double norm = 0;
  const int columns = map.program().tensors[static_cast<size_t>(region.tensor)].columns;
  for (const int rank : actual.ranks()) {
    for (const RowSpan& span : map.spans(task, region, Use::kWrite, rank)) {
      const int64_t count = int64_t{span.valid} * columns;
      const float* left = actual.values(rank, region.tensor, span.first);
      const float* right = expected.values(rank, region.tensor, span.first);
      for (int64_t i = 0; i < count; ++i) {
        if (std::isnan(left[i]) && std::isnan(right[i])) {
          continue;  // of a rank that does not run the task
        }
        difference += std::pow(double{left[i]} - double{right[i]}, 2);
        norm += std::pow(double{right[i]}, 2);
      }
    }
  }
  return norm == 0 ? std::sqrt(difference) : std::sqrt(difference / norm);
}

// BF16 has 8 bits: an element that is rounded to it moves by at most 2^-8 of itself. Between what a
// task reads and what it writes values are rounded up to four times (expert backward: the gradient
// of the activation, of the hidden values, and a sum over two blocks of rows); sums are FP32.
constexpr double kTolerance = 4.0 / 256;

// Probabilities that are equal in BF16 may choose another expert than in FP32.
bool may_choose_otherwise(const Task& task, size_t write) {
  const auto* gate = std::get_if<Gate>(&task.descriptor);
  return gate != nullptr && gate->routing == kNone && !gate->no_drop &&
         task.pass != Pass::kBackward && write > 0;
}

bool is_attention(const Task& task) {
  return std::holds_alternative<Attention>(task.descriptor);
}

// Runs the task both ways on what the store holds, and leaves the device's results there. `fused`:
// a planner, if attention is to be fused.
void expect_near(const RowMap& map, int index, FusedAttentionPlanner* fused, TensorStore& tensors) {
  const Program& program = map.program();
  const Task& task = program.tasks[static_cast<size_t>(index)];
  TensorStore expected = tensors;
  const testing::LoweredOptions options{.rounding = Rounding::kOff,
                                        .storage = Storage::kOwnType,
                                        .only_task = index,
                                        .attention = fused};
  const testing::LoweredRun run = testing::run_lowered(map, options, tensors);
  if (!computes(task.descriptor)) {
    return;
  }
  EXPECT_EQ(run.steps.contains("fused_attention"), fused != nullptr && is_attention(task));
  EXPECT_EQ(run.steps.contains("softmax_rows"), fused == nullptr && is_attention(task));
  run_on_host(map, task, expected);
  for (size_t i = 0; i < task.writes.size(); ++i) {
    const auto tensor = static_cast<size_t>(task.writes[i].tensor);
    if (program.tensors[tensor].dtype != DataType::kInt32 && !may_choose_otherwise(task, i)) {
      EXPECT_LE(distance(map, task, task.writes[i], tensors, expected), kTolerance)
          << "task '" << task.name << "' writes '" << program.tensors[tensor].name << "'";
    }
  }
}

void round_inputs(TensorStore& tensors) {
  const Program& program = tensors.program();
  for (const int rank : tensors.ranks()) {
    for (size_t i = 0; i < program.tensors.size(); ++i) {
      const Tensor& tensor = program.tensors[i];
      if (element_type(tensor, Storage::kOwnType) == ElementType::kBfloat16) {
        float* values = tensors.values(rank, static_cast<int>(i));
        std::transform(values, values + tensor.bytes() / 2, values, [](float value) {
          return to_float(to_bfloat16(value));
        });
      }
    }
  }
}

void expect_each_near(const std::string& schedule, FusedAttentionPlanner* fused) {
  constexpr uint64_t kSeed = 20260502;
  constexpr int kNumModels = 4;
  for (uint64_t trial = 0; trial < kNumModels; ++trial) {
    Random random(kSeed, trial);
    Scenario scenario = testing::random_scenario(schedule, random);
    scenario.model.dtype = DataType::kBf16;
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << ", trial " << trial);
    const Degrees degrees = validation::degrees_to_try(schedule, scenario).back();
    const Program program = build_schedule(schedule, scenario, degrees, unit_evaluator());
    const RowMap map(program);
    TensorStore tensors(program);
    fill_inputs(InputData::kReal, tensors);
    round_inputs(tensors);
    for (int task = 0; task < static_cast<int>(program.tasks.size()); ++task) {
      expect_near(map, task, fused, tensors);
    }
  }
}

class Bfloat16Test : public ::testing::TestWithParam<std::string> {};

TEST_P(Bfloat16Test, EveryTaskIsNear) {
  expect_each_near(GetParam(), nullptr);
}

TEST_P(Bfloat16Test, EveryTaskIsNearWithFusedAttention) {
  testing::AnyAttention fused;
  expect_each_near(GetParam(), &fused);
}

INSTANTIATE_TEST_SUITE_P(AllSchedules,
                         Bfloat16Test,
                         ::testing::ValuesIn(schedule_names()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace moesim
