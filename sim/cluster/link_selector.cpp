#include "sim/cluster/link_selector.h"

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/base/message.h"
#include "sim/io/part_selector.h"

namespace moesim {
namespace {

std::optional<ElementKind> kind_named(std::string_view text) {
  for (int i = 0; i <= static_cast<int>(ElementKind::kSwitch); ++i) {
    const auto kind = static_cast<ElementKind>(i);
    if (name(kind) == text) {
      return kind;
    }
  }
  return std::nullopt;
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

}  // namespace

LinkSelector::Part LinkSelector::parse(std::string_view text, const std::string& location) {
  const std::string_view name = trimmed(text);
  const std::optional<PartSelector> part = parse_part_selector(name);
  const std::optional<ElementKind> kind = part ? kind_named(part->kind) : std::nullopt;
  if (!kind || (*kind == ElementKind::kSwitch) != name.starts_with("switch:")) {
    throw Error(location,
                fmt::format("{} names no part; write \"node:7/nic:2\", \"switch:1/3\" (level and "
                            "index), or * for any number",
                            in_quotes(name)));
  }
  return {*kind, part->outer, part->index};
}

bool LinkSelector::Part::matches(const Element& element) const {
  const int of = element.kind == ElementKind::kSwitch ? element.level : element.node;
  return element.kind == kind && of == outer.value_or(of) &&
         element.index == index.value_or(element.index);
}

LinkSelector::LinkSelector(std::string_view text, const std::string& location) {
  const size_t dashes = text.find("--");
  one_ = parse(text.substr(0, dashes), location);
  if (dashes != std::string_view::npos) {
    other_ = parse(text.substr(dashes + 2), location);
  }
}

bool LinkSelector::matches(const Topology& topology, const Link& link) const {
  const Element& from = topology.elements()[link.from];
  const Element& to = topology.elements()[link.to];
  return other_ ? (one_.matches(from) && other_->matches(to)) ||
                      (one_.matches(to) && other_->matches(from))
                : one_.matches(from) || one_.matches(to);
}

}  // namespace moesim
