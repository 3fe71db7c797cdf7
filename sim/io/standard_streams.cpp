#include "sim/io/standard_streams.h"

#include <cerrno>
#include <initializer_list>

#include <fcntl.h>
#include <unistd.h>

namespace moesim {

void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) == -1 && errno == EBADF) {
      // The lowest free descriptor is this one. Writing to it fails, as it would if it were closed.
      static_cast<void>(open("/dev/null", O_RDONLY));
    }
  }
}

}  // namespace moesim
