#include "calibration/json_node.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/base/error.h"

namespace moesim {

using Json = nlohmann::json;

JsonNode::JsonNode(std::string path, std::string field, const Json& json)
    : path_(std::move(path)), field_(std::move(field)), json_(&json) {}

void JsonNode::fail(const std::string& text) const {
  throw Error(field_.empty() ? path_ : path_ + ": " + field_, text);
}

std::optional<JsonNode> JsonNode::find(const std::string& key) const {
  require(json_->is_object(), "an object");
  const auto member = json_->find(key);
  if (member == json_->end()) {
    return std::nullopt;
  }
  return JsonNode(path_, field_.empty() ? key : field_ + '.' + key, *member);
}

JsonNode JsonNode::at(const std::string& key) const {
  std::optional<JsonNode> member = find(key);
  if (!member) {
    fail(fmt::format("no field '{}'; add it", key));
  }
  return *std::move(member);
}

void JsonNode::require_only(std::initializer_list<std::string_view> keys) const {
  require(json_->is_object(), "an object");
  for (const auto& item : json_->items()) {
    if (std::find(keys.begin(), keys.end(), item.key()) == keys.end()) {
      fail(fmt::format("unknown field '{}'; give {}", item.key(), fmt::join(keys, ", ")));
    }
  }
}

std::vector<JsonNode> JsonNode::elements() const {
  require(json_->is_array(), "an array");
  std::vector<JsonNode> nodes;
  for (const Json& element : *json_) {
    nodes.emplace_back(path_, fmt::format("{}[{}]", field_, nodes.size()), element);
  }
  return nodes;
}

std::vector<std::string> JsonNode::texts() const {
  std::vector<std::string> all;
  for (const JsonNode& element : elements()) {
    all.push_back(element.text());
  }
  return all;
}

std::string JsonNode::text() const {
  require(json_->is_string() && !json_->get_ref<const std::string&>().empty(), "some text");
  return json_->get<std::string>();
}

bool JsonNode::flag() const {
  require(json_->is_boolean(), "true or false");
  return json_->get<bool>();
}

bool JsonNode::is_null() const {
  return json_->is_null();
}

int JsonNode::count() const {
  require(json_->is_number_integer() && json_->get<double>() >= 0 && json_->get<double>() < 1e9,
          "a count");
  return json_->get<int>();
}

double JsonNode::number() const {
  require(json_->is_number() && json_->get<double>() >= 0, "a number of at least 0");
  return json_->get<double>();
}

double JsonNode::positive() const {
  require(json_->is_number() && json_->get<double>() > 0, "a number above 0");
  return json_->get<double>();
}

void JsonNode::require(bool condition, std::string_view what) const {
  if (!condition) {
    fail(fmt::format("give {} here", what));
  }
}

}  // namespace moesim
