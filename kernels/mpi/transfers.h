#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <future>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "kernels/mpi/mpi_call.h"

namespace moesim {

// Bytes to or from another process (or this one). Messages of one tag between two processes keep
// their order.
struct Message {
  int process = 0;
  int tag = 0;
  std::span<std::byte> bytes;  // must live until the exchange is over
};

// Messages that travel together; `done` is set when all have left and arrived.
struct Exchange {
  std::vector<Message> sends;
  std::vector<Message> receives;
  std::promise<void> done{};
};

// The messages under way. Long ones travel in segments, a few at a time: transfers of several
// exchanges share the network by turns, and short messages need not wait for the end of a long one.
//
// A message's first segments may leave before its receiver asks for it, and wait there; the rest
// follows when the receiver has said that it is ready. So data move when both sides have come, as
// with the bounded buffers of NCCL, and short messages cost no round trip.
class Transfers {
 public:
  void start(std::unique_ptr<Exchange> exchange);

  bool is_idle() const { return requests_.empty(); }

  // Completes what is complete and posts what comes next; true where there was something.
  bool progress();

  // All exchanges end with the error. What is under way is given up: MPI is to be aborted.
  void fail(const std::exception_ptr& error);

 private:
  struct Trip {
    Exchange* exchange = nullptr;
    Message message;
    bool is_send = false;
    int tag = 0;
    Trip* releases = nullptr;  // a send whose receiver is ready when this one ends
    bool is_released = true;
    size_t posted = 0;  // bytes
    bool is_posted = false;
    int num_under_way = 0;  // segments
  };

  struct Departure {
    std::unique_ptr<Exchange> exchange;
    int num_trips = 0;  // not ended
  };

  Trip* add(Exchange* exchange, const Message& message, bool is_send);
  void add_ready(Trip* trip);
  void post(Trip* trip);
  void post_segment(Trip& trip);
  void end(Trip* trip);

  std::list<Trip> trips_;
  std::list<Departure> departures_;
  std::vector<MPI_Request> requests_;  // segments under way
  std::vector<Trip*> owners_;          // of each request
  std::vector<int> completed_;         // scratch
};

}  // namespace moesim
