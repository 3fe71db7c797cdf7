#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.h"
#include "sim/io/internal/document.h"

namespace moesim::io {

// What a whole number may be, both ends included.
struct IntegerRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

// What a real number may be, both ends included.
struct RealRange {
  double first = 0;
  double last = 0;
};

// The fields of one message of a document, read by name with their checks. A required field that is
// absent and a value out of range throw a located Error. Names that the schema does not have are
// programmer errors. It refers to its document.
class Fields {
 public:
  Fields(const Document& document, const google::protobuf::Message& message, std::string path);

  [[nodiscard]] const Document& document() const { return *document_; }
  // An empty list and an empty text count as absent.
  [[nodiscard]] bool has(const char* name) const;
  [[nodiscard]] int count(const char* name) const;

  // True where the command line set the field.
  [[nodiscard]] bool is_overridden(const char* name) const;

  // Located at this message, at a field, or at the field's index-th value.
  [[nodiscard]] Error error(const std::string& text) const;
  [[nodiscard]] Error error(const char* name, const std::string& text) const;
  [[nodiscard]] Error error(const char* name, int index, const std::string& text) const;

  [[nodiscard]] std::string text(const char* name) const;  // required
  [[nodiscard]] std::string text_or(const char* name, std::string fallback) const;
  [[nodiscard]] std::string text(const char* name, int index) const;  // of a list
  [[nodiscard]] std::vector<std::string> texts(const char* name) const;

  [[nodiscard]] int integer(const char* name, IntegerRange range) const;
  [[nodiscard]] int integer_or(const char* name, int fallback, IntegerRange range) const;
  [[nodiscard]] std::optional<int> optional_integer(const char* name, IntegerRange range) const;
  [[nodiscard]] std::vector<int> integers(const char* name, IntegerRange range) const;
  [[nodiscard]] std::int64_t long_integer(const char* name, IntegerRange range) const;
  [[nodiscard]] std::vector<std::int64_t> long_integers(const char* name, IntegerRange range) const;
  [[nodiscard]] std::uint64_t unsigned_or(const char* name, std::uint64_t fallback) const;

  [[nodiscard]] double real(const char* name, RealRange range) const;
  [[nodiscard]] double real_or(const char* name, double fallback, RealRange range) const;
  [[nodiscard]] std::vector<double> reals(const char* name, RealRange range) const;
  [[nodiscard]] bool flag(const char* name) const;  // false when absent

  // An enumerator, by its number.
  template <typename Enum>
  [[nodiscard]] Enum choice(const char* name) const {
    require(name);
    return static_cast<Enum>(enumerator(name));
  }
  template <typename Enum>
  [[nodiscard]] Enum choice_or(const char* name, Enum fallback) const {
    return has(name) ? static_cast<Enum>(enumerator(name)) : fallback;
  }

  // A text with a unit, such as quantity("startup", parse_time).
  template <typename Parse>
  [[nodiscard]] auto quantity(const char* name, Parse parse) const {
    try {
      return parse(text(name));
    } catch (const UnitError& unit_error) {
      throw error(name, unit_error.text());
    }
  }

  [[nodiscard]] Fields child(const char* name) const;
  [[nodiscard]] std::optional<Fields> optional_child(const char* name) const;
  [[nodiscard]] std::vector<Fields> children(const char* name) const;

  // The name of the member that the oneof holds; empty when it holds none.
  [[nodiscard]] std::string member_of(const char* oneof) const;

 private:
  void require(const char* name) const;
  [[nodiscard]] int enumerator(const char* name) const;
  [[nodiscard]] std::string field_path(const char* name) const;

  const Document* document_;
  const google::protobuf::Message* message_;
  std::string path_;
};

}  // namespace moesim::io
