#include "sim/cluster/link_changes.h"

#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/base/message.h"

namespace moesim {
namespace {

// "node:7/nic:2", "switch:1/*": a kind, and what its two numbers must be.
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

class Parser {
 public:
  Parser(const LinkChange& change, std::string_view text) : change_(change), text_(text) {}

  Pattern run() const {
    Pattern pattern;
    const size_t slash = text_.find('/');
    const std::string_view left = text_.substr(0, slash);
    const std::string_view right =
        slash == std::string_view::npos ? std::string_view() : text_.substr(slash + 1);
    if (left.starts_with("switch:")) {
      pattern.kind = ElementKind::kSwitch;
      pattern.outer = number(left.substr(7));
      pattern.index = number(right);
      return pattern;
    }
    const size_t colon = right.find(':');
    const auto kind = kind_named(right.substr(0, colon));
    if (!left.starts_with("node:") || colon == std::string_view::npos || !kind) {
      fail();
    }
    pattern.kind = *kind;
    pattern.outer = number(left.substr(5));
    pattern.index = number(right.substr(colon + 1));
    return pattern;
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
    throw Error(change_.location,
                fmt::format("{} names no part; write \"node:7/nic:2\", \"switch:1/3\" (level and "
                            "index), or * for any number",
                            in_quotes(std::string(text_))));
  }

  const LinkChange& change_;
  std::string_view text_;
};

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
  const Pattern one = Parser(change, trimmed(at.substr(0, dashes))).run();
  std::optional<Pattern> other;
  if (dashes != std::string_view::npos) {
    other = Parser(change, trimmed(at.substr(dashes + 2))).run();
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
