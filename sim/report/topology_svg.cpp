#include "sim/report/topology_svg.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "sim/report/layered_picture.h"
#include "sim/report/link_style.h"
#include "sim/report/load_scale.h"

namespace moesim {
namespace {

constexpr int kMostOfARow = 24;

// A cable between two vertices, with the load of its busier way.
CableBundle edge_of(const Topology& topology,
                    int link,
                    std::pair<int, int> vertices,
                    const Shading* shading) {
  const LinkKind kind = topology.links()[link].kind;
  CableBundle edge{vertices.first, vertices.second, kind, topology.rate(link), 1, 0, ""};
  for (const int way : {link, link + 1}) {
    const double load =
        shading == nullptr ? 0 : (*shading->of_medium)[topology.links()[way].medium];
    if (load > edge.load) {
      edge.load = load;
      edge.busiest = link_name(topology, way);
    }
  }
  return edge;
}

// Of the fabric: switches by level, the highest at the top, and nodes. What is behind the first few
// of a row is one vertex, but for `node`, which always has its own.
class FabricPicture {
 public:
  FabricPicture(const Topology& topology, int node, const Shading* shading)
      : topology_(topology), node_(node) {
    for (const Element& element : topology.elements()) {
      if (element.node == kNone) {
        ++of_level_[element.level];
      }
    }
    for (int link = 0; link < std::ssize(topology_.links()); link += 2) {
      const Link& of = topology_.links()[link];
      if (of.kind == LinkKind::kNetwork && topology_.rate(link) > 0) {
        const int a = vertex(topology_.elements()[of.from]);
        const int b = vertex(topology_.elements()[of.to]);
        if (a != b) {
          picture_.cables.join(edge_of(topology_, link, {a, b}, shading));
        }
      }
    }
  }

  bool has_links() const { return !picture_.cables.bundles().empty(); }
  const LayeredPicture& picture() const { return picture_; }
  int row_of_nodes() const { return of_level_.rbegin()->first + 1; }

 private:
  int vertex(const Element& element) {
    const bool is_switch = element.node == kNone;
    const int level = is_switch ? element.level : -1;
    const int index = is_switch ? element.index : element.node;
    const int count = is_switch ? of_level_.at(level) : static_cast<int>(topology_.nodes().size());
    const bool is_apart = !is_switch && node_ >= kMostOfARow - 1;  // a box beyond the first few
    const bool is_cut =
        count > kMostOfARow && index >= kMostOfARow - 1 && !(is_apart && index == node_);
    const auto [found, is_new] = vertices_.try_emplace({level, is_cut ? kCut : index}, 0);
    if (is_new) {
      const std::string label =
          is_cut      ? fmt::format("{} more", count - kMostOfARow + (is_apart ? 0 : 1))
          : is_switch ? name(element) +
                            (element.width > 1 ? fmt::format(" x{}", element.width) : std::string())
                      : fmt::format("node:{}", index);
      found->second = picture_.add(row_of_nodes() - 1 - level,
                                   label,
                                   colour(is_switch ? ElementKind::kSwitch : ElementKind::kGpu));
    }
    return found->second;
  }

  static constexpr int kCut = -1;  // place of what is cut

