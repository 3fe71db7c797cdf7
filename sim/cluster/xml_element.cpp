#include "sim/cluster/xml_element.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/core.h>
#include <pugixml.hpp>

namespace moesim {
namespace {

constexpr int kMaxDepth = 64;

// Lines begin where pugixml's offsets into the text say.
class Locations {
 public:
  Locations(const std::string& text, const std::string& path) : path_(path) {
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') {
        starts_.push_back(i + 1);
      }
    }
  }

  std::string at(std::ptrdiff_t offset) const {
    const auto place = static_cast<size_t>(std::max<std::ptrdiff_t>(offset, 0));
    const auto line = std::upper_bound(starts_.begin(), starts_.end(), place) - 1;
    return fmt::format("{}:{}:{}", path_, line - starts_.begin() + 1, place - *line + 1);
  }

 private:
  const std::string& path_;
  std::vector<size_t> starts_ = {0};
};

XmlElement convert(const pugi::xml_node& node, const Locations& locations, int depth) {
  XmlElement element;
  element.name = node.name();
  element.location = locations.at(node.offset_debug());
  if (depth > kMaxDepth) {
    throw element.error(fmt::format("elements nest deeper than {}; is it a topology?", kMaxDepth));
  }
  for (const pugi::xml_attribute& attribute : node.attributes()) {
    if (!element.attributes.emplace(attribute.name(), attribute.value()).second) {
      throw element.error(fmt::format("'{}' is given twice; remove one", attribute.name()));
    }
  }
  for (const pugi::xml_node& child : node.children()) {
    if (child.type() == pugi::node_element) {
      element.children.push_back(convert(child, locations, depth + 1));
    }
  }
  return element;
}

}  // namespace

std::string XmlElement::attribute(const std::string& key) const {
  const auto found = attributes.find(key);
  return found == attributes.end() ? "" : found->second;
}

std::optional<int> XmlElement::integer(const std::string& key, int first, int last) const {
  const std::string text = attribute(key);
  if (text.empty()) {
    return std::nullopt;
  }
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc() || stop != end || value < first || value > last) {
    throw error(fmt::format(
        "{}=\"{}\" is no whole number from {} to {}; dump it again", key, text, first, last));
  }
  return value;
}

int XmlElement::count(const std::string& child_name) const {
  int count = 0;
  for (const XmlElement& child : children) {
    count += (child.name == child_name ? 1 : 0) + child.count(child_name);
  }
  return count;
}

XmlElement parse_xml(const std::string& text, const std::string& path) {
  const Locations locations(text, path);
  pugi::xml_document document;
  const pugi::xml_parse_result result =
      document.load_buffer(text.data(), text.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!result) {
    std::string what = result.description();
    what[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(what[0])));
    throw Error(locations.at(result.offset),
                fmt::format("no whole XML document: {}; dump it again", what));
  }
  const pugi::xml_node root = document.document_element();
  for (pugi::xml_node next = root.next_sibling(); next; next = next.next_sibling()) {
    if (next.type() == pugi::node_element) {
      throw Error(locations.at(next.offset_debug()),
                  "a second document begins here; keep one in a file");
    }
  }
  return convert(root, locations, 1);
}

}  // namespace moesim
