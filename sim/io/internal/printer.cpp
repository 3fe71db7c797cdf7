#include "sim/io/internal/printer.h"

#include <string_view>

#include <fmt/core.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include "sim/base/check.h"

namespace moesim::io {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') {
      result += '\\';
      result += character;
    } else if (character == '\n') {
      result += "\\n";
    } else if (static_cast<unsigned char>(character) < 0x20) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned char>(character));
    } else {
      result += character;
    }
  }
  return result + '"';
}

class JsonPrinter {
 public:
  std::string print(const Message& message) {
    add_object(message, 1);
    return text_ + '\n';
  }

 private:
  void indent(int depth) {
    text_ += '\n';
    for (int i = 0; i < depth; ++i) {
      text_ += "  ";
    }
  }

  // `depth` counts the lines' indentation; 0 puts everything on one line.
  void begin_item(int depth, bool first) {
    text_ += first ? "" : ",";
    if (depth > 0) {
      indent(depth);
    } else {
      text_ += first ? "" : " ";
    }
  }

  void end_items(int depth) {
    if (depth > 0) {
      indent(depth - 1);
    }
  }

  void add_object(const Message& message, int depth) {
    const google::protobuf::Descriptor& schema = *message.GetDescriptor();
    const Reflection& reflection = *message.GetReflection();
    if (schema.name() == "TokenRow") {
      add_list(message, *schema.field(0), 0);
      return;
    }
    text_ += '{';
    bool first = true;
    for (int i = 0; i < schema.field_count(); ++i) {
      const FieldDescriptor& field = *schema.field(i);
      if (!field.is_repeated() && !reflection.HasField(message, &field)) {
        continue;
      }
      begin_item(depth, first);
      first = false;
      text_ += quoted(field.name()) + ": ";
      if (field.is_repeated()) {
        // Only the file's own lists of messages are spread over lines.
        add_list(message, field, depth > 0 && field.message_type() != nullptr ? depth + 1 : 0);
      } else {
        add_value(message, field, -1);
      }
    }
    end_items(first ? 0 : depth);
    text_ += '}';
  }

  void add_list(const Message& message, const FieldDescriptor& field, int depth) {
    const int size = message.GetReflection()->FieldSize(message, &field);
    text_ += '[';
    for (int i = 0; i < size; ++i) {
      begin_item(depth, i == 0);
      add_value(message, field, i);
    }
    end_items(size > 0 ? depth : 0);
    text_ += ']';
  }

  // The field's value, or the index-th of a list.
  void add_value(const Message& message, const FieldDescriptor& field, int index) {
    const Reflection& reflection = *message.GetReflection();
    const auto get = [&](auto singular, auto repeated) {
      return index < 0 ? (reflection.*singular)(message, &field)
                       : (reflection.*repeated)(message, &field, index);
    };
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        text_ += std::to_string(get(&Reflection::GetInt32, &Reflection::GetRepeatedInt32));
        break;
      case FieldDescriptor::CPPTYPE_INT64:
        text_ += std::to_string(get(&Reflection::GetInt64, &Reflection::GetRepeatedInt64));
        break;
      case FieldDescriptor::CPPTYPE_UINT64:
        text_ += std::to_string(get(&Reflection::GetUInt64, &Reflection::GetRepeatedUInt64));
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        // The shortest digits that read back as the same number.
        text_ += fmt::format("{}", get(&Reflection::GetDouble, &Reflection::GetRepeatedDouble));
        break;
      case FieldDescriptor::CPPTYPE_BOOL:
        text_ += get(&Reflection::GetBool, &Reflection::GetRepeatedBool) ? "true" : "false";
        break;
      case FieldDescriptor::CPPTYPE_STRING:
        text_ += quoted(get(&Reflection::GetString, &Reflection::GetRepeatedString));
        break;
      case FieldDescriptor::CPPTYPE_ENUM:
        text_ += quoted(get(&Reflection::GetEnum, &Reflection::GetRepeatedEnum)->name());
        break;
      case FieldDescriptor::CPPTYPE_MESSAGE:
        add_object(index < 0 ? reflection.GetMessage(message, &field)
                             : reflection.GetRepeatedMessage(message, &field, index),
                   0);
        break;
      default:
        CHECK(false, "the schemas do not use the type of {}", field.full_name());
    }
  }

  std::string text_;
};

}  // namespace

std::string to_json(const Message& message) {
  return JsonPrinter().print(message);
}

std::string to_text(const Message& message) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseShortRepeatedPrimitives(true);
  printer.SetUseUtf8StringEscaping(true);
  std::string text;
  CHECK(printer.PrintToString(message, &text));
  return text;
}

}  // namespace moesim::io
