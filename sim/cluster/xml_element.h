#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/error.h"

namespace moesim {

// An element of an XML document with what is below it; text between elements is dropped.
struct XmlElement {
  std::string name;
  std::string location;  // "path:line:column" of the name
  std::map<std::string, std::string> attributes;
  std::vector<XmlElement> children;

  Error error(const std::string& text) const { return {location, "<" + name + ">: " + text}; }

  // Empty where it is absent.
  std::string attribute(const std::string& key) const;
  // Nothing where it is absent or empty. Throws Error where it is no whole number of the range.
  std::optional<int> integer(const std::string& key, int first, int last) const;

  int count(const std::string& child_name) const;  // at any depth
};

// The root of a document. Throws Error located at the mistake.
XmlElement parse_xml(const std::string& text, const std::string& path);

}  // namespace moesim
