#include "kernels/mpi/processes.h"
#include "sim/base/error.h"

namespace moesim {

int in_processes(const std::string& command, const std::function<int(const Processes&)>& /*part*/) {
  throw Error("--transport mpi: this " + command +
              " was built without Open MPI; install libopenmpi-dev and openmpi-bin, then configure "
              "and build again");
}

}  // namespace moesim
