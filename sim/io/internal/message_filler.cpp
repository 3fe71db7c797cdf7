#include "sim/io/internal/message_filler.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "sim/base/check.h"
#include "sim/base/message.h"
#include "sim/io/internal/scalars.h"
#include "sim/io/internal/schemas.h"
#include "sim/io/suggestion.h"

namespace moesim::io {
namespace {

using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

std::vector<std::string> value_names(const EnumDescriptor& schema) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(schema.value_count()));
  for (int i = 0; i < schema.value_count(); ++i) {
    names.push_back(schema.value(i)->name());
  }
  return names;
}

// A message that JSON writes as the list of its only field.
bool is_bare_list(const FieldDescriptor& field) {
  return field.message_type() != nullptr && field.message_type()->name() == "TokenRow";
}

// Commas separate the values of a list in an override: "a,b,c".
std::vector<Value> split(const Value& raw) {
  std::vector<Value> items;
  for (std::size_t first = 0; !raw.text.empty() && first <= raw.text.size();) {
    const std::size_t comma = std::min(raw.text.find(',', first), raw.text.size());
    items.push_back(raw);
    items.back().text = raw.text.substr(first, comma - first);
    first = comma + 1;
  }
  return items;
}

class MessageFiller {
 public:
  explicit MessageFiller(const Source& source) : source_(source) {}

  void fill(Message& message, const Value& object, const std::string& path) const {
    std::set<int> seen;
    for (const Field& entry : object.fields) {
      const std::string entry_path = path.empty() ? entry.name : path + '.' + entry.name;
      const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(entry.name);
      if (field == nullptr) {
        fail_unknown(*message.GetDescriptor(), entry, entry_path);
      }
      const bool first_time = seen.insert(field->number()).second;
      const bool may_repeat = field->is_repeated() && source_.format == Format::kText;
      if (!first_time && !may_repeat) {
        throw source_.error(
            entry.position,
            entry_path,
            fmt::format("{} is given twice; keep one of them", in_quotes(entry.name)));
      }
      check_oneof(message, *field, entry, entry_path);
      if (field->is_repeated()) {
        add_items(message, *field, entry.value, entry_path);
      } else {
        store(message, *field, entry.value, entry_path);
      }
    }
  }

 private:
  [[noreturn]] void fail_unknown(const google::protobuf::Descriptor& schema,
                                 const Field& entry,
                                 const std::string& path) const {
    throw source_.error(entry.position,
                        path,
                        fmt::format("no field {} in {}; {}",
                                    in_quotes(entry.name),
                                    schema.name(),
                                    suggestion(entry.name, field_names(schema))));
  }

  // An override sets single fields.
  [[noreturn]] void fail_whole(const FieldDescriptor& field,
                               const Value& value,
                               const std::string& path) const {
    const std::string part = field.message_type()->field(0)->name();
    throw source_.error(value.position,
                        path,
                        fmt::format("\"{0}\" is a list of groups of fields; set the fields of one, "
                                    "each by itself: {0}.{1}=…",
                                    field.name(),
                                    part));
  }

  void check_oneof(const Message& message,
                   const FieldDescriptor& field,
                   const Field& entry,
                   const std::string& path) const {
    if (field.real_containing_oneof() == nullptr) {
      return;
    }
    const FieldDescriptor* other =
        message.GetReflection()->GetOneofFieldDescriptor(message, field.real_containing_oneof());
    if (other != nullptr) {
      throw source_.error(
          entry.position,
          path,
          fmt::format(R"(both "{}" and "{}"; keep one of them)", other->name(), entry.name));
    }
  }

