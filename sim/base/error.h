#pragma once

#include <stdexcept>
#include <string>

namespace moesim {

// A mistake of the user: thrown where it is found, caught once in main, exit code 2.
// `text` says what is wrong and what to do about it: "no field 'latency_us'; did you mean ...".
class Error : public std::runtime_error {
 public:
  // `location` is "path:line:column" (text format), "path: field" (JSON) or empty.
  // what() is "location: text", or only the text without a location. Control characters in either
  // are made visible.
  Error(const std::string& location, const std::string& text);
  explicit Error(const std::string& text);

  [[nodiscard]] const std::string& location() const { return location_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string location_;
  std::string text_;
};

// A run that failed although its input was right (a full disk, a hang, a disturbed machine): caught
// once in main, exit code 1.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace moesim
