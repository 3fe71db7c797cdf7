#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "sim/io/internal/fields.h"

namespace moesim::io {

// The names of one kind of thing in a Program, turned into indices.
class NameTable {
 public:
  explicit NameTable(const char* kind) : kind_(kind) {}

  // Takes the "name" of the next thing. Throws Error where it is absent or not unique.
  std::string add(const Fields& thing);

  // The index of the name in a field, or in the index-th value of a list. Throws Error with a
  // suggestion where nothing has that name.
  [[nodiscard]] int find(const Fields& fields, const char* field) const;
  [[nodiscard]] int find(const Fields& fields, const char* field, int index) const;

  // kNone where the field is absent.
  [[nodiscard]] int find_or_none(const Fields& fields, const char* field) const;

  [[nodiscard]] const std::string& name(int index) const;

 private:
  [[nodiscard]] std::string unknown(const std::string& name) const;

  const char* kind_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, int> indices_;
};

// Those of a whole Program.
struct ProgramNames {
  NameTable roles = NameTable("role");
  NameTable groups = NameTable("group");
  NameTable tensors = NameTable("tensor");
  NameTable routings = NameTable("routing");
  NameTable tasks = NameTable("task");
};

}  // namespace moesim::io
