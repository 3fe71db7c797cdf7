#include "sim/report/timeline.h"

#include <string>
#include <vector>

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

// The widths of all boxes, in the order in which they are drawn.
std::vector<double> box_widths(const std::string& svg) {
  const std::string attribute = " width=\"";
  std::vector<double> widths;
  for (std::size_t at = svg.find("<title>"); at != std::string::npos;
       at = svg.find("<title>", at + 1)) {
    widths.push_back(std::stod(svg.substr(svg.rfind(attribute, at) + attribute.size())));
  }
  return widths;
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

// Iterations of 1 us and 2 us, one above the other: on axes of their own both boxes are as wide as
// the picture, on axes that end at 2 us the first is half as wide as the second.
TEST(SvgTest, SeveralTimelinesCanShareAnAxis) {
  HandProgram fast(1, {"compute"});
  fast.add_fixed("work", 0, test::ps(1'000'000));
  HandProgram slow(1, {"compute"});
  slow.add_fixed("work", 0, test::ps(2'000'000));
  const Trace first = run_recurrence(fast.program(), fast.durations());
  const Trace second = run_recurrence(slow.program(), slow.durations());
  std::vector<Timeline> timelines = {
      {&fast.program(), &first, critical_path(fast.program(), first, 32), {.title = "predicted"}},
      {&slow.program(), &second, critical_path(slow.program(), second, 32), {.title = "measured"}}};
  const std::vector<double> own = box_widths(to_svg(timelines));
  ASSERT_EQ(own.size(), 2U);
  EXPECT_NEAR(own[0], own[1], 1);

  for (Timeline& timeline : timelines) {
    timeline.options.axis_end = second.end;
  }
  const std::string svg = to_svg(timelines);
  const std::vector<double> shared = box_widths(svg);
  ASSERT_EQ(shared.size(), 2U);
  EXPECT_NEAR(shared[0], shared[1] / 2, 1);
  EXPECT_NEAR(shared[1], own[1], 1);
  EXPECT_LT(svg.find(">predicted</text>"), svg.find(">measured</text>"));
  EXPECT_EQ(count(svg, "</svg>"), 1);
}

// A layer's window is the layer's, whatever the axis of the whole.
TEST(SvgTest, AnAxisEndIsOfAllLayers) {
  const HandProgram hand = test::two_layer_program();
  const Trace trace = test::folded(run_recurrence(hand.program(), hand.durations()));
  SvgOptions options;
  options.last_layer = 0;
  const std::string without = picture(hand, trace, options);
  options.axis_end = trace.end.scaled(2);
  EXPECT_EQ(picture(hand, trace, options), without);
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
