#pragma once

#include "sim/cli/options.h"

namespace moesim {

// Reads the command line; a mistake in it throws Error. The only unit that sees CLI11.
Command parse_command_line(int argc, const char* const* argv);

}  // namespace moesim
