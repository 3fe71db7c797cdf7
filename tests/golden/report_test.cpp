// Everything that sim/report prints of one small iteration made by hand, as files to look at: two
// layers of an FSMoE-like schedule on two nodes of two GPUs, of which rank 3 is slower by half.
#include <gtest/gtest.h>

#include "sim/report/result.h"
#include "sim/report/timeline.h"
#include "tests/support/golden.h"
#include "tests/support/hand_program.h"
#include "tests/support/rank_work.h"
#include "tests/support/recurrence.h"

namespace moesim {
namespace {

using test::golden_difference;
using test::HandProgram;
using test::ps;

class ReportGoldenTest : public ::testing::Test {
 protected:
  ReportGoldenTest()
      : hand_(test::two_layer_program()), even_(test::folded(run(1))), uneven_(run(1.5)) {
    cluster_.num_nodes = 2;
    cluster_.gpus_per_node = 2;
    cluster_.gpu_memory_bytes = std::int64_t{8} << 30;
    even_.assumptions = {"all ranks are alike", "tasks have the durations that the test gives"};
    uneven_.assumptions = {"rank 3 takes half as long again"};
  }

  Trace run(double scale_of_rank_3) const {
    return test::run_recurrence(
        hand_.program(),
        hand_.durations(),
        {.launch_overhead = ps(10'000), .rank_scale = {1, 1, 1, scale_of_rank_3}});
  }

  SimulationResult result(const Trace& trace, const std::string& schedule) const {
    ResultInputs inputs;
    inputs.program = &hand_.program();
    inputs.trace = &trace;
    inputs.cluster = &cluster_;
    inputs.schedule = schedule;
    inputs.inputs_hash = "0123456789abcdef";
    SimulationResult result = make_result(
        inputs,
        lower_bounds(hand_.program(), test::work_of_ranks(hand_.program(), hand_.durations())));
    result.version = "0.0.0";
    return result;
  }

  Comparison comparison() const {
    return make_comparison({row_of(result(uneven_, "uneven")), row_of(result(even_, "even"))},
                           "uneven");
  }

  std::string picture(const Trace& trace, const SvgOptions& options) const {
    return to_svg(hand_.program(), trace, critical_path(hand_.program(), trace, 32), options);
  }

  HandProgram hand_;
  Trace even_;
  Trace uneven_;
  Cluster cluster_;
};

TEST_F(ReportGoldenTest, Tables) {
  EXPECT_EQ(golden_difference("report/result.txt", to_table(result(uneven_, "uneven"))), "");
  EXPECT_EQ(golden_difference("report/comparison.txt", to_table(comparison())), "");
}

TEST_F(ReportGoldenTest, Json) {
  const std::string folded = to_json(result(even_, "even"), hand_.program(), even_);
  EXPECT_EQ(golden_difference("report/result.json", folded), "");
  EXPECT_EQ(golden_difference("report/comparison.json", to_json(comparison())), "");
}

TEST_F(ReportGoldenTest, Pictures) {
  const std::string even = picture(even_, {.title = "even, degree 2"});
  EXPECT_EQ(golden_difference("report/even.svg", even), "");
  const std::string uneven =
      picture(uneven_, {.first_layer = 0, .last_layer = 0, .title = "uneven, layer 0"});
  EXPECT_EQ(golden_difference("report/uneven_layer.svg", uneven), "");
}

TEST_F(ReportGoldenTest, ChromeTrace) {
  const std::string trace = to_chrome_trace(hand_.program(), even_);
  EXPECT_EQ(golden_difference("report/trace.json", trace), "");
}

}  // namespace
}  // namespace moesim
