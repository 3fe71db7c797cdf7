#pragma once

#include <string>
#include <vector>

#include "kernels/mpi/courier.h"

namespace moesim {

// Every process calls these, one after the other from one thread.

// On process 0 the bytes of all processes, in order; nothing elsewhere.
std::vector<std::string> gather(Courier& courier, std::string bytes);

// The bytes of process 0, everywhere.
std::string broadcast(Courier& courier, std::string bytes);

// Returns when all processes have called it.
void barrier(Courier& courier);

}  // namespace moesim
