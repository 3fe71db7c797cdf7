#pragma once

#include <string>
#include <utility>
#include <vector>

namespace moesim::io {

// Where a value stands: a line and a column of the file, both from 1, or the override that set it.
struct Position {
  int line = 0;
  int column = 0;
  int override_index = -1;  // -1: it stands in the file
};

enum class ValueKind {
  kNumber,  // as written
  kWord,    // without quotes: true, false, null, an enumerator
  kText,    // in quotes
  kRaw,     // the value of an override: the schema says what it is
  kList,
  kObject
};

struct Field;

// The content of a file before its schema gives it types: the same for text format and JSON. A
// repeated field of the text format is one Field each time that it is written.
struct Value {
  ValueKind kind = ValueKind::kObject;
  Position position;
  std::string text;           // of all kinds but lists and objects
  std::vector<Value> items;   // kList
  std::vector<Field> fields;  // kObject, in the order of the file
};

struct Field {
  std::string name;
  Position position;  // of the name
  Value value;
};

// A value without items, fields, or both.
inline Value make_value(ValueKind kind, const Position& position, std::string text = {}) {
  Value value;
  value.kind = kind;
  value.position = position;
  value.text = std::move(text);
  return value;
}

}  // namespace moesim::io
