#include <map>
#include <string>
#include <vector>

#include "sim/report/timeline_sections.h"
#include "sim/report/timeline_view.h"

namespace moesim {
namespace {

constexpr double kPassHeight = 20;
constexpr double kLayerHeight = 17;
constexpr double kGapBelow = 10;

void draw_passes(const TimelineView& view, SvgCanvas& canvas, double y) {
  const std::map<std::string, std::string> colours = {
      {"forward", "#DCE6F1"}, {"backward", "#F3E3D3"}, {"update", "#E4E4E4"}};
  const TextStyle style = {12, Anchor::kMiddle, view.kInk, true};
  for (const Section& section : pass_sections(view.program, view.trace)) {
    view.for_each_window(section.interval, [&](double begin, double end) {
      canvas.rect({begin, y, end - begin, kPassHeight}, colours.at(section.name));
      canvas.text_if_fits({begin, y, end - begin, kPassHeight}, section.name, style);
    });
  }
}

double mean_width(const TimelineView& view, const std::vector<Section>& sections) {
  double sum = 0;
  int count = 0;
  for (const Section& section : sections) {
    view.for_each_window(section.interval, [&](double begin, double end) {
      sum += end - begin;
      ++count;
    });
  }
  return count == 0 ? 0 : sum / count;
}

// Every which layer of that width can have its number without touching the next number.
int label_stride(double width) {
  constexpr double kRoom = 26;  // three digits and some air
  for (const int stride : {1, 2, 5, 10, 20, 50}) {
    if (stride * width > kRoom) {
      return stride;
    }
  }
  return 100;
}

void draw_layers(const TimelineView& view,
                 SvgCanvas& canvas,
                 double y,
                 const std::vector<Section>& sections) {
  const double usual = mean_width(view, sections);
  const int stride = label_stride(usual);
  const TextStyle style = {view.kSmallFont, Anchor::kMiddle, view.kGrey};
  for (std::size_t i = 0; i < sections.size(); ++i) {
    view.for_each_window(sections[i].interval, [&](double begin, double end) {
      const Box box = {begin, y, end - begin, kLayerHeight};
      canvas.rect(box, i % 2 == 0 ? "#F7F7F7" : "#EBEBEB");
      const bool numbered = sections[i].layer % stride == 0 && box.width > usual / 2;
      if (!canvas.text_if_fits(box, sections[i].name, style) && numbered) {
        canvas.text_in(box, std::to_string(sections[i].layer), style);
      }
    });
  }
}

}  // namespace

double draw_sections(const TimelineView& view, SvgCanvas& canvas, double y) {
  draw_passes(view, canvas, y);
  y += kPassHeight;
  const std::vector<Section> layers = layer_sections(view.program, view.trace);
  if (layers.size() < 2) {
    return y + kGapBelow;
  }
  draw_layers(view, canvas, y, layers);
  return y + kLayerHeight + kGapBelow;
}

}  // namespace moesim
