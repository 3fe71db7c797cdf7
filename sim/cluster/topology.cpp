#include "sim/cluster/topology.h"

#include <fmt/core.h>

#include "sim/base/check.h"
#include "sim/base/error.h"

namespace moesim {

void Topology::add_node(const NodeGraph& graph, int group) {
  const int node = static_cast<int>(nodes_.size());
  const int first = static_cast<int>(elements_.size());
  nodes_.push_back({group, first, static_cast<int>(links_.size()), false});
  for (const NodeGraph::Part& part : graph.parts) {
    const int element = static_cast<int>(elements_.size());
    elements_.push_back({.kind = part.kind, .node = node, .index = part.index});
    if (part.kind == ElementKind::kGpu) {
      gpus_.push_back(element);
    } else if (part.kind == ElementKind::kNic) {
      nics_.push_back(element);
    }
  }
  for (Cable cable : graph.cables) {
    cable.a += first;
    cable.b += first;
    join(cable);
  }
}

int Topology::add_switch(const Element& element) {
  elements_.push_back(element);
  return static_cast<int>(elements_.size()) - 1;
}

void Topology::join(const Cable& cable) {
  const int medium = static_cast<int>(media_.size());
  const int back = cable.half_duplex ? medium : medium + 1;
  media_.insert(media_.end(), cable.half_duplex ? 1 : 2, cable.rate);
  links_.push_back({cable.a, cable.b, cable.kind, medium, cable.latency});
  links_.push_back({cable.b, cable.a, cable.kind, back, cable.latency});
}

void Topology::scale(int link, double factor) {
  media_[links_[link].medium] *= factor;
  for (const int end : {links_[link].from, links_[link].to}) {
    if (elements_[end].node != kNone) {
      nodes_[elements_[end].node].changed = true;
    }
  }
}

// Counting sort by the element that a link leaves; links keep their order.
void Topology::index_links() {
  first_out_.assign(elements_.size() + 1, 0);
  const auto is_there = [&](const Link& link) { return media_[link.medium] > 0; };
  for (const Link& link : links_) {
    first_out_[link.from + 1] += is_there(link) ? 1 : 0;
  }
  for (size_t i = 1; i < first_out_.size(); ++i) {
    first_out_[i] += first_out_[i - 1];
  }
  out_.resize(first_out_.back());
  std::vector<int> next(first_out_.begin(), first_out_.end() - 1);
  for (int link = 0; link < std::ssize(links_); ++link) {
    if (is_there(links_[link])) {
      out_[next[links_[link].from]++] = link;
    }
  }
}

std::span<const int> Topology::out(int element) const {
  CHECK(!first_out_.empty(), "links are not indexed");
  return std::span(out_).subspan(first_out_[element],
                                 first_out_[element + 1] - first_out_[element]);
}

void check_size(const Topology& topology, double parts, double cables) {
  constexpr double kMost = 1 << 24;
  parts += static_cast<double>(topology.elements().size());
  cables += static_cast<double>(topology.links().size()) / 2;
  if (parts > kMost || cables > kMost) {
    throw Error(
        fmt::format("{:.6g} parts and {:.6g} cables; a cluster may have {:.0f} of each: make it "
                    "smaller",
                    parts,
                    cables,
                    kMost));
  }
}

std::string link_name(const Topology& topology, int link) {
  const Link& of = topology.links()[link];
  return fmt::format(
      "{} -> {}", name(topology.elements()[of.from]), name(topology.elements()[of.to]));
}

}  // namespace moesim
