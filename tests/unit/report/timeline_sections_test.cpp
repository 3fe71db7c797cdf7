#include "sim/report/timeline_sections.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include "sim/base/error.h"
#include "tests/support/hand_program.h"
#include "tests/support/recurrence.h"

namespace moesim {
namespace {

using test::HandProgram;
using test::ps;
using test::run_recurrence;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> text_of(const std::vector<Section>& sections) {
  std::vector<std::string> lines;
  for (const Section& section : sections) {
    lines.push_back(fmt::format("{} [{},{})",
                                section.name,
                                section.interval.begin.picoseconds(),
                                section.interval.end.picoseconds()));
  }
  return lines;
}

std::vector<std::string> text_of(const std::vector<Interval>& windows) {
  std::vector<std::string> lines;
  for (const Interval& window : windows) {
    lines.push_back(fmt::format("[{},{})", window.begin.picoseconds(), window.end.picoseconds()));
  }
  return lines;
}

// Three layers of 10 forward, then backward of 20 each in reverse (the last with recomputation in
// front), then an update of 5, all on one stream: 0..30..90..95.
class TimelineSectionsTest : public ::testing::Test {
 protected:
  TimelineSectionsTest() {
    for (const int layer : {0, 1, 2}) {
      add(Pass::kForward, layer, 10);
    }
    add(Pass::kRecompute, 2, 5);
    add(Pass::kBackward, 2, 15);
    add(Pass::kBackward, 1, 20);
    add(Pass::kBackward, 0, 20);
    add(Pass::kUpdate, kNone, 5);
    trace_ = run_recurrence(hand_.program(), hand_.durations());
  }

  void add(Pass pass, int layer, std::int64_t picoseconds) {
    Task& task = hand_.task(hand_.add_fixed("work", 0, ps(picoseconds)));
    task.pass = pass;
    task.layer = layer;
  }

  HandProgram hand_{1, {"compute"}};
  Trace trace_;
};

TEST_F(TimelineSectionsTest, Passes) {
  EXPECT_THAT(text_of(pass_sections(hand_.program(), trace_)),
              ElementsAre("forward [0,30)", "backward [30,90)", "update [90,95)"));
}

TEST_F(TimelineSectionsTest, Layers) {
  EXPECT_THAT(text_of(layer_sections(hand_.program(), trace_)),
              ElementsAre("layer 0 [0,10)",
                          "layer 1 [10,20)",
                          "layer 2 [20,30)",
                          "layer 2 [30,50)",
                          "layer 1 [50,70)",
                          "layer 0 [70,90)"));
}

TEST_F(TimelineSectionsTest, WindowsOfSomeLayers) {
  EXPECT_THAT(text_of(layer_windows(hand_.program(), trace_, 0, -1)), ElementsAre("[0,95)"));
  EXPECT_THAT(text_of(layer_windows(hand_.program(), trace_, 0, 2)), ElementsAre("[0,95)"));
  EXPECT_THAT(text_of(layer_windows(hand_.program(), trace_, 1, 1)),
              ElementsAre("[10,20)", "[50,70)"));
  // Nothing lies between the forward and the backward of the last layer: one window.
  EXPECT_THAT(text_of(layer_windows(hand_.program(), trace_, 2, -1)), ElementsAre("[20,50)"));
}

TEST_F(TimelineSectionsTest, LayersThatAreNotThere) {
  try {
    layer_windows(hand_.program(), trace_, 5, 9);
    FAIL() << "no Error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("layers 5..9"));
    EXPECT_THAT(error.what(), HasSubstr("0..2"));
  }
}

}  // namespace
}  // namespace moesim
