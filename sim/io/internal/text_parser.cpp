#include "sim/io/internal/text_parser.h"

#include <optional>
#include <utility>

#include <fmt/core.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "sim/base/error.h"
#include "sim/base/message.h"
#include "sim/io/internal/source.h"

namespace moesim::io {
namespace {

using google::protobuf::io::ColumnNumber;
using google::protobuf::io::Tokenizer;

constexpr int kMaxDepth = 32;

// Keeps the tokenizer's first complaint: throwing through protobuf is not safe.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, ColumnNumber column, const std::string& message) override {
    if (!position_) {
      position_ = Position{.line = line + 1, .column = column + 1};
      message_ = message;
    }
  }

  [[nodiscard]] const std::optional<Position>& position() const { return position_; }
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  std::optional<Position> position_;
  std::string message_;
};

class TextParser {
 public:
  TextParser(const std::string& text, const std::string& path)
      : path_(path),
        stream_(text.data() + content_start(text),
                static_cast<int>(text.size() - content_start(text))),
        tokenizer_(&stream_, &error_) {
    tokenizer_.set_comment_style(Tokenizer::SH_COMMENT_STYLE);
    advance();
  }

  Value parse() {
    Value root = make_value(ValueKind::kObject, {.line = 1, .column = 1});
    while (token().type != Tokenizer::TYPE_END) {
      root.fields.push_back(parse_field());
    }
    return root;
  }

 private:
  const Tokenizer::Token& token() { return tokenizer_.current(); }
  bool at(const char* symbol) { return token().text == symbol; }
  bool at_number() {
    return token().type == Tokenizer::TYPE_INTEGER || token().type == Tokenizer::TYPE_FLOAT;
  }
  Position position() { return {.line = token().line + 1, .column = token().column + 1}; }

  [[noreturn]] void fail(const Position& position, const std::string& text) const {
    throw Error(fmt::format("{}:{}:{}", path_, position.line, position.column), text);
  }

  // What stands here, for messages.
  std::string here() {
    return token().type == Tokenizer::TYPE_END ? "the end of the file" : in_quotes(token().text);
  }

  void advance() {
    tokenizer_.Next();
    if (error_.position()) {
      fail(*error_.position(), error_.message() + " Correct the text here");
    }
  }

  Field parse_field() {
    if (token().type != Tokenizer::TYPE_IDENTIFIER) {
      fail(position(), fmt::format("{} is no field name; write name: value", here()));
    }
    Field field = {.name = token().text, .position = position(), .value = {}};
    advance();
    const bool colon = at(":");
    if (colon) {
      advance();
    }
    if (!colon && !at("{") && !at("[")) {
      fail(position(),
           fmt::format("a colon is missing after {0}; write {1}: value or {1} {{ fields }}",
                       in_quotes(field.name),
                       abbreviated(field.name)));
    }
    field.value = parse_value();
    if (field.value.kind == ValueKind::kObject || field.value.kind == ValueKind::kList) {
      field.value.position = field.position;
    }
    if (at(",") || at(";")) {
      advance();
    }
    return field;
  }

  Value parse_value() {
    if (at("{")) {
      return parse_object();
    }
    if (at("[")) {
      return parse_list();
    }
    Value value = make_value(ValueKind::kText, position());
    if (token().type == Tokenizer::TYPE_STRING) {
      // Strings that follow one another are one, as in C.
      for (; token().type == Tokenizer::TYPE_STRING; advance()) {
        Tokenizer::ParseStringAppend(token().text, &value.text);
      }
      return value;
    }
    if (at("-")) {
      value.text = "-";
      advance();
    }
    const bool word = token().type == Tokenizer::TYPE_IDENTIFIER && value.text.empty();
    if (!word && !at_number()) {
      fail(position(), fmt::format("{} is no value; write a number, a word or \"text\"", here()));
    }
    value.kind = word ? ValueKind::kWord : ValueKind::kNumber;
    value.text += token().text;
    advance();
    return value;
  }

  void enter(const Position& opened) {
    if (++depth_ > kMaxDepth) {
      fail(opened, fmt::format("more than {} levels; nest fewer", kMaxDepth));
    }
    advance();
  }

  void leave() {
    --depth_;
    advance();
  }

  [[noreturn]] void fail_unclosed(const Position& opened, const char* bracket) const {
    fail(opened, fmt::format("this bracket is never closed; add {}", bracket));
  }

  Value parse_object() {
    Value object = make_value(ValueKind::kObject, position());
    enter(object.position);
    while (!at("}")) {
      if (token().type == Tokenizer::TYPE_END) {
        fail_unclosed(object.position, "}");
      }
      object.fields.push_back(parse_field());
    }
    leave();
    return object;
  }

  Value parse_list() {
    Value list = make_value(ValueKind::kList, position());
    enter(list.position);
    while (!at("]")) {
      if (token().type == Tokenizer::TYPE_END) {
        fail_unclosed(list.position, "]");
      }
      list.items.push_back(parse_value());
      if (!at(",")) {
        break;
      }
      advance();
      if (at("]")) {
        fail(position(), "a value is missing after the comma; add it or remove the comma");
      }
    }
    if (!at("]")) {
      fail(position(), fmt::format("{} within a list; put a comma or ] before it", here()));
    }
    leave();
    return list;
  }

  const std::string& path_;
  FirstError error_;
  google::protobuf::io::ArrayInputStream stream_;
  Tokenizer tokenizer_;
  int depth_ = 0;
};

}  // namespace

Value parse_text(const std::string& text, const std::string& path) {
  return TextParser(text, path).parse();
}

}  // namespace moesim::io
