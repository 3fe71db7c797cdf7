#pragma once

#include <string>

#include "sim/io/internal/value.h"

namespace moesim::io {

// Reads protobuf's text format, with protobuf's own tokenizer. (Its TextFormat::Parser reports many
// errors at the token after the mistake, often on the next line, and takes numbers for
// enumerators.) Throws Error at "path:line:column".
Value parse_text(const std::string& text, const std::string& path);

}  // namespace moesim::io
