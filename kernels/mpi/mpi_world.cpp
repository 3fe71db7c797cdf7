#include "kernels/mpi/mpi_world.h"

#include <cstdlib>
#include <exception>

#include <fmt/core.h>

#include "kernels/mpi/deadline.h"
#include "kernels/mpi/mpi_call.h"
#include "sim/base/error.h"

namespace moesim {
namespace {

// To start and to end, MPI waits for every process, without end where one was stopped.
constexpr std::chrono::seconds kMeeting{60};
// Then mpirun ends all of us.
constexpr std::chrono::seconds kAborting{5};

// Of the processes that share this machine's memory.
struct Here {
  int num_processes = 0;
  int place = 0;
};

Here find_out_who_is_here() {
  MPI_Comm here = MPI_COMM_NULL;
  Here found;
  check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here),
            "MPI_Comm_split_type");
  check_mpi(MPI_Comm_size(here, &found.num_processes), "MPI_Comm_size");
  check_mpi(MPI_Comm_rank(here, &found.place), "MPI_Comm_rank");
  check_mpi(MPI_Comm_free(&here), "MPI_Comm_free");
  return found;
}

}  // namespace

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) {
    return;
  }
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Failure(fmt::format("{}: {}", call, std::string(text, length)));
}

MpiWorld::MpiWorld() {
  const Deadline deadline(kMeeting, "MPI does not start: a process died, hangs or was cut off");
  int provided = MPI_THREAD_SINGLE;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
  if (provided < MPI_THREAD_SERIALIZED) {
    MPI_Finalize();
    throw Failure("this MPI does not serve more than one thread of a process");
  }
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &process_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &num_processes_), "MPI_Comm_size");
  const Here here = find_out_who_is_here();
  num_here_ = here.num_processes;
  place_here_ = here.place;
}

MpiWorld::~MpiWorld() {
  if (std::uncaught_exceptions() == 0) {
    const Deadline deadline(kMeeting, "MPI does not end: a process died, hangs or was cut off");
    MPI_Finalize();
  }
}

void MpiWorld::abort(int exit_code) {
  const Deadline deadline(kAborting, "MPI does not end the processes");
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

}  // namespace moesim
