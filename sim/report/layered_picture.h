#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "sim/io/wiring.h"
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

  // Cables between the same two vertices, together.
  struct Edge {
    int a = 0;  // vertices
    int b = 0;
    LinkKind kind = LinkKind::kNetwork;
    double rate = 0;  // bytes per second, of all
    int count = 1;
    double load = 0;        // utilisation of the busiest way of any of them
    std::string busiest{};  // which: "node:0/nic:1 -> switch:0/1"
  };

  // Utilisation that has the colour of the busiest; nothing: cables have the colours of their
  // kinds.
  std::optional<double> full_load;

  std::vector<Vertex> vertices;
  std::vector<Edge> edges;
  std::map<std::tuple<int, int, LinkKind>, size_t> edge_of;  // by its vertices and kind

  int add(int row, std::string label, std::string_view colour);
  // Adds to the edge that is there already.
  void join(const Edge& edge);

  // Sets where vertices are: one row, which has some, in order; each other one, from there outward,
  // near to what it is joined to in those. Returns how wide it all is.
  double place(int first_row);
  // Draws it with a legend of its cables, at (left, top); returns where it ends below.
  double draw(SvgCanvas& canvas, double left, double top) const;
};

}  // namespace moesim
