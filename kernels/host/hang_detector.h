#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kernels/host/host_script.h"
#include "kernels/host/transport.h"

namespace moesim {

struct StandstillReport {
  int run = 0;
  Standstill standstill;
};

// Tells a run that hangs from one that waits for the network. A process that cannot go on alone
// says so, with the interval of its standstill. If there is a moment at which all stood still and
// no collective had all its members and some that had not left, nothing was under way: nothing
// will ever change.
//
// Lives on process 0; several threads may use it.
class HangDetector {
 public:
  // Clocks of processes agree to within this.
  static constexpr Time kMargin = Time::from_picoseconds(10'000'000'000);

  // Keeps references to both.
  HangDetector(const Program& program, const HostScript& script, int num_processes);

  // Forgets the runs before.
  void begin(int run);

  // What a process reports about a run. Throws Hang when that makes it one.
  void add(int process, StandstillReport report);
  // The same as bytes.
  void hear(int process, const std::string& bytes);

 private:
  void accept(int process, Standstill standstill);
  void look() const;

  const Program& program_;
  const HostScript& script_;
  std::mutex mutex_;
  int run_ = 0;
  std::vector<std::optional<Standstill>> latest_;  // by process
};

// The report as bytes.
std::string to_bytes(const StandstillReport& report);

}  // namespace moesim
