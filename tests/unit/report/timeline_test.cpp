#include "sim/report/timeline.h"

#include <gmock/gmock.h>

#include "tests/support/hand_program.h"
#include "tests/support/recurrence.h"

namespace moesim {
namespace {

using test::HandProgram;
using test::run_recurrence;
using ::testing::HasSubstr;
using ::testing::Not;

std::string picture(const HandProgram& hand, const Trace& trace, const SvgOptions& options = {}) {
  return to_svg(hand.program(), trace, critical_path(hand.program(), trace, 32), options);
}

int count(const std::string& text, const std::string& what) {
  int found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++found;
  }
  return found;
}

TEST(SvgTest, EveryTaskOfOneClassIsABox) {
  const HandProgram hand = test::two_layer_program();
  const std::string svg =
      picture(hand, test::folded(run_recurrence(hand.program(), hand.durations())));
  EXPECT_EQ(count(svg, "<title>"), static_cast<int>(hand.program().tasks.size()));
  EXPECT_THAT(svg, HasSubstr(">compute</text>"));
  EXPECT_THAT(svg, HasSubstr(">backward</text>"));
  EXPECT_THAT(svg, HasSubstr(">layer 1</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("rank 0")));
}

TEST(SvgTest, ManyClassesAreCutToFour) {
  HandProgram hand(6, {"compute"});
  hand.add_fixed("work", 0, test::ps(1000));
  const Trace trace =
      run_recurrence(hand.program(), hand.durations(), {.rank_scale = {1, 1, 1, 1, 1, 2}});
  const std::string svg = picture(hand, trace);
  EXPECT_EQ(count(svg, "<title>"), 4);
  EXPECT_THAT(svg, HasSubstr("2 more classes"));
  EXPECT_THAT(svg, HasSubstr(">rank 5<"));  // the critical path is there
  EXPECT_THAT(svg, Not(HasSubstr(">rank 3<")));
}

TEST(SvgTest, NamesAreEscaped) {
  HandProgram hand(1, {"<compute>"});
  hand.add_fixed("a&b", 0, test::ps(1000));
  SvgOptions options;
  options.title = "x < y";
  const std::string svg = picture(hand, run_recurrence(hand.program(), hand.durations()), options);
  EXPECT_THAT(svg, HasSubstr("x &lt; y"));
  EXPECT_THAT(svg, HasSubstr("&lt;compute&gt;"));
  EXPECT_THAT(svg, HasSubstr("a&amp;b"));
}

// Layer 0 alone: its tasks as they are, those of layer 1 that run beside them fainter.
TEST(SvgTest, LayersZoom) {
  const HandProgram hand = test::two_layer_program();
  SvgOptions options;
  options.last_layer = 0;
  const std::string svg =
      picture(hand, test::folded(run_recurrence(hand.program(), hand.durations())), options);
  EXPECT_LT(count(svg, "<title>"), static_cast<int>(hand.program().tasks.size()));
  EXPECT_THAT(svg, HasSubstr("layer0.f.expert.1"));
  EXPECT_THAT(svg, Not(HasSubstr("layer1.f.expert.1")));
}

// A program whose tasks take no time has no time axis to draw on.
TEST(SvgTest, AnEmptyIterationIsATitle) {
  HandProgram hand(1, {"compute"});
  hand.add_fixed("nothing", 0, test::ps(0));
  EXPECT_THAT(picture(hand, run_recurrence(hand.program(), hand.durations())),
              HasSubstr("iteration 0.000 ms"));
}

}  // namespace
}  // namespace moesim
