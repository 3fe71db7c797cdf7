#include "sim/io/internal/scalars.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "sim/base/message.h"

namespace moesim::io {
namespace {

[[noreturn]] void fail(const Value& value, const std::string& what) {
  if (value.kind == ValueKind::kWord && value.text == "null") {
    throw TypeError("null is no value; leave the field out");
  }
  if (value.kind == ValueKind::kList) {
    throw TypeError("a list where one value belongs; write the value alone");
  }
  if (value.kind == ValueKind::kObject) {
    throw TypeError("a group of fields where one value belongs; write the value alone");
  }
  const bool is_text = value.kind == ValueKind::kText || value.text.empty();
  throw TypeError(
      fmt::format("{} {}", is_text ? in_quotes(value.text) : abbreviated(value.text), what));
}

bool may_be_number(const Value& value) {
  return value.kind == ValueKind::kNumber || value.kind == ValueKind::kRaw;
}

// Protobuf reads 010 as eight and 0x10 as sixteen; here both are mistakes.
bool is_decimal(std::string_view text) {
  if (text.starts_with('-')) {
    text.remove_prefix(1);
  }
  const bool digits = text.find_first_not_of("0123456789") == std::string_view::npos;
  return !text.empty() && digits && (text.size() == 1 || text[0] != '0');
}

template <typename Integer>
Integer to_integer(const Value& value) {
  const std::string& text = value.text;
  if (!may_be_number(value) || !is_decimal(text)) {
    fail(value, "is not a whole number; write one such as 4");
  }
  const char* end = text.data() + text.size();
  Integer result = 0;
  const auto [last, error] = std::from_chars(text.data(), end, result);
  if (last != end || error != std::errc()) {
    fail(value,
         fmt::format("is out of range; write a number from {} to {}",
                     std::numeric_limits<Integer>::min(),
                     std::numeric_limits<Integer>::max()));
  }
  return result;
}

// Bytes of the UTF-8 character that starts at `at`; 0 where none does (RFC 3629).
std::size_t utf8_length(const std::string& text, std::size_t at) {
  const auto byte = [&text](std::size_t index) {
    return index < text.size() ? static_cast<unsigned char>(text[index]) : 0U;
  };
  const unsigned first = byte(at);
  if (first < 0x80) {
    return 1;
  }
  const std::size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0U) != 0x80U) {
      return 0;
    }
  }
  const unsigned second = byte(at + 1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool surrogate = first == 0xed && second > 0x9f;
  const bool beyond = first > 0xf4 || (first == 0xf4 && second > 0x8f);
  return overlong || surrogate || beyond ? 0 : length;
}

bool is_utf8(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) {
      return false;
    }
    at += length;
  }
  return true;
}

}  // namespace

std::int32_t to_int32(const Value& value) {
  return to_integer<std::int32_t>(value);
}

std::int64_t to_int64(const Value& value) {
  return to_integer<std::int64_t>(value);
}

std::uint64_t to_uint64(const Value& value) {
  return to_integer<std::uint64_t>(value);
}

double to_double(const Value& value) {
  double result = 0;
  const char* end = value.text.data() + value.text.size();
  const auto [last, error] = std::from_chars(value.text.data(), end, result);
  const bool number = may_be_number(value) && last == end && error != std::errc::invalid_argument;
  if (!number) {
    fail(value, "is not a number; write one such as 1.2");
  }
  if (error != std::errc() || !std::isfinite(result)) {
    fail(value, "is not finite; write a number such as 1.2");
  }
  return result;
}

bool to_bool(const Value& value) {
  const bool word = value.kind == ValueKind::kWord || value.kind == ValueKind::kRaw;
  if (!word || (value.text != "true" && value.text != "false")) {
    fail(value, "is neither true nor false; write one of them");
  }
  return value.text == "true";
}

std::string to_text(const Value& value) {
  const bool text = value.kind == ValueKind::kText || may_be_number(value);
  if (!text) {
    fail(value, fmt::format("is not quoted; write {}", in_quotes(value.text)));
  }
  if (!is_utf8(value.text)) {
    throw TypeError("the text is not valid UTF-8; save the file as UTF-8");
  }
  return value.text;
}

std::string to_enumerator(const Value& value,
                          Format format,
                          const std::vector<std::string>& allowed) {
  const bool known = std::find(allowed.begin(), allowed.end(), value.text) != allowed.end();
  const ValueKind wanted = format == Format::kJson ? ValueKind::kText : ValueKind::kWord;
  if (!known) {
    fail(value, fmt::format("is not among its values; write one of {}", fmt::join(allowed, ", ")));
  }
  if (value.kind != wanted && value.kind != ValueKind::kRaw) {
    const char* how = format == Format::kJson ? "in quotes" : "without quotes";
    fail(value, fmt::format("is a name; write it {}", how));
  }
  return value.text;
}

}  // namespace moesim::io
