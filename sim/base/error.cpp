#include "sim/base/error.h"

#include "sim/base/message.h"

namespace moesim {
namespace {

std::string message(const std::string& location, const std::string& text) {
  return location.empty() ? text : location + ": " + text;
}

}  // namespace

Error::Error(const std::string& location, const std::string& text)
    : std::runtime_error(message(visible_in_line(location), visible(text))),
      location_(visible_in_line(location)),
      text_(visible(text)) {}

Error::Error(const std::string& text) : Error(std::string(), text) {}

}  // namespace moesim
