#include "sim/io/internal/json_parser.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/base/message.h"
#include "sim/io/internal/source.h"

namespace moesim::io {
namespace {

constexpr int kMaxDepth = 32;

bool is_digit(char character) {
  return character >= '0' && character <= '9';
}

bool is_letter(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
}

void append_utf8(std::string& text, std::uint32_t code) {
  const auto append = [&text](std::uint32_t byte) { text += static_cast<char>(byte); };
  const auto append_tail = [&append, code](unsigned shift) {
    append(0x80U | ((code >> shift) & 0x3fU));
  };
  if (code < 0x80) {
    append(code);
  } else if (code < 0x800) {
    append(0xc0U | (code >> 6U));
    append_tail(0);
  } else if (code < 0x10000) {
    append(0xe0U | (code >> 12U));
    append_tail(6);
    append_tail(0);
  } else {
    append(0xf0U | (code >> 18U));
    append_tail(12);
    append_tail(6);
    append_tail(0);
  }
}

class JsonParser {
 public:
  JsonParser(std::string_view text, const std::string& path)
      : text_(text), path_(path), at_(content_start(text)) {}

  Value parse() {
    Value root = parse_value();
    if (peek() != '\0' || at_ < text_.size()) {
      fail("text after the end of the JSON value; remove it");
    }
    return root;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    const std::string_view before = text_.substr(0, std::min(at_, text_.size()));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t line_start = before.rfind('\n') + 1;  // 0 when there is none
    throw Error(fmt::format("{}:{}:{}", path_, line, before.size() - line_start + 1), what);
  }

  // The next character that is no space, without taking it; '\0' at the end.
  char peek() {
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    return current();
  }

  [[nodiscard]] char current() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool take(char character) {
    if (peek() != character) {
      return false;
    }
    ++at_;
    return true;
  }

  Value parse_value() {
    const char first = peek();
    if (first == '{') {
      return parse_object();
    }
    if (first == '[') {
      return parse_list();
    }
    if (first == '"') {
      return make_value(ValueKind::kText, Position(), parse_string());
    }
    if (first == '-' || is_digit(first)) {
      return make_value(ValueKind::kNumber, Position(), parse_number());
    }
    return make_value(ValueKind::kWord, Position(), parse_word());
  }

  void enter() {
    ++at_;
    if (++depth_ > kMaxDepth) {
      fail(fmt::format("more than {} levels; nest fewer", kMaxDepth));
    }
  }

  // After an item: true when another one follows, false when `close` ended the collection.
  bool another(char close) {
    if (take(close)) {
      --depth_;
      return false;
    }
    if (!take(',')) {
      fail(fmt::format("a comma or {} is missing; add it before this", close));
    }
    return true;
  }

  Value parse_object() {
    Value object = make_value(ValueKind::kObject, Position());
    enter();
    if (peek() == '}') {
      another('}');
      return object;
    }
    do {
      if (peek() != '"') {
        fail("a field name in double quotes is missing; write \"name\": value");
      }
      Field field = {.name = parse_string(), .position = {}, .value = {}};
      if (!take(':')) {
        fail(fmt::format("a colon is missing after {}; add it", in_quotes(field.name)));
      }
      field.value = parse_value();
      object.fields.push_back(std::move(field));
    } while (another('}'));
    return object;
  }

  Value parse_list() {
    Value list = make_value(ValueKind::kList, Position());
    enter();
    if (peek() == ']') {
      another(']');
      return list;
    }
    do {
      list.items.push_back(parse_value());
    } while (another(']'));
    return list;
  }

  std::string parse_word() {
    const std::size_t first = at_;
    while (is_letter(current())) {
      ++at_;
    }
    std::string word(text_.substr(first, at_ - first));
    if (word != "true" && word != "false" && word != "null") {
      at_ = first;
      fail("no JSON value; write a number, \"text\", true, false, a list or an object");
    }
    return word;
  }

  void skip_digits() {
    if (!is_digit(current())) {
      fail("a digit of the number is missing; add it");
    }
    while (is_digit(current())) {
      ++at_;
    }
  }

  std::string parse_number() {
    const std::size_t first = at_;
    at_ += current() == '-' ? 1 : 0;
    const std::size_t digits = at_;
    skip_digits();
    if (text_[digits] == '0' && at_ - digits > 1) {
      fail("the number starts with a needless 0; remove it");
    }
    if (current() == '.') {
      ++at_;
      skip_digits();
    }
    if (current() == 'e' || current() == 'E') {
      ++at_;
      at_ += current() == '+' || current() == '-' ? 1 : 0;
      skip_digits();
    }
    return std::string(text_.substr(first, at_ - first));
  }

  std::string parse_string() {
    std::string value;
    for (++at_; current() != '"'; ++at_) {
      if (static_cast<unsigned char>(current()) < 0x20) {
        fail("the text is not closed on its line; add \" or write \\n");
      }
      if (current() == '\\') {
        ++at_;
        append_escape(value);
      } else {
        value += current();
      }
    }
    ++at_;
    return value;
  }

  // The escape whose character after the backslash is current; ends on its last character.
  void append_escape(std::string& value) {
    constexpr std::string_view kEscapes = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const std::size_t index = kEscapes.find(current());
    if (current() != '\0' && index != std::string_view::npos) {
      value += kMeanings[index];
    } else if (current() == 'u') {
      append_utf8(value, parse_code_point());
    } else {
      fail("unknown escape; write \\\\ for a backslash");
    }
  }

  std::uint32_t parse_code_point() {
    const std::uint32_t first = parse_hex4();
    if (first < 0xd800 || first > 0xdfff) {
      return first;
    }
    if (first > 0xdbff || text_.substr(at_ + 1, 2) != "\\u") {
      fail("half of a surrogate pair; write both halves");
    }
    at_ += 2;
    const std::uint32_t second = parse_hex4();
    if (second < 0xdc00 || second > 0xdfff) {
      fail("half of a surrogate pair; write both halves");
    }
    return 0x10000 + ((first - 0xd800) << 10U) + (second - 0xdc00);
  }

  // The four digits after the current 'u'; ends on the last of them.
  std::uint32_t parse_hex4() {
    const std::string_view digits = text_.substr(std::min(at_ + 1, text_.size()), 4);
    std::uint32_t code = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() != 4 || end != digits.data() + 4 || error != std::errc()) {
      fail("\\u needs four hexadecimal digits; add them");
    }
    at_ += 4;
    return code;
  }

  std::string_view text_;
  const std::string& path_;
  std::size_t at_;
  int depth_ = 0;
};

}  // namespace

Value parse_json(const std::string& text, const std::string& path) {
  return JsonParser(text, path).parse();
}

}  // namespace moesim::io
