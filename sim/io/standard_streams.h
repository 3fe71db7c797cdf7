#pragma once

namespace moesim {

// Puts an unusable stand-in where standard input, output or error is closed. Otherwise the next
// file that is opened would take its place, and messages would be written into it.
void occupy_closed_streams();

}  // namespace moesim
