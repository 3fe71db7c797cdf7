#include "kernels/mpi/courier.h"

#include <algorithm>
#include <utility>

#include <pthread.h>

#include "kernels/host/real_time.h"

namespace moesim {
namespace {

// Pauses between looks, each twice the one before while nothing moves. At 1 Gbit/s a window of
// segments takes 8 ms. Even without messages of its own a process must look now and then: what it
// sent may still lie in MPI's hands.
constexpr std::chrono::microseconds kFirstPause{50};
constexpr std::chrono::microseconds kLongestPause{200};
constexpr std::chrono::microseconds kIdlePause{2000};

}  // namespace

Courier::Courier(const MpiWorld& world, CourierOptions options)
    : world_(world),
      options_(std::move(options)),
      pulse_(world.process(), world.num_processes(), options_.silence),
      thread_([this] { serve(); }) {}

Courier::~Courier() {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Courier::exchange(std::vector<Message> sends, std::vector<Message> receives) {
  auto exchange = std::make_unique<Exchange>();
  exchange->sends = std::move(sends);
  exchange->receives = std::move(receives);
  submit(std::move(exchange), new_exchanges_);
}

void Courier::call(const std::function<void()>& protocol) {
  auto call = std::make_unique<Call>();
  call->protocol = protocol;
  submit(std::move(call), new_calls_);
}

// Hands it to the courier's thread and waits until it is done.
template <typename Order>
void Courier::submit(std::unique_ptr<Order> order, std::vector<std::unique_ptr<Order>>& orders) {
  std::future<void> done = order->done.get_future();
  {
    const std::lock_guard lock(mutex_);
    if (error_) {
      std::rethrow_exception(error_);
    }
    orders.push_back(std::move(order));
  }
  changed_.notify_all();
  done.get();
}

void Courier::tell(std::string news) {
  const std::lock_guard lock(mutex_);
  news_ = std::move(news);
}

void Courier::fail(std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex_);
    if (!error_) {
      error_ = std::move(error);
    }
  }
  changed_.notify_all();
}

void Courier::check() const {
  const std::lock_guard lock(mutex_);
  if (error_) {
    std::rethrow_exception(error_);
  }
}

void Courier::serve() {
  pthread_setname_np(pthread_self(), "courier");
  prepare_thread(options_.wants_real_time);
  try {
    while (take_orders()) {
      const bool has_moved = transfers_.progress();
      pulse_.beat(std::chrono::steady_clock::now(), options_.listener);
      idle(has_moved);
    }
  } catch (...) {
    fail(std::current_exception());
  }
  give_up();
}

// False when there is nothing more to do: the courier is not needed any more, or all is lost.
bool Courier::take_orders() {
  std::vector<std::unique_ptr<Exchange>> exchanges;
  std::vector<std::unique_ptr<Call>> calls;
  {
    const std::lock_guard lock(mutex_);
    if (is_closing_ || error_) {
      return false;
    }
    exchanges = std::exchange(new_exchanges_, {});
    calls = std::exchange(new_calls_, {});
    if (!news_.empty()) {
      pulse_.set_news(std::exchange(news_, {}));
    }
  }
  if (!exchanges.empty() || !calls.empty()) {
    pause_ = {};
  }
  for (std::unique_ptr<Exchange>& exchange : exchanges) {
    transfers_.start(std::move(exchange));
  }
  for (const std::unique_ptr<Call>& call : calls) {
    try {
      call->protocol();
      call->done.set_value();
    } catch (...) {
      call->done.set_exception(std::current_exception());
      throw;
    }
  }
  return true;
}

void Courier::idle(bool has_moved) {
  const auto longest = transfers_.is_idle() ? kIdlePause : kLongestPause;
  pause_ = has_moved ? kFirstPause : std::clamp(2 * pause_, kFirstPause, longest);
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, pause_, [this] {
    return is_closing_ || error_ || !new_exchanges_.empty() || !new_calls_.empty();
  });
}

void Courier::give_up() {
  const std::lock_guard lock(mutex_);
  if (!error_) {
    return;
  }
  transfers_.fail(error_);
  for (const std::unique_ptr<Exchange>& exchange : std::exchange(new_exchanges_, {})) {
    exchange->done.set_exception(error_);
  }
  for (const std::unique_ptr<Call>& call : std::exchange(new_calls_, {})) {
    call->done.set_exception(error_);
  }
}

}  // namespace moesim
