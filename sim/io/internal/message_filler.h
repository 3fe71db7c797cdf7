#pragma once

#include "sim/io/internal/source.h"
#include "sim/io/internal/value.h"

namespace google::protobuf {
class Message;
}

namespace moesim::io {

// Fills a message from an untyped document. Throws Error at unknown fields, fields given twice, two
// members of a oneof, and values that are not of the field's type.
void fill_message(google::protobuf::Message& message, const Value& root, const Source& source);

}  // namespace moesim::io
