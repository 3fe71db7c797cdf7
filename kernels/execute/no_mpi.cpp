#include "kernels/execute/execute.h"
#include "sim/base/error.h"

namespace moesim {

int execute_on_mpi(const RunOptions&) {
  throw Error(
      "--transport mpi: this moesim-execute was built without Open MPI; install libopenmpi-dev and "
      "openmpi-bin, then configure and build again");
}

}  // namespace moesim
