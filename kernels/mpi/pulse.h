#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "kernels/host/real_time.h"
#include "kernels/mpi/mpi_call.h"

namespace moesim {

// Signs of life, several a second: every process sends them to process 0, with news if it has any,
// and process 0 to all. Only the courier's thread uses it.
class Pulse {
 public:
  // `silence`: how long a process may say nothing.
  Pulse(int process, int num_processes, std::chrono::seconds silence);

  // What process 0 shall hear with the next sign of life. Not for process 0 itself.
  void set_news(std::string news) { news_ = std::move(news); }

  // On process 0: called for news of others.
  using Listener = std::function<void(const std::string& news, int process)>;

  // To be called often. Throws Silence.
  void beat(MonotonicTime now, const Listener& listener);

 private:
  struct Sign {
    std::string bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  bool is_heard_by(int other) const { return process_ == 0 || other == 0; }
  void hear(MonotonicTime now, const Listener& listener);
  void look_for_silence(MonotonicTime now) const;
  void send();
  void forget_sent();

  int process_;
  int num_processes_;
  std::chrono::seconds silence_;
  std::vector<MonotonicTime> last_heard_;  // by process
  MonotonicTime last_beat_;
  MonotonicTime last_sent_;
  std::string news_;
  std::list<Sign> sent_;
};

}  // namespace moesim
