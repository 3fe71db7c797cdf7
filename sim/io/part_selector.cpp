#include "sim/io/part_selector.h"

#include <algorithm>
#include <charconv>

namespace moesim {
namespace {

// False where it is neither a number nor *.
bool read_number(std::string_view text, std::optional<int>& number) {
  if (text == "*") {
    number.reset();
    return true;
  }
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  number = value;
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::optional<PartSelector> parse_part_selector(std::string_view text) {
  constexpr std::string_view kSwitch = "switch:";
  constexpr std::string_view kNode = "node:";
  const size_t slash = text.find('/');
  const std::string_view left = text.substr(0, slash);
  std::string_view right =
      slash == std::string_view::npos ? std::string_view() : text.substr(slash + 1);
  PartSelector selector{"switch", {}, {}};
  std::string_view outer = left.substr(std::min(left.size(), kSwitch.size()));
  if (!left.starts_with(kSwitch)) {
    const size_t colon = right.find(':');
    if (!left.starts_with(kNode) || colon == std::string_view::npos) {
      return std::nullopt;
    }
    selector.kind = right.substr(0, colon);
    outer = left.substr(kNode.size());
    right = right.substr(colon + 1);
  }
  if (!read_number(outer, selector.outer) || !read_number(right, selector.index)) {
    return std::nullopt;
  }
  return selector;
}

}  // namespace moesim
