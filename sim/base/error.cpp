#include "sim/base/error.h"

#include <utility>

namespace moesim {
namespace {

std::string message(const std::string& location, const std::string& text) {
  return location.empty() ? text : location + ": " + text;
}

}  // namespace

Error::Error(std::string location, std::string text)
    : std::runtime_error(message(location, text)),
      location_(std::move(location)),
      text_(std::move(text)) {}

Error::Error(std::string text) : Error(std::string(), std::move(text)) {}

}  // namespace moesim
