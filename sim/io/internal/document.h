#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/io/internal/overrides.h"
#include "sim/io/internal/schemas.h"
#include "sim/io/internal/source.h"
#include "sim/io/internal/value.h"

namespace moesim::io {

class Fields;

// A file's text, read as its schema says: names, types and enumerators are right, and nothing is
// unknown or given twice. What the values mean is for the caller to check, who reports mistakes
// through `error` or Fields.
class Document {
 public:
  // Throws Error where the text does not follow the schema.
  Document(Schema schema,
           const std::string& text,
           std::string path,
           const std::vector<Override>& overrides = {});
  ~Document();
  Document(const Document&) = delete;
  Document(Document&&) = delete;
  Document& operator=(const Document&) = delete;
  Document& operator=(Document&&) = delete;

  [[nodiscard]] const std::string& path() const { return source_.path; }
  // The file's name without folder and extension.
  [[nodiscard]] std::string stem() const;

  // The document's fields; it must live as long as they do.
  [[nodiscard]] Fields root() const;

  // True where the command line set the field, or what holds it.
  [[nodiscard]] bool is_overridden(const std::string& field_path) const;

  // An error located at a field, or, where it is absent, at what should hold it.
  [[nodiscard]] Error error(const std::string& field_path, const std::string& text) const;

 private:
  Source source_;
  Value root_;
  std::unique_ptr<google::protobuf::Message> message_;
};

}  // namespace moesim::io
