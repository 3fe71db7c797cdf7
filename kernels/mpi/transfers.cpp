#include "kernels/mpi/transfers.h"

#include <algorithm>
#include <utility>

namespace moesim {
namespace {

// Shorter than what Open MPI's TCP sends without asking (btl_tcp_eager_limit, 64 KiB). Longer ones
// cost it a handshake each, which waits in line behind data: 30 % at 100 Mbit/s.
constexpr size_t kSegment = size_t{60} * 1024;
// Segments of one message: while one is noticed as complete, others fill the network.
constexpr int kWindow = 8;
// What may leave before the receiver is ready.
constexpr size_t kEarly = 4 * kSegment;

// Each message has a tag for its data and one for its receiver's readiness.
int data_tag(const Message& message) {
  return 2 * message.tag;
}
int ready_tag(const Message& message) {
  return 2 * message.tag + 1;
}

}  // namespace

void Transfers::start(std::unique_ptr<Exchange> exchange) {
  if (exchange->sends.empty() && exchange->receives.empty()) {
    exchange->done.set_value();
    return;
  }
  Exchange* started = exchange.get();
  departures_.push_back({std::move(exchange), 0});
  std::vector<Trip*> trips;
  for (const Message& message : started->receives) {  // first: nothing arrives unexpected
    trips.push_back(add(started, message, false));
  }
  for (const Message& message : started->sends) {
    trips.push_back(add(started, message, true));
  }
  for (Trip* trip : trips) {
    if (trip->message.bytes.size() > kEarly) {
      add_ready(trip);
    }
    post(trip);
  }
}

Transfers::Trip* Transfers::add(Exchange* exchange, const Message& message, bool is_send) {
  ++departures_.back().num_trips;
  return &trips_.emplace_back(
      Trip{.exchange = exchange, .message = message, .is_send = is_send, .tag = data_tag(message)});
}

// The receiver says when it is ready, the sender waits for it.
void Transfers::add_ready(Trip* trip) {
  const Message& message = trip->message;
  Trip* ready = add(trip->exchange, {message.process, message.tag, {}}, !trip->is_send);
  ready->tag = ready_tag(message);
  if (trip->is_send) {
    ready->releases = trip;
    trip->is_released = false;
  }
  post(ready);
}

void Transfers::post(Trip* trip) {
  while (trip->num_under_way < kWindow && !trip->is_posted &&
         (trip->is_released || trip->posted < kEarly)) {
    post_segment(*trip);
  }
}

void Transfers::post_segment(Trip& trip) {
  const Message& message = trip.message;
  const size_t size = std::min(kSegment, message.bytes.size() - trip.posted);
  std::byte* first = message.bytes.data() + trip.posted;
  MPI_Request request = MPI_REQUEST_NULL;
  const int count = static_cast<int>(size);
  if (trip.is_send) {
    check_mpi(
        MPI_Isend(first, count, MPI_BYTE, message.process, trip.tag, MPI_COMM_WORLD, &request),
        "MPI_Isend");
  } else {
    check_mpi(
        MPI_Irecv(first, count, MPI_BYTE, message.process, trip.tag, MPI_COMM_WORLD, &request),
        "MPI_Irecv");
  }
  trip.posted += size;
  trip.is_posted = trip.posted == message.bytes.size();
  ++trip.num_under_way;
  requests_.push_back(request);
  owners_.push_back(&trip);
}

bool Transfers::progress() {
  if (requests_.empty()) {
    return false;
  }
  completed_.resize(requests_.size());
  int count = 0;
  check_mpi(MPI_Testsome(static_cast<int>(requests_.size()),
                         requests_.data(),
                         &count,
                         completed_.data(),
                         MPI_STATUSES_IGNORE),
            "MPI_Testsome");
  for (int i = 0; i < count; ++i) {
    Trip* trip = std::exchange(owners_[completed_[i]], nullptr);
    --trip->num_under_way;
    post(trip);
    if (trip->num_under_way == 0 && trip->is_posted) {
      end(trip);
    }
  }
  std::erase(owners_, nullptr);
  std::erase(requests_, MPI_REQUEST_NULL);
  return count > 0;
}

void Transfers::end(Trip* trip) {
  Exchange* exchange = trip->exchange;
  if (trip->releases != nullptr) {
    trip->releases->is_released = true;
    post(trip->releases);
  }
  trips_.remove_if([&](const Trip& one) { return &one == trip; });
  const auto departure =
      std::find_if(departures_.begin(), departures_.end(), [&](const Departure& one) {
        return one.exchange.get() == exchange;
      });
  if (--departure->num_trips == 0) {
    exchange->done.set_value();
    departures_.erase(departure);
  }
}

void Transfers::fail(const std::exception_ptr& error) {
  for (Departure& departure : departures_) {
    departure.exchange->done.set_exception(error);
  }
  departures_.clear();
  trips_.clear();
  requests_.clear();
  owners_.clear();
}

}  // namespace moesim
