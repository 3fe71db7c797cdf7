#include "kernels/mpi/mpi_world.h"

#include <cstdlib>
#include <exception>
#include <numeric>

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

// The processes that share this machine's memory, as a communicator of their own.
class Here {
 public:
  Here() {
    check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &all_),
              "MPI_Comm_split_type");
  }
  ~Here() { MPI_Comm_free(&all_); }
  Here(const Here&) = delete;
  Here& operator=(const Here&) = delete;
  Here(Here&&) = delete;
  Here& operator=(Here&&) = delete;

  int num_processes() const {
    int size = 0;
    check_mpi(MPI_Comm_size(all_, &size), "MPI_Comm_size");
    return size;
  }

  int place() const {
    int rank = 0;
    check_mpi(MPI_Comm_rank(all_, &rank), "MPI_Comm_rank");
    return rank;
  }

  std::vector<int> gather(int value) const {
    std::vector<int> values(static_cast<size_t>(num_processes()));
    check_mpi(MPI_Allgather(&value, 1, MPI_INT, values.data(), 1, MPI_INT, all_), "MPI_Allgather");
    return values;
  }

  std::vector<std::string> gather(const std::string& text) const {
    const int own = static_cast<int>(text.size());
    const std::vector<int> lengths = gather(own);
    std::vector<int> starts(lengths.size());
    std::exclusive_scan(lengths.begin(), lengths.end(), starts.begin(), 0);
    std::string joined(static_cast<size_t>(starts.back() + lengths.back()), '\0');
    check_mpi(MPI_Allgatherv(text.data(),
                             own,
                             MPI_CHAR,
                             joined.data(),
                             lengths.data(),
                             starts.data(),
                             MPI_CHAR,
                             all_),
              "MPI_Allgatherv");
    std::vector<std::string> texts;
    for (size_t place = 0; place < lengths.size(); ++place) {
      texts.push_back(
          joined.substr(static_cast<size_t>(starts[place]), static_cast<size_t>(lengths[place])));
    }
    return texts;
  }

 private:
  MPI_Comm all_ = MPI_COMM_NULL;
};

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
  const Here here;
  num_here_ = here.num_processes();
  place_here_ = here.place();
}

MpiWorld::~MpiWorld() {
  if (std::uncaught_exceptions() == 0) {
    const Deadline deadline(kMeeting, "MPI does not end: a process died, hangs or was cut off");
    MPI_Finalize();
  }
}

std::vector<std::string> MpiWorld::tell_here(const std::string& text) const {
  return Here().gather(text);
}

void MpiWorld::abort(int exit_code) {
  const Deadline deadline(kAborting, "MPI does not end the processes");
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

}  // namespace moesim
