#include "sim/report/palette.h"

#include <set>

#include <gmock/gmock.h>

#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using test::HandProgram;
using test::ps;
using ::testing::ElementsAre;

TEST(PaletteTest, KindsInOrderOfFirstUseHaveColoursOfTheirOwn) {
  const HandProgram hand = test::two_layer_program();
  const Palette palette(hand.program());
  EXPECT_THAT(palette.kinds(),
              ElementsAre("attention",
                          "gate",
                          "dispatch",
                          "esp_all_gather",
                          "expert",
                          "esp_reduce_scatter",
                          "combine",
                          "unorder",
                          "gradient"));
  std::set<std::string> colours;
  for (const std::string& kind : palette.kinds()) {
    colours.insert(palette.colour(kind));
  }
  EXPECT_EQ(colours.size(), palette.kinds().size());
  EXPECT_EQ(palette.colour("expert"), "#009E73");
}

// More kinds than colours: they start again rather than fail.
TEST(PaletteTest, ManyKinds) {
  HandProgram hand(1, {"compute"});
  for (int i = 0; i < 40; ++i) {
    hand.add_fixed("kind" + std::to_string(i), 0, ps(1));
  }
  const Palette palette(hand.program());
  EXPECT_EQ(palette.kinds().size(), 40U);
  EXPECT_EQ(palette.colour("kind39").size(), 7U);
}

TEST(PaletteTest, TextCanBeRead) {
  const Palette palette(test::two_layer_program().program());
  EXPECT_EQ(palette.text_colour("attention"), "#111111");           // yellow
  EXPECT_EQ(palette.text_colour("esp_reduce_scatter"), "#ffffff");  // dark blue
}

}  // namespace
}  // namespace moesim
