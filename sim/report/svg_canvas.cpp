#include "sim/report/svg_canvas.h"

#include <iterator>

namespace moesim {
namespace {

const char* name_of(Anchor anchor) {
  switch (anchor) {
    case Anchor::kStart:
      return "start";
    case Anchor::kMiddle:
      return "middle";
    case Anchor::kEnd:
      return "end";
  }
  return "";
}

std::string attributes_of(const Box& box, std::string_view fill, std::string_view more) {
  return fmt::format(R"(x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" fill="{}"{}{})",
                     box.x,
                     box.y,
                     box.width,
                     box.height,
                     fill,
                     more.empty() ? "" : " ",
                     more);
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string escaped;
  for (const char character : text) {
    switch (character) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        // XML 1.0 allows no control characters but tab and line ends.
        escaped +=
            static_cast<unsigned char>(character) < 0x20 ? "\uFFFD" : std::string(1, character);
    }
  }
  return escaped;
}

// Widths of DejaVu Sans, the widest of the fonts asked for, in three classes of letters.
double text_width(std::string_view text, double size) {
  double width = 0;
  for (const char character : text) {
    const bool continues = (static_cast<unsigned char>(character) & 0xc0U) == 0x80U;
    if (std::string_view("mwMW%@").find(character) != std::string_view::npos) {
      width += 0.98;
    } else if (std::string_view("fijlrtI .,:;'|!()[]-").find(character) != std::string_view::npos) {
      width += 0.4;
    } else if (!continues) {
      width += 0.65;
    }
  }
  return width * size;
}

void SvgCanvas::rect(const Box& box, std::string_view fill, std::string_view attributes) {
  raw(fmt::format("<rect {}/>", attributes_of(box, fill, attributes)));
}

void SvgCanvas::rect_with_tooltip(const Box& box,
                                  std::string_view fill,
                                  std::string_view attributes,
                                  std::string_view tooltip) {
  raw(fmt::format("<rect {}><title>{}</title></rect>",
                  attributes_of(box, fill, attributes),
                  xml_escaped(tooltip)));
}

void SvgCanvas::line(double x1, double y1, double x2, double y2, std::string_view attributes) {
  raw(fmt::format(
      R"(<line x1="{:.2f}" y1="{:.2f}" x2="{:.2f}" y2="{:.2f}" {}/>)", x1, y1, x2, y2, attributes));
}

void SvgCanvas::text(double x, double y, std::string_view text, const TextStyle& style) {
  raw(fmt::format(R"(<text x="{:.2f}" y="{:.2f}" font-size="{}" fill="{}"{}{}>{}</text>)",
                  x,
                  y,
                  style.size,
                  style.colour,
                  style.anchor == Anchor::kStart
                      ? ""
                      : fmt::format(R"( text-anchor="{}")", name_of(style.anchor)),
                  style.bold ? R"( font-weight="bold")" : "",
                  xml_escaped(text)));
}

void SvgCanvas::text_in(const Box& box, std::string_view text, const TextStyle& style) {
  // Digits and capitals are 0.72 of the font's size high.
  const double baseline = box.y + box.height / 2 + 0.36 * style.size;
  this->text(box.x + box.width / 2, baseline, text, style);
}

bool SvgCanvas::text_if_fits(const Box& box, std::string_view text, const TextStyle& style) {
  constexpr double kMargin = 4;
  if (text.empty() || text_width(text, style.size) + kMargin > box.width) {
    return false;
  }
  text_in(box, text, style);
  return true;
}

void SvgCanvas::raw(std::string_view markup) {
  body_.append(markup);
  body_.push_back('\n');
}

std::string SvgCanvas::document(double width, double height) const {
  std::string text = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" )"
      R"(viewBox="0 0 {0:.0f} {1:.0f}" font-family="DejaVu Sans, Helvetica, Arial, sans-serif">)"
      "\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
      width,
      height);
  text.append(body_.data(), body_.size());
  return text + "</svg>\n";
}

}  // namespace moesim