  const Topology& topology_;
  int node_;
  std::map<int, int> of_level_;
  std::map<std::pair<int, int>, int> vertices_;  // by level, -1 for nodes, and place in it
  LayeredPicture picture_;
};

int row_of(ElementKind kind) {
  switch (kind) {
    case ElementKind::kMemory:
      return 0;
    case ElementKind::kSocket:
      return 1;
    case ElementKind::kRootPort:
      return 2;
    case ElementKind::kPcieSwitch:
      return 3;
    case ElementKind::kGpu:
    case ElementKind::kNic:
      return 4;
    case ElementKind::kNvSwitch:
    case ElementKind::kSwitch:
      return 5;
  }
  return 0;
}

// Elements of a node and the switches of its NICs, those that hang at one part side by side.
std::vector<int> parts_of(const Topology& topology, int node) {
  std::map<int, int> above;  // by what hangs in the PCIe tree
  std::vector<int> parts;
  for (int link = 0; link < std::ssize(topology.links()); link += 2) {
    const Link& of = topology.links()[link];
    if (of.kind == LinkKind::kPcie && topology.elements()[of.from].node == node) {
      above[of.from] = of.to;
    }
    const bool is_uplink = of.kind == LinkKind::kNetwork &&
                           topology.elements()[of.from].node == node && topology.rate(link) > 0;
    if (is_uplink && std::ranges::count(parts, of.to) == 0) {
      parts.push_back(of.to);
    }
  }
  // The way up to the socket, from there down: parts below one part follow each other.
  const auto branch = [&](int part) {
    std::vector<int> way = {part};
    for (auto up = above.find(part); up != above.end() && way.size() < 32;
         up = above.find(up->second)) {
      way.insert(way.begin(), up->second);
    }
    return way;
  };
  for (int i = 0; i < std::ssize(topology.elements()); ++i) {
    if (topology.elements()[i].node == node) {
      parts.push_back(i);
    }
  }
  std::ranges::stable_sort(parts, {}, branch);
  return parts;
}

LayeredPicture picture_of_node(const Topology& topology, int node, const Shading* shading) {
  LayeredPicture picture;
  std::map<int, int> vertices;  // by element
  for (const int part : parts_of(topology, node)) {
    const Element& element = topology.elements()[part];
    const std::string label = element.node == kNone
                                  ? name(element)
                                  : fmt::format("{}:{}", name(element.kind), element.index);
    vertices[part] = picture.add(row_of(element.kind), label, colour(element.kind));
  }
  for (int link = 0; link < std::ssize(topology.links()); link += 2) {
    const Link& of = topology.links()[link];
    const auto from = vertices.find(of.from);
    const auto to = vertices.find(of.to);
    const bool is_of_node =
        topology.elements()[of.from].node == node || topology.elements()[of.to].node == node;
    if (is_of_node && from != vertices.end() && to != vertices.end() && topology.rate(link) > 0) {
      picture.cables.join(edge_of(topology, link, {from->second, to->second}, shading));
    }
  }
  return picture;
}

// The lines and the scale of a shaded picture; returns where they end below.
double draw_caption(const Shading& shading, double left, double& width, SvgCanvas& canvas) {
  constexpr double kLine = 20;
  constexpr double kFont = 13;
  double y = 30;
  for (const std::string& line : shading.caption) {
    canvas.text(left, y, line, {kFont});
    width = std::max(width, 2 * left + text_width(line, kFont));
    y += kLine;
  }
  width = std::max(width, left + draw_load_scale(canvas, left, y, shading.most));
  return y + kLine;
}

}  // namespace

std::string to_svg(const Topology& topology,
                   const std::string& name,
                   int node,
                   const Shading* shading) {
  constexpr double kMargin = 30;
  SvgCanvas canvas;
  double width = 600;
  double y = 0;
  if (shading != nullptr) {
    y = draw_caption(*shading, kMargin, width, canvas);
  }
  // In the order of the row of nodes, or of devices.
  const auto draw = [&](LayeredPicture picture, int first_row, const std::string& title) {
    if (shading != nullptr) {
      picture.full_load = shading->most;
    }
    width = std::max(width, picture.place(first_row) + 2 * kMargin);
    canvas.text(kMargin, y + 38, title, {18, Anchor::kStart, "#222222", true});
    y = picture.draw(canvas, kMargin, y + 60) + 20;
  };
  if (const FabricPicture fabric(topology, node, shading); fabric.has_links()) {
    draw(fabric.picture(), fabric.row_of_nodes(), name + ": fabric");
  }
  draw(picture_of_node(topology, node, shading),
       row_of(ElementKind::kGpu),
       fmt::format("{}: node {}", name, node));
  return canvas.document(width, y);
}

}  // namespace moesim
