#pragma once

#include <string>

namespace google::protobuf {
class Message;
}

namespace moesim::io {

// A message as JSON with the schema's own names, ending in a newline: what is set, zeros too, and
// every list, empty ones too. Numbers stay numbers and read back exactly. The items of the outer
// lists stand on lines of their own.
std::string to_json(const google::protobuf::Message& message);

// A message in text format: what is set.
std::string to_text(const google::protobuf::Message& message);

}  // namespace moesim::io
