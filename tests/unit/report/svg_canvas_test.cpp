#include "sim/report/svg_canvas.h"

#include <gmock/gmock.h>

namespace moesim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(SvgCanvasTest, EscapesMarkup) {
  EXPECT_EQ(xml_escaped("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");
  EXPECT_EQ(xml_escaped("tab\there"), "tab\uFFFDhere");
  SvgCanvas canvas;
  canvas.text(1, 2, "<script>", {});
  canvas.rect_with_tooltip({0, 0, 1, 1}, "red", "", "</title>");
  EXPECT_THAT(canvas.document(10, 10), Not(HasSubstr("<script>")));
  EXPECT_THAT(canvas.document(10, 10), HasSubstr("&lt;/title&gt;"));
}

TEST(SvgCanvasTest, TextIsDrawnOnlyWhereItFits) {
  SvgCanvas canvas;
  const TextStyle style = {10, Anchor::kMiddle, "#000000", false};
  // "wide" takes 0.98 + 0.4 + 0.65 + 0.65 = 2.68 of 10 and a margin of 4: 30.8.
  EXPECT_TRUE(canvas.text_if_fits({0, 0, 31, 20}, "wide", style));
  EXPECT_FALSE(canvas.text_if_fits({0, 0, 30, 20}, "wide", style));
  EXPECT_FALSE(canvas.text_if_fits({0, 0, 30, 20}, "", style));
  EXPECT_THAT(canvas.document(10, 10), HasSubstr(R"(x="15.50" y="13.60")"));
}

}  // namespace
}  // namespace moesim
