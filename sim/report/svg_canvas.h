#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace moesim {

struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

enum class Anchor { kStart, kMiddle, kEnd };

struct TextStyle {
  double size = 12;
  Anchor anchor = Anchor::kStart;
  std::string_view colour = "#222222";
  bool bold = false;
};

// Text for an XML document: markup escaped, control characters replaced by U+FFFD.
std::string xml_escaped(std::string_view text);

// About how wide a text is in a sans-serif font of that size, rather too much than too little.
double text_width(std::string_view text, double size);

// Writes an SVG document, one element a line, coordinates with two decimals.
class SvgCanvas {
 public:
  // `attributes` are further ones: R"(stroke="#fff")".
  void rect(const Box& box, std::string_view fill, std::string_view attributes = "");
  // With a text that browsers show when the pointer rests on it.
  void rect_with_tooltip(const Box& box,
                         std::string_view fill,
                         std::string_view attributes,
                         std::string_view tooltip);
  void line(double x1, double y1, double x2, double y2, std::string_view attributes);
  // `y` is the text's baseline.
  void text(double x, double y, std::string_view text, const TextStyle& style);
  // In the middle of the box.
  void text_in(const Box& box, std::string_view text, const TextStyle& style);
  // The same, or nothing where it does not fit. Says which.
  bool text_if_fits(const Box& box, std::string_view text, const TextStyle& style);
  // Markup as it stands.
  void raw(std::string_view markup);

  // The document of that size, with a white background.
  std::string document(double width, double height) const;

 private:
  fmt::memory_buffer body_;
};

}  // namespace moesim
