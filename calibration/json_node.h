#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace moesim {

// A value of a JSON file and where it stands, for messages. What is not as asked for throws Error,
// located at the field.
class JsonNode {
 public:
  JsonNode(std::string path, std::string field, const nlohmann::json& json);

  [[noreturn]] void fail(const std::string& text) const;

  [[nodiscard]] std::optional<JsonNode> find(const std::string& key) const;
  [[nodiscard]] JsonNode at(const std::string& key) const;
  // Nothing that a misspelt name would leave out.
  void require_only(std::initializer_list<std::string_view> keys) const;

  [[nodiscard]] std::vector<JsonNode> elements() const;
  [[nodiscard]] std::vector<std::string> texts() const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool flag() const;
  [[nodiscard]] bool is_null() const;
  [[nodiscard]] int count() const;
  // At least 0; a time that others are divided by is above it.
  [[nodiscard]] double number() const;
  [[nodiscard]] double positive() const;

 private:
  void require(bool condition, std::string_view what) const;

  std::string path_;
  std::string field_;
  const nlohmann::json* json_;
};

}  // namespace moesim
