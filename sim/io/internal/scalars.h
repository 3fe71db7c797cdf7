#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/error.h"
#include "sim/io/internal/source.h"
#include "sim/io/internal/value.h"

namespace moesim::io {

// A value that is not of the type its field asks for; located by the caller.
class TypeError : public Error {
 public:
  using Error::Error;
};

// Turn one value of a document into the type that its field asks for. Each throws TypeError.
std::int32_t to_int32(const Value& value);
std::int64_t to_int64(const Value& value);
std::uint64_t to_uint64(const Value& value);
double to_double(const Value& value);  // finite
bool to_bool(const Value& value);
std::string to_text(const Value& value);  // valid UTF-8; a number needs no quotes

// The text of an enumerator: a word in text format, quoted in JSON. `allowed` are the names.
std::string to_enumerator(const Value& value,
                          Format format,
                          const std::vector<std::string>& allowed);

}  // namespace moesim::io
