#include "sim/cluster/link_selector.h"

#include <charconv>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/base/message.h"

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

class LinkSelectorParser {
 public:
  LinkSelectorParser(std::string_view text, const std::string& location)
      : text_(trimmed(text)), location_(location) {}

  LinkSelector::Part run() const {
    LinkSelector::Part part;
    const size_t slash = text_.find('/');
    const std::string_view left = text_.substr(0, slash);
    const std::string_view right =
        slash == std::string_view::npos ? std::string_view() : text_.substr(slash + 1);
    if (left.starts_with("switch:")) {
      part.kind = ElementKind::kSwitch;
      part.outer = number(left.substr(7));
      part.index = number(right);
      return part;
    }
    const size_t colon = right.find(':');
    const auto kind = kind_named(right.substr(0, colon));
    if (!left.starts_with("node:") || colon == std::string_view::npos || !kind) {
      fail();
    }
    part.kind = *kind;
    part.outer = number(left.substr(5));
    part.index = number(right.substr(colon + 1));
    return part;
  }

 private:
  std::optional<int> number(std::string_view text) const {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text == "*") {
      return std::nullopt;
    }
    if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
      fail();
    }
    return value;
  }

  [[noreturn]] void fail() const {
    throw Error(location_,
                fmt::format("{} names no part; write \"node:7/nic:2\", \"switch:1/3\" (level and "
                            "index), or * for any number",
                            in_quotes(std::string(text_))));
  }

  std::string_view text_;
  const std::string& location_;
};

bool LinkSelector::Part::matches(const Element& element) const {
  const int of = element.kind == ElementKind::kSwitch ? element.level : element.node;
  return element.kind == kind && of == outer.value_or(of) &&
         element.index == index.value_or(element.index);
}

LinkSelector::LinkSelector(std::string_view text, const std::string& location) {
  const size_t dashes = text.find("--");
  one_ = LinkSelectorParser(text.substr(0, dashes), location).run();
  if (dashes != std::string_view::npos) {
    other_ = LinkSelectorParser(text.substr(dashes + 2), location).run();
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
