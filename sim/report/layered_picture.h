#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/cables.h"
#include "sim/report/svg_canvas.h"

namespace moesim {

// Boxes in rows, and cables between them.
struct LayeredPicture {
  struct Vertex {
    int row = 0;
    std::string label;
    std::string_view colour;
    double x = 0;  // of its middle; place() says
  };

  // Utilisation that has the colour of the busiest; nothing: cables have the colours of their
  // kinds.
  std::optional<double> full_load;

  std::vector<Vertex> vertices;
  Cables cables;

  int add(int row, std::string label, std::string_view colour);

  // Sets where vertices are: one row, which has some, in order; each other one, from there outward,
  // near to what it is joined to in those. Returns how wide it all is.
  double place(int first_row);
  // Draws it with a legend of its cables, at (left, top); returns where it ends below.
  double draw(SvgCanvas& canvas, double left, double top) const;
};

}  // namespace moesim
