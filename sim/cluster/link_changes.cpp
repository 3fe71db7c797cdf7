#include "sim/cluster/link_changes.h"

#include <optional>
#include <string_view>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/base/message.h"
#include "sim/io/part_selector.h"

namespace moesim {
namespace {

// Whether a selector names an element.
struct Pattern {
  ElementKind kind = ElementKind::kGpu;
  std::optional<int> outer;  // the node, or the level of a switch; empty: any
  std::optional<int> index;

  bool matches(const Element& element) const {
    const int of = element.kind == ElementKind::kSwitch ? element.level : element.node;
    return element.kind == kind && of == outer.value_or(of) &&
           element.index == index.value_or(element.index);
  }
};

std::optional<ElementKind> kind_named(std::string_view text) {
  for (int i = 0; i <= static_cast<int>(ElementKind::kSwitch); ++i) {
    const auto kind = static_cast<ElementKind>(i);
    if (name(kind) == text) {
      return kind;
    }
  }
  return std::nullopt;
}

Pattern parse(const LinkChange& change, std::string_view text) {
  const std::optional<PartSelector> selector = parse_part_selector(text);
  const std::optional<ElementKind> kind = selector ? kind_named(selector->kind) : std::nullopt;
  const bool is_switch = text.starts_with("switch:");
  if (!kind || (*kind == ElementKind::kSwitch) != is_switch) {
    throw Error(change.location,
                fmt::format("{} names no part; write \"node:7/nic:2\", \"switch:1/3\" (level and "
                            "index), or * for any number",
                            in_quotes(std::string(text))));
  }
  return {*kind, selector->outer, selector->index};
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) {
    text.remove_prefix(1);
  }
  while (text.ends_with(' ')) {
    text.remove_suffix(1);
  }
  return text;
}

void apply(const LinkChange& change, Topology& topology) {
  const std::string_view at = change.at;
  const size_t dashes = at.find("--");
  const Pattern one = parse(change, trimmed(at.substr(0, dashes)));
  std::optional<Pattern> other;
  if (dashes != std::string_view::npos) {
    other = parse(change, trimmed(at.substr(dashes + 2)));
  }
  std::vector<bool> is_done(topology.media().size());
  bool is_any = false;
  for (int i = 0; i < std::ssize(topology.links()); ++i) {
    const Link& link = topology.links()[i];
    const Element& from = topology.elements()[link.from];
    const Element& to = topology.elements()[link.to];
    const bool touches = other ? (one.matches(from) && other->matches(to)) ||
                                     (one.matches(to) && other->matches(from))
                               : one.matches(from) || one.matches(to);
    if (touches && (change.kind == LinkKind::kAny || change.kind == link.kind)) {
      is_any = true;
      if (!is_done[link.medium]) {
        topology.scale(i, change.remove ? 0 : change.rate_factor);
        is_done[link.medium] = true;
      }
    }
  }
  if (!is_any) {
    throw Error(
        change.location,
        fmt::format("no link at {}; `moesim topology show` lists them", in_quotes(change.at)));
  }
}

}  // namespace

void apply_changes(const std::vector<LinkChange>& changes, Topology& topology) {
  for (const LinkChange& change : changes) {
    apply(change, topology);
  }
}

}  // namespace moesim
