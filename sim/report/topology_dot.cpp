#include "sim/report/topology_dot.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/base/units.h"
#include "sim/report/cables.h"
#include "sim/report/link_style.h"

namespace moesim {
namespace {

// Quotes and backslashes are all that Graphviz minds within quotes.
std::string quoted(const std::string& text) {
  std::string escaped;
  for (const char character : text) {
    escaped += character == '"' || character == '\\' ? "\\" : "";
    escaped += character == '\n' ? ' ' : character;
  }
  return '"' + escaped + '"';
}

class DotWriter {
 public:
  DotWriter(const Topology& topology, int node) : topology_(topology), node_(node) {}

  std::string run(const std::string& name) {
    line("graph {} {{", quoted(name));
    line("  node [shape=box style=filled fillcolor=white fontname=Helvetica fontsize=10];");
    line("  edge [fontname=Helvetica fontsize=8];");
    write_node();
    write_rest();
    write_links();
    line("}}");
    return fmt::to_string(text_);
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_.push_back('\n');
  }

  // Other nodes are one vertex each.
  std::string vertex(int element) const {
    const Element& of = topology_.elements()[element];
    return of.node == kNone || of.node == node_ ? name(of) : fmt::format("node:{}", of.node);
  }

  void write_vertex(const char* indent, const Element& element) {
    const std::string label = element.kind == ElementKind::kSwitch
                                  ? name(element)
                                  : fmt::format("{}:{}", name(element.kind), element.index);
    const std::string equal =
        element.width > 1 ? fmt::format(" ({} equal)", element.width) : std::string();
    line("{}{} [label={} fillcolor=\"{}\"];",
         indent,
         quoted(name(element)),
         quoted(label + equal),
         colour(element.kind));
  }

  void write_node() {
    line("  subgraph cluster_node {{");
    line("    label=\"node:{}\";", node_);
    for (const Element& element : topology_.elements()) {
      if (element.node == node_) {
        write_vertex("    ", element);
      }
    }
    line("  }}");
  }

  void write_rest() {
    for (int node = 0; node < std::ssize(topology_.nodes()); ++node) {
      if (node != node_) {
        line("  \"node:{}\";", node);
      }
    }
    for (const Element& element : topology_.elements()) {
      if (element.node == kNone) {
        write_vertex("  ", element);
      }
    }
  }

  // Links of a kind between the same two vertices are one, with the sum of their rates.
  void write_links() {
    std::vector<std::string> vertices;
    std::map<std::string, int> number_of;
    const auto number = [&](const std::string& vertex) {
      const auto [found, is_new] = number_of.try_emplace(vertex, static_cast<int>(vertices.size()));
      if (is_new) {
        vertices.push_back(vertex);
      }
      return found->second;
    };
    Cables cables;
    for (int link = 0; link < std::ssize(topology_.links()); link += 2) {
      const Link& of = topology_.links()[link];
      const int from = number(vertex(of.from));
      const int to = number(vertex(of.to));
      if (topology_.rate(link) > 0 && from != to) {
        cables.join({from, to, of.kind, topology_.rate(link)});
      }
    }
    for (const CableBundle& bundle : cables.bundles()) {
      write_bundle(bundle, vertices);
    }
  }

  void write_bundle(const CableBundle& bundle, const std::vector<std::string>& vertices) {
    line("  {} -- {} [label={} penwidth={:.2f} color=\"{}\"];",
         quoted(vertices[bundle.a]),
         quoted(vertices[bundle.b]),
         quoted((bundle.count > 1 ? fmt::format("{} x ", bundle.count) : std::string()) +
                format_rate(bundle.rate / bundle.count)),
         width_of_link(bundle.rate),
         colour(bundle.kind));
  }

  const Topology& topology_;
  int node_;
  fmt::memory_buffer text_;
};

}  // namespace

std::string to_dot(const Topology& topology, const std::string& name, int node) {
  return DotWriter(topology, node).run(name);
}

}  // namespace moesim
