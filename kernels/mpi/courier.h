#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kernels/mpi/mpi_world.h"
#include "kernels/mpi/pulse.h"
#include "kernels/mpi/transfers.h"

namespace moesim {

struct CourierOptions {
  bool wants_real_time = false;
  // How long another process may say nothing. With the time that it takes to notice and to say
  // so, the others end well within ten seconds.
  std::chrono::seconds silence{5};
  // On process 0: what happens, on the courier's thread, with news of others. What it throws fails
  // everything.
  Pulse::Listener listener{};
};

// The one thread of this process that calls MPI while it lives. Threads hand it messages and sleep
// until they have travelled; those of all threads travel at the same time. It looks after them
// often while they move, seldom otherwise, and never spins: the cores are for the ranks.
//
// Processes show each other that they live. When one falls silent, everything fails.
class Courier {
 public:
  Courier(const MpiWorld& world, CourierOptions options);
  ~Courier();
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;
  Courier(Courier&&) = delete;
  Courier& operator=(Courier&&) = delete;

  int process() const { return world_.process(); }
  int num_processes() const { return world_.num_processes(); }

  // Returns when all have left and arrived. Throws why this process cannot go on.
  void exchange(std::vector<Message> sends, std::vector<Message> receives);

  // Runs a protocol that calls MPI itself, on the courier's thread. Meanwhile no message moves.
  void call(const std::function<void()>& protocol);

  // Tells process 0 with its next sign of life.
  void tell(std::string news);

  // Every exchange ends with the error, now and from now on. The first error counts.
  void fail(std::exception_ptr error);
  // Throws it.
  void check() const;

 private:
  struct Call {
    std::function<void()> protocol;
    std::promise<void> done;
  };

  template <typename Order>
  void submit(std::unique_ptr<Order> order, std::vector<std::unique_ptr<Order>>& orders);
  void serve();
  bool take_orders();
  void idle(bool has_moved);
  void give_up();

  const MpiWorld& world_;
  const CourierOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Exchange>> new_exchanges_;
  std::vector<std::unique_ptr<Call>> new_calls_;
  std::string news_;
  std::exception_ptr error_;
  bool is_closing_ = false;

  // Of the courier's thread.
  Transfers transfers_;
  Pulse pulse_;
  std::chrono::microseconds pause_{};
  std::thread thread_;
};

}  // namespace moesim
