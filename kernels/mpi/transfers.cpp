#include "kernels/mpi/transfers.h"

#include <algorithm>
#include <utility>

namespace moesim {
namespace {

// At 100 Mbit/s a segment takes 20 ms: what one message holds back of another.
constexpr size_t kSegment = size_t{256} * 1024;
// Of one message: while one is noticed as complete, others fill the network.
constexpr int kWindow = 4;

}  // namespace

void Transfers::start(std::unique_ptr<Exchange> exchange) {
  Departure departure;
  departure.exchange = std::move(exchange);
  departure.num_trips = departure.exchange->sends.size() + departure.exchange->receives.size();
  if (departure.num_trips == 0) {
    departure.exchange->done.set_value();
    return;
  }
  departures_.push_back(std::move(departure));
  Exchange* started = departures_.back().exchange.get();
  std::vector<Trip*> trips;
  for (const bool is_send : {false, true}) {  // receives first: nothing arrives unexpected
    for (const Message& message : is_send ? started->sends : started->receives) {
      trips_.push_back({.exchange = started, .message = message, .is_send = is_send});
      trips.push_back(&trips_.back());
    }
  }
  std::for_each(trips.begin(), trips.end(), [this](Trip* trip) { post(trip); });
}

void Transfers::post(Trip* trip) {
  while (trip->num_under_way < kWindow && !trip->is_posted) {
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
        MPI_Isend(first, count, MPI_BYTE, message.process, message.tag, MPI_COMM_WORLD, &request),
        "MPI_Isend");
  } else {
    check_mpi(
        MPI_Irecv(first, count, MPI_BYTE, message.process, message.tag, MPI_COMM_WORLD, &request),
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
    if (trip->num_under_way == 0) {
      end(trip);
    }
  }
  std::erase(owners_, nullptr);
  std::erase(requests_, MPI_REQUEST_NULL);
  return count > 0;
}

void Transfers::end(Trip* trip) {
  Exchange* exchange = trip->exchange;
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
