#include "kernels/host/crew.h"

#include <system_error>

#include <fmt/format.h>
#include <sys/resource.h>

#include "kernels/host/real_time.h"
#include "sim/base/error.h"

namespace moesim {
namespace {

std::string process_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NPROC, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return "unlimited";
  }
  return fmt::to_string(limit.rlim_cur);
}

Failure too_few_threads(int started, int size, const std::error_code& reason) {
  return Failure(
      fmt::format("this machine starts {} of the {} threads that ranks and their streams need ({}; "
                  "ulimit -u is "
                  "{}); raise the limit of processes, or execute fewer ranks",
                  started,
                  size,
                  reason.message(),
                  process_limit()));
}

}  // namespace

Crew::Crew(int size, bool wants_real_time) : num_busy_(size) {
  threads_.reserve(size);
  try {
    for (int index = 0; index < size; ++index) {
      threads_.emplace_back([this, index, wants_real_time] { serve(index, wants_real_time); });
    }
  } catch (const std::system_error& error) {
    close();
    throw too_few_threads(static_cast<int>(threads_.size()), size, error.code());
  }
  finish();
}

Crew::~Crew() {
  close();
}

void Crew::close() {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  started_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

bool Crew::has_real_time() {
  const std::lock_guard lock(mutex_);
  return num_real_time_ == static_cast<int>(threads_.size());
}

void Crew::start(const std::function<void(int)>& body) {
  {
    const std::lock_guard lock(mutex_);
    body_ = &body;
    num_busy_ = static_cast<int>(threads_.size());
    ++round_;
  }
  started_.notify_all();
}

void Crew::finish() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [&] { return num_busy_ == 0; });
}

void Crew::serve(int index, bool wants_real_time) {
  const bool is_real_time = prepare_thread(wants_real_time);
  std::unique_lock lock(mutex_);
  num_real_time_ += is_real_time ? 1 : 0;
  for (int round = 0;; ++round) {
    if (--num_busy_ == 0) {
      idle_.notify_all();
    }
    started_.wait(lock, [&] { return is_closing_ || round_ > round; });
    if (is_closing_) {
      return;
    }
    lock.unlock();
    (*body_)(index);
    lock.lock();
  }
}

}  // namespace moesim
