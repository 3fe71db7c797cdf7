#include "sim/report/layered_picture.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "sim/base/check.h"
#include "sim/base/units.h"
#include "sim/report/link_style.h"
#include "sim/report/load_scale.h"
#include "sim/report/text.h"
#include "sim/report/topology_summary.h"

namespace moesim {
namespace {

constexpr double kBoxHeight = 26;
constexpr double kRowPitch = 92;
constexpr double kGap = 10;
constexpr double kFont = 11;
constexpr double kBusiest = 4;  // the least width of the busiest cable

using Row = std::vector<int>;  // vertices

double width_of(const LayeredPicture::Vertex& vertex) {
  return text_width(vertex.label, kFont) + 12;
}

std::map<int, Row> rows_of(const LayeredPicture& picture) {
  std::map<int, Row> rows;
  for (int i = 0; i < std::ssize(picture.vertices); ++i) {
    rows[picture.vertices[i].row].push_back(i);
  }
  return rows;
}

double width_of_row(const LayeredPicture& picture, const Row& row) {
  double width = -kGap;
  for (const int vertex : row) {
    width += width_of(picture.vertices[vertex]) + kGap;
  }
  return width;
}

// Side by side, around the middle of where they would like to be.
void pack(const Row& row, double middle, LayeredPicture& picture) {
  double x = middle - width_of_row(picture, row) / 2;
  for (const int vertex : row) {
    const double width = width_of(picture.vertices[vertex]);
    picture.vertices[vertex].x = x + width / 2;
    x += width + kGap;
  }
}

// The mean of what a vertex is joined to in rows that have their places.
std::vector<double> wishes(const LayeredPicture& picture, const std::vector<bool>& is_placed) {
  std::vector<double> sum(picture.vertices.size());
  std::vector<double> count(picture.vertices.size());
  for (const CableBundle& edge : picture.cables.bundles()) {
    for (const auto& [end, other] : {std::pair(edge.a, edge.b), std::pair(edge.b, edge.a)}) {
      if (is_placed[other]) {
        sum[end] += picture.vertices[other].x;
        count[end] += 1;
      }
    }
  }
  for (size_t i = 0; i < sum.size(); ++i) {
    sum[i] = count[i] > 0 ? sum[i] / count[i] : 0;
  }
  return sum;
}

// Where each would like to be, as long as it does not touch the one before; then all together to
// the left or right by what they are off in the mean.
void place_row(Row row, const std::vector<double>& wish, LayeredPicture& picture) {
  std::ranges::stable_sort(row, {}, [&](int vertex) { return wish[vertex]; });
  double free = -1e9;
  double off = 0;
  for (const int vertex : row) {
    const double half = width_of(picture.vertices[vertex]) / 2;
    picture.vertices[vertex].x = std::max(wish[vertex], free + half);
    free = picture.vertices[vertex].x + half + kGap;
    off += picture.vertices[vertex].x - wish[vertex];
  }
  for (const int vertex : row) {
    picture.vertices[vertex].x -= off / static_cast<double>(row.size());
  }
}

double middle_y(double top, int row) {
  return top + kRowPitch * row + kBoxHeight / 2;
}

// Of the load where the picture shows that, else of the kind.
std::string colour_of(const LayeredPicture& picture, LinkKind kind, double load) {
  return picture.full_load ? load_colour(*picture.full_load > 0 ? load / *picture.full_load : 0)
                           : std::string(colour(kind));
}

bool is_busiest(const LayeredPicture& picture, double load) {
  return picture.full_load && load > 0 && load >= *picture.full_load;
}

std::string tooltip(const LayeredPicture& picture, const CableBundle& edge) {
  std::string text = fmt::format("{} -- {}: {}{}, {}",
                                 picture.vertices[edge.a].label,
                                 picture.vertices[edge.b].label,
                                 edge.count > 1 ? fmt::format("{} x ", edge.count) : "",
                                 format_rate(edge.rate / edge.count),
                                 name(edge.kind));
  if (edge.load > 0) {
    text += fmt::format("; {} busy for {:.1f} %", edge.busiest, 100 * edge.load);
  }
  return text;
}

// Straight between rows, an arc below within one. Returns its middle.
std::pair<double, double> draw_edge(const LayeredPicture& picture,
                                    const CableBundle& edge,
                                    const std::pair<double, double>& origin,
                                    SvgCanvas& canvas) {
  const LayeredPicture::Vertex& a = picture.vertices[edge.a];
  const LayeredPicture::Vertex& b = picture.vertices[edge.b];
  const double ax = origin.first + a.x;
  const double bx = origin.first + b.x;
  const double ay = middle_y(origin.second, a.row);
  const double by = middle_y(origin.second, b.row);
  const double dip = a.row == b.row ? std::clamp(0.4 * std::abs(ax - bx), 24.0, 64.0) : 0;
  const std::string path = fmt::format("M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}",
                                       ax,
                                       ay,
                                       (ax + bx) / 2,
                                       (ay + by) / 2 + 2 * dip,
                                       bx,
                                       by);
  canvas.raw(fmt::format(
      R"(<path d="{}" fill="none" stroke="{}" stroke-width="{:.1f}" stroke-opacity="{}">)"
      "<title>{}</title></path>",
      path,
      colour_of(picture, edge.kind, edge.load),
      is_busiest(picture, edge.load) ? std::max(width_of_link(edge.rate), kBusiest)
                                     : width_of_link(edge.rate),
      picture.full_load ? "0.9" : "0.75",
      xml_escaped(tooltip(picture, edge))));
  return {(ax + bx) / 2, (ay + by) / 2 + dip};
}

// What is busy lies above what is not.
std::vector<CableBundle> in_order(std::vector<CableBundle> edges) {
  std::ranges::stable_sort(edges, {}, &CableBundle::load);
  return edges;
}

double most_load(const std::vector<CableBundle>& edges) {
  double most = 0;
  for (const CableBundle& edge : edges) {
    most = std::max(most, edge.load);
  }
  return most;
}

// Names the load of the busiest cable where it is.
void draw_label(const std::pair<double, double>& middle, double load, SvgCanvas& canvas) {
  constexpr double kHeight = 18;
  const std::string text = fmt::format("{:.1f} %", 100 * load);
  const double width = text_width(text, kFont) + 14;
  const Box box = {middle.first - width / 2, middle.second - kHeight / 2, width, kHeight};
  canvas.rect(box, load_colour(1), R"(stroke="#ffffff" rx="9")");
  canvas.text_in(box, text, {kFont, Anchor::kMiddle, "#ffffff", true});
}

// A line of each kind and width.
double draw_legend(const LayeredPicture& picture, double left, double top, SvgCanvas& canvas) {
  constexpr double kLine = 20;
  struct Kind {
    int number = 0;
    double load = 0;  // of the busiest
  };
  std::map<std::tuple<LinkKind, double, int>, Kind> kinds;  // by rate of one, and how many
  for (const CableBundle& edge : picture.cables.bundles()) {
    Kind& of = kinds[{edge.kind, edge.rate / edge.count, edge.count}];
    ++of.number;
    of.load = std::max(of.load, edge.load);
  }
  double y = top + kLine / 2;
  for (const auto& [key, of] : kinds) {
    const auto& [kind, rate, count] = key;
    canvas.line(left,
                y,
                left + 40,
                y,
                fmt::format(R"(stroke="{}" stroke-width="{:.1f}")",
                            colour_of(picture, kind, of.load),
                            width_of_link(rate * count)));
    canvas.text(left + 50,
                y + 4,
                fmt::format("{} {}{}: {}{}",
                            name(kind),
                            count > 1 ? fmt::format("{} x ", count) : "",
                            format_rate(rate),
                            counted(static_cast<std::size_t>(of.number), "line"),
                            !picture.full_load ? ""
                            : of.load > 0 ? fmt::format(", the busiest at {:.1f} %", 100 * of.load)
                                          : ", unused"),
                {kFont});
    y += kLine;
  }
  return y;
}

}  // namespace

int LayeredPicture::add(int row, std::string label, std::string_view colour) {
  vertices.push_back({row, std::move(label), colour});
  return static_cast<int>(vertices.size()) - 1;
}

double LayeredPicture::place(int first_row) {
  const std::map<int, Row> rows = rows_of(*this);
  const auto first = rows.find(first_row);
  CHECK(first != rows.end(), "nothing in row {}", first_row);
  std::vector<bool> is_placed(vertices.size());
  const auto mark = [&](const Row& row) {
    for (const int vertex : row) {
      is_placed[vertex] = true;
    }
  };
  pack(first->second, 0, *this);
  mark(first->second);
  const auto place_next = [&](const Row& row) {
    place_row(row, wishes(*this, is_placed), *this);
    mark(row);
  };
  for (auto row = first; row != rows.begin();) {
    place_next((--row)->second);
  }
  for (auto row = std::next(first); row != rows.end(); ++row) {
    place_next(row->second);
  }
  double left = 0;
  double right = 0;
  for (const Vertex& vertex : vertices) {
    left = std::min(left, vertex.x - width_of(vertex) / 2);
    right = std::max(right, vertex.x + width_of(vertex) / 2);
  }
  for (Vertex& vertex : vertices) {
    vertex.x -= left;
  }
  return right - left;
}

double LayeredPicture::draw(SvgCanvas& canvas, double left, double top) const {
  int last = 0;
  std::pair<double, double> middle;
  for (const CableBundle& edge : in_order(cables.bundles())) {
    middle = draw_edge(*this, edge, {left, top}, canvas);
  }
  for (const Vertex& vertex : vertices) {
    const double width = width_of(vertex);
    const Box box = {
        left + vertex.x - width / 2, middle_y(top, vertex.row) - kBoxHeight / 2, width, kBoxHeight};
    canvas.rect(box, vertex.colour, R"(stroke="#555555" rx="3")");
    canvas.text_in(box, vertex.label, {kFont, Anchor::kMiddle});
    last = std::max(last, vertex.row);
  }
  if (const double most = most_load(cables.bundles()); is_busiest(*this, most)) {
    draw_label(middle, most, canvas);
  }
  return draw_legend(*this, left, top + kRowPitch * last + kBoxHeight + 50, canvas);
}

}  // namespace moesim
