#pragma once

#include <exception>
#include <optional>
#include <vector>

#include "kernels/host/real_time.h"
#include "kernels/tensor_store.h"
#include "sim/base/time.h"

namespace moesim {

// Which members came to which meetings of a script: [meeting][member].
using Attendance = std::vector<std::vector<bool>>;

// What a process knows that cannot go on alone.
struct Standstill {
  // Nothing changed here in this interval of the run's time; Time::max() when the process is done.
  Time from;
  Time to;
  Attendance arrived;
  Attendance left;
};

// Carries out collectives of a run whose ranks are spread over processes. Workers call carry_out,
// several at the same time; the thread that supervises the run calls the rest.
class Transport {
 public:
  virtual ~Transport() = default;

  // Waits until the ranks of all processes can begin, and returns the moment when they do, the same
  // in all of them.
  virtual MonotonicTime agree_on_start() = 0;

  // Moves the rows of one member of a meeting, and returns when its part is done: not before all
  // members have come. Throws what fail() was given, and what ended the run elsewhere.
  virtual void carry_out(int meeting, int member, TensorStore& tensors) = 0;

  // Called now and then, with a standstill where there is one. Throws what ended the run elsewhere,
  // and Hang where all processes stand still.
  virtual void watch(const std::optional<Standstill>& standstill) = 0;

  // The run ends with this: so does whatever waits in carry_out.
  virtual void fail(std::exception_ptr error) = 0;
};

}  // namespace moesim
