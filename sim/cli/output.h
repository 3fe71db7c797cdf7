#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sim/program/verifier.h"

namespace moesim {

// Writes to standard output, and throws std::runtime_error when that fails (a full disk).
void print_out(std::string_view text);

// "1 file", "2 files"
std::string counted(std::size_t count, std::string_view thing);

// What `verify` prints: a line per problem and warning, or that there are none.
std::string to_text(const Verdict& verdict, const Program& program);

// {"ok", "problems": [{"kind", "tasks", "message"}], "warnings"}
std::string to_json(const Verdict& verdict, const Program& program);

}  // namespace moesim
