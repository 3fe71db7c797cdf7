#pragma once

#include <string>

#include "sim/io/internal/value.h"

namespace moesim::io {

// Reads JSON strictly (RFC 8259). (Protobuf's json_util takes trailing commas, single quotes and
// camelCase names, and writes 64-bit numbers as strings.) Numbers keep their text, so that none
// loses digits. Positions are left empty: values are located by their field. Throws Error at
// "path:line:column".
Value parse_json(const std::string& text, const std::string& path);

}  // namespace moesim::io
