#include "sim/base/message.h"

#include <fmt/core.h>

namespace moesim {
namespace {

constexpr std::size_t kMaxCharacters = 60;

bool is_control(unsigned char byte) {
  return (byte < 0x20 && byte != '\n') || byte == 0x7f;
}

// In UTF-8 all bytes of a character but the first are 10xxxxxx.
bool starts_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U;
}

}  // namespace

std::string visible(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (text.substr(at).starts_with(kByteOrderMark)) {
      result += "\\ufeff";
      at += kByteOrderMark.size() - 1;
    } else if (is_control(byte)) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += text[at];
    }
  }
  return result;
}

std::string visible_in_line(std::string_view text) {
  std::string result;
  for (const char character : visible(text)) {
    result += character == '\n' ? "\\n" : std::string(1, character);
  }
  return result;
}

std::string abbreviated(std::string_view text) {
  std::string shown = visible_in_line(text);
  std::size_t count = 0;
  for (std::size_t at = 0; at < shown.size(); ++at) {
    if (starts_character(shown[at]) && count++ == kMaxCharacters) {
      return shown.substr(0, at) + "…";
    }
  }
  return shown;
}

std::string in_quotes(std::string_view text) {
  return '"' + abbreviated(text) + '"';
}

}  // namespace moesim
