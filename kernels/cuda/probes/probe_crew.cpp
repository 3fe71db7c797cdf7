#include "kernels/cuda/probes/probe_crew.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/error.h"

namespace moesim {
namespace {

// How often communicators are asked for errors. Chosen, not measured: seldom enough for a probe
// not to notice.
constexpr std::chrono::milliseconds kInterval{10};

}  // namespace

ProbeCrew::ProbeCrew(std::vector<Communicators*> communicators, Time patience)
    : communicators_(std::move(communicators)),
      patience_(patience),
      crew_(static_cast<int>(communicators_.size()), false) {}

void ProbeCrew::run(const std::string& what, const std::function<void(int)>& body) {
  error_ = nullptr;
  is_back_.assign(communicators_.size(), false);
  const std::function<void(int)> guarded = [&](int rank) {
    try {
      body(rank);
      come_back(rank, nullptr);
    } catch (...) {
      come_back(rank, std::current_exception());
    }
  };
  crew_.start(guarded);
  try {
    watch(what);
  } catch (...) {
    fail(std::current_exception());
  }
  if (has_failed()) {
    abort();
  }
  crew_.finish();
  if (error_) {
    std::rethrow_exception(error_);
  }
}

void ProbeCrew::come_back(int rank, std::exception_ptr error) {
  if (error) {
    fail(std::move(error));
  }
  {
    const std::lock_guard lock(mutex_);
    is_back_[static_cast<size_t>(rank)] = true;
  }
  changed_.notify_all();
}

void ProbeCrew::fail(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (!error_) {
    error_ = std::move(error);
  }
}

bool ProbeCrew::has_failed() {
  const std::lock_guard lock(mutex_);
  return error_ != nullptr;
}

// Until is_over(). Throws where communicators do, and when it has taken too long.
void ProbeCrew::watch(const std::string& what) {
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(patience_.seconds());
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kInterval, [this] { return is_over(); })) {
    if (std::chrono::steady_clock::now() >= end) {
      throw Failure(
          fmt::format("{}: {} not come back after {:g} s; NCCL_DEBUG=INFO makes NCCL say "
                      "what it is at",
                      what,
                      missing_ranks(),
                      patience_.seconds()));
    }
    lock.unlock();
    for (Communicators* communicators : communicators_) {
      communicators->poll();
    }
    lock.lock();
  }
}

bool ProbeCrew::is_over() {
  return error_ != nullptr || std::ranges::find(is_back_, false) == is_back_.end();
}

std::string ProbeCrew::missing_ranks() {
  std::vector<size_t> ranks;
  for (size_t rank = 0; rank < is_back_.size(); ++rank) {
    if (!is_back_[rank]) {
      ranks.push_back(rank);
    }
  }
  return fmt::format("{} {} {}",
                     ranks.size() == 1 ? "rank" : "ranks",
                     fmt::join(ranks, ", "),
                     ranks.size() == 1 ? "has" : "have");
}

void ProbeCrew::abort() {
  std::vector<std::jthread> threads;
  threads.reserve(communicators_.size());
  for (Communicators* communicators : communicators_) {
    threads.emplace_back([communicators] { communicators->abort(); });
  }
}

}  // namespace moesim