  void add_items(Message& message,
                 const FieldDescriptor& field,
                 const Value& value,
                 const std::string& path) const {
    const bool raw_list = value.kind == ValueKind::kRaw && field.message_type() == nullptr;
    const std::vector<Value> split_items = raw_list ? split(value) : std::vector<Value>();
    if (value.kind != ValueKind::kList && !raw_list) {
      if (value.kind == ValueKind::kRaw) {
        fail_whole(field, value, path);
      }
      if (source_.format == Format::kJson) {
        throw source_.error(
            value.position, path, fmt::format("\"{}\" must be a list; write [ ]", field.name()));
      }
      store(message, field, value, indexed(message, field, path));
      return;
    }
    for (const Value& item : raw_list ? split_items : value.items) {
      store(message, field, item, indexed(message, field, path));
    }
  }

  static std::string indexed(const Message& message,
                             const FieldDescriptor& field,
                             const std::string& path) {
    const int size = message.GetReflection()->FieldSize(message, &field);
    return fmt::format("{}[{}]", path, size);
  }

  // Sets a singular field, or adds to a repeated one.
  void store(Message& message,
             const FieldDescriptor& field,
             const Value& value,
             const std::string& path) const {
    if (field.message_type() != nullptr) {
      store_message(message, field, value, path);
      return;
    }
    try {
      store_scalar(message, field, value);
    } catch (const TypeError& error) {
      // Elsewhere the location names the field already.
      const bool name_it = source_.format == Format::kText && value.position.override_index < 0;
      const std::string text =
          name_it ? fmt::format("{}: {}", field.name(), error.text()) : error.text();
      throw source_.error(value.position, path, text);
    }
  }

  void store_message(Message& message,
                     const FieldDescriptor& field,
                     const Value& value,
                     const std::string& path) const {
    const Reflection& reflection = *message.GetReflection();
    Message& child = field.is_repeated() ? *reflection.AddMessage(&message, &field)
                                         : *reflection.MutableMessage(&message, &field);
    if (is_bare_list(field) && source_.format == Format::kJson) {
      add_items(child, *field.message_type()->field(0), value, path);
      return;
    }
    if (value.kind != ValueKind::kObject) {
      throw source_.error(
          value.position,
          path,
          fmt::format("\"{}\" is a group of fields; write {} {{ }} with its fields, such as {}",
                      field.name(),
                      field.name(),
                      field.message_type()->field_count() > 0
                          ? field.message_type()->field(0)->name()
                          : "none"));
    }
    fill(child, value, path);
  }

  void store_scalar(Message& message, const FieldDescriptor& field, const Value& value) const {
    const Reflection& reflection = *message.GetReflection();
    // Calls the setter of singular fields or the adder of repeated ones.
    const auto put = [&](auto set, auto add, const auto& typed) {
      field.is_repeated() ? (reflection.*add)(&message, &field, typed)
                          : (reflection.*set)(&message, &field, typed);
    };
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return put(&Reflection::SetInt32, &Reflection::AddInt32, to_int32(value));
      case FieldDescriptor::CPPTYPE_INT64:
        return put(&Reflection::SetInt64, &Reflection::AddInt64, to_int64(value));
      case FieldDescriptor::CPPTYPE_UINT64:
        return put(&Reflection::SetUInt64, &Reflection::AddUInt64, to_uint64(value));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return put(&Reflection::SetDouble, &Reflection::AddDouble, to_double(value));
      case FieldDescriptor::CPPTYPE_BOOL:
        return put(&Reflection::SetBool, &Reflection::AddBool, to_bool(value));
      case FieldDescriptor::CPPTYPE_STRING:
        return put(&Reflection::SetString, &Reflection::AddString, to_text(value));
      case FieldDescriptor::CPPTYPE_ENUM: {
        const EnumDescriptor& schema = *field.enum_type();
        const std::string name = to_enumerator(value, source_.format, value_names(schema));
        return put(&Reflection::SetEnum, &Reflection::AddEnum, schema.FindValueByName(name));
      }
      default:
        CHECK(false, "the schemas do not use the type of {}", field.full_name());
    }
  }

  const Source& source_;
};

}  // namespace

void fill_message(Message& message, const Value& root, const Source& source) {
  MessageFiller(source).fill(message, root, "");
}

}  // namespace moesim::io
