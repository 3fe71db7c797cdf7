#pragma once

#include <string>

#include "sim/io/program.h"
#include "sim/program/verifier.h"

namespace moesim {

// For people: a line per problem and warning, then a summary.
std::string to_text(const Verdict& verdict, const Program& program);

// {"ok", "problems": [{"kind", "tasks", "message"}], "warnings"}, ending in a newline.
std::string to_json(const Verdict& verdict, const Program& program);

}  // namespace moesim
