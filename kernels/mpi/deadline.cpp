#include "kernels/mpi/deadline.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include <fmt/core.h>

namespace moesim {

Deadline::Deadline(std::chrono::milliseconds patience, std::string message)
    : thread_([this, patience, text = std::move(message)] { watch(patience, text); }) {}

Deadline::~Deadline() {
  {
    const std::lock_guard lock(mutex_);
    is_met_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Deadline::watch(std::chrono::milliseconds patience, const std::string& message) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, patience, [this] { return is_met_; })) {
    fmt::print(stderr, "{}\n", message);
    std::_Exit(1);
  }
}

}  // namespace moesim
