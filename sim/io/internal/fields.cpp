#include "sim/io/internal/fields.h"

#include <utility>

#include <fmt/core.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "sim/base/check.h"

namespace moesim::io {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

const FieldDescriptor& descriptor(const Message& message, const char* name) {
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(name);
  CHECK(field != nullptr, "no field {} in {}", name, message.GetDescriptor()->name());
  return *field;
}

// "top_k is 0; write a number from 1 to 8", or nothing.
template <typename Number>
std::string range_problem(const char* name, Number value, Number first, Number last) {
  if (value >= first && value <= last) {
    return {};
  }
  return fmt::format("{} is {}; write a number from {} to {}", name, value, first, last);
}

}  // namespace

Fields::Fields(const Document& document, const Message& message, std::string path)
    : document_(&document), message_(&message), path_(std::move(path)) {}

std::string Fields::field_path(const char* name) const {
  return path_.empty() ? name : path_ + '.' + name;
}

bool Fields::has(const char* name) const {
  const FieldDescriptor& field = descriptor(*message_, name);
  if (field.is_repeated()) {
    return count(name) > 0;
  }
  const google::protobuf::Reflection& reflection = *message_->GetReflection();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    return !reflection.GetString(*message_, &field).empty();
  }
  return reflection.HasField(*message_, &field);
}

bool Fields::is_overridden(const char* name) const {
  return document_->is_overridden(field_path(name));
}

int Fields::count(const char* name) const {
  return message_->GetReflection()->FieldSize(*message_, &descriptor(*message_, name));
}

Error Fields::error(const std::string& text) const {
  return document_->error(path_, text);
}

Error Fields::error(const char* name, const std::string& text) const {
  return document_->error(field_path(name), text);
}

Error Fields::error(const char* name, int index, const std::string& text) const {
  return document_->error(fmt::format("{}[{}]", field_path(name), index), text);
}

void Fields::require(const char* name) const {
  if (!has(name)) {
    const std::string& where = message_->GetDescriptor()->name();
    throw error(name, fmt::format("{} has no \"{}\"; add it", where, name));
  }
}

std::string Fields::text(const char* name) const {
  require(name);
  return message_->GetReflection()->GetString(*message_, &descriptor(*message_, name));
}

std::string Fields::text_or(const char* name, std::string fallback) const {
  return has(name) ? text(name) : std::move(fallback);
}

std::string Fields::text(const char* name, int index) const {
  const FieldDescriptor& field = descriptor(*message_, name);
  std::string value = message_->GetReflection()->GetRepeatedString(*message_, &field, index);
  if (value.empty()) {
    throw error(name, index, fmt::format("a value of \"{}\" is empty; remove it", name));
  }
  return value;
}

std::vector<std::string> Fields::texts(const char* name) const {
  std::vector<std::string> values;
  values.reserve(static_cast<std::size_t>(count(name)));
  for (int i = 0; i < count(name); ++i) {
    values.push_back(text(name, i));
  }
  return values;
}

int Fields::integer(const char* name, IntegerRange range) const {
  require(name);
  const int value = message_->GetReflection()->GetInt32(*message_, &descriptor(*message_, name));
  const std::string problem = range_problem<std::int64_t>(name, value, range.first, range.last);
  if (!problem.empty()) {
    throw error(name, problem);
  }
  return value;
}

int Fields::integer_or(const char* name, int fallback, IntegerRange range) const {
  return has(name) ? integer(name, range) : fallback;
}

std::optional<int> Fields::optional_integer(const char* name, IntegerRange range) const {
  return has(name) ? std::optional<int>(integer(name, range)) : std::nullopt;
}

std::vector<int> Fields::integers(const char* name, IntegerRange range) const {
  std::vector<int> values;
  for (int i = 0; i < count(name); ++i) {
    values.push_back(
        message_->GetReflection()->GetRepeatedInt32(*message_, &descriptor(*message_, name), i));
    const std::string problem =
        range_problem<std::int64_t>(name, values.back(), range.first, range.last);
    if (!problem.empty()) {
      throw error(name, i, problem);
    }
  }
  return values;
}

std::int64_t Fields::long_integer(const char* name, IntegerRange range) const {
  require(name);
  const std::int64_t value =
      message_->GetReflection()->GetInt64(*message_, &descriptor(*message_, name));
  const std::string problem = range_problem(name, value, range.first, range.last);
  if (!problem.empty()) {
    throw error(name, problem);
  }
  return value;
}

std::vector<std::int64_t> Fields::long_integers(const char* name, IntegerRange range) const {
  std::vector<std::int64_t> values;
  const FieldDescriptor& field = descriptor(*message_, name);
  for (int i = 0; i < count(name); ++i) {
    values.push_back(message_->GetReflection()->GetRepeatedInt64(*message_, &field, i));
    const std::string problem = range_problem(name, values.back(), range.first, range.last);
    if (!problem.empty()) {
      throw error(name, i, problem);
    }
  }
  return values;
}

std::uint64_t Fields::unsigned_or(const char* name, std::uint64_t fallback) const {
  return has(name) ? message_->GetReflection()->GetUInt64(*message_, &descriptor(*message_, name))
                   : fallback;
}

double Fields::real_or(const char* name, double fallback, RealRange range) const {
  return has(name) ? real(name, range) : fallback;
}

double Fields::real(const char* name, RealRange range) const {
  require(name);
  const double value =
      message_->GetReflection()->GetDouble(*message_, &descriptor(*message_, name));
  const std::string problem = range_problem(name, value, range.first, range.last);
  if (!problem.empty()) {
    throw error(name, problem);
  }
  return value;
}

std::vector<double> Fields::reals(const char* name, RealRange range) const {
  std::vector<double> values;
  for (int i = 0; i < count(name); ++i) {
    values.push_back(
        message_->GetReflection()->GetRepeatedDouble(*message_, &descriptor(*message_, name), i));
    const std::string problem = range_problem(name, values.back(), range.first, range.last);
    if (!problem.empty()) {
      throw error(name, i, problem);
    }
  }
  return values;
}

bool Fields::flag(const char* name) const {
  return message_->GetReflection()->GetBool(*message_, &descriptor(*message_, name));
}

int Fields::enumerator(const char* name) const {
  return message_->GetReflection()->GetEnumValue(*message_, &descriptor(*message_, name));
}

Fields Fields::child(const char* name) const {
  require(name);
  const Message& message =
      message_->GetReflection()->GetMessage(*message_, &descriptor(*message_, name));
  return {*document_, message, field_path(name)};
}

std::optional<Fields> Fields::optional_child(const char* name) const {
  return has(name) ? std::optional<Fields>(child(name)) : std::nullopt;
}

std::vector<Fields> Fields::children(const char* name) const {
  std::vector<Fields> all;
  for (int i = 0; i < count(name); ++i) {
    const Message& message =
        message_->GetReflection()->GetRepeatedMessage(*message_, &descriptor(*message_, name), i);
    all.emplace_back(*document_, message, fmt::format("{}[{}]", field_path(name), i));
  }
  return all;
}

std::string Fields::member_of(const char* oneof) const {
  const auto* descriptor = message_->GetDescriptor()->FindOneofByName(oneof);
  CHECK(descriptor != nullptr, "no oneof {}", oneof);
  const FieldDescriptor* member =
      message_->GetReflection()->GetOneofFieldDescriptor(*message_, descriptor);
  return member == nullptr ? "" : member->name();
}

}  // namespace moesim::io
