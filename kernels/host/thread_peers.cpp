#include "kernels/host/thread_peers.h"

#include <cstring>
#include <utility>

namespace moesim {
namespace {

// So that all threads have left the meeting before the first begins.
constexpr std::chrono::milliseconds kHeadStart{1};

}  // namespace

class ThreadPeers::Rank : public RankPeers {
 public:
  Rank(ThreadPeers& all, int rank, int num_ranks) : all_(all), rank_(rank), num_ranks_(num_ranks) {}

  int rank() const override { return rank_; }
  int num_ranks() const override { return num_ranks_; }

  std::vector<std::string> gather(std::string bytes) override {
    std::vector<std::string> brought = all_.exchange(rank_, std::move(bytes));
    return rank_ == 0 ? std::move(brought) : std::vector<std::string>();
  }

  std::string broadcast(std::string bytes) override {
    return all_.exchange(rank_, rank_ == 0 ? std::move(bytes) : std::string()).front();
  }

  // They share a clock.
  MonotonicTime agree_on_start() override {
    all_.exchange(rank_, {});
    if (rank_ == 0) {
      const std::lock_guard lock(all_.mutex_);
      all_.detector_.begin(++all_.run_);
    }
    const auto start = (std::chrono::steady_clock::now() + kHeadStart).time_since_epoch().count();
    std::string bytes(sizeof(start), '\0');
    std::memcpy(bytes.data(), &start, sizeof(start));
    bytes = broadcast(std::move(bytes));
    std::remove_const_t<decltype(start)> agreed{};
    std::memcpy(&agreed, bytes.data(), sizeof(agreed));
    return MonotonicTime(MonotonicTime::duration(agreed));
  }

  void watch(const std::optional<Standstill>& standstill) override {
    all_.report(rank_, standstill);
  }

  void fail(std::exception_ptr error) override { all_.fail(std::move(error)); }

 private:
  ThreadPeers& all_;
  int rank_;
  int num_ranks_;
};

ThreadPeers::ThreadPeers(const Program& program, const HostScript& script)
    : brought_(static_cast<size_t>(program.num_ranks)),
      detector_(program, script, program.num_ranks) {
  for (int rank = 0; rank < program.num_ranks; ++rank) {
    ranks_.push_back(std::make_unique<Rank>(*this, rank, program.num_ranks));
  }
}

// What was brought is shared until the next round is complete: everybody has it by then.
std::vector<std::string> ThreadPeers::exchange(int rank, std::string bytes) {
  std::unique_lock lock(mutex_);
  const int own_round = round_;
  brought_[static_cast<size_t>(rank)] = std::move(bytes);
  if (++num_brought_ == static_cast<int>(brought_.size())) {
    num_brought_ = 0;
    ++round_;
    shared_ = std::exchange(brought_, std::vector<std::string>(brought_.size()));
    changed_.notify_all();
  }
  changed_.wait(lock, [&] { return error_ || round_ > own_round; });
  if (error_) {
    std::rethrow_exception(error_);
  }
  return shared_;
}

void ThreadPeers::report(int rank, const std::optional<Standstill>& standstill) {
  int run = 0;
  {
    const std::lock_guard lock(mutex_);
    if (error_) {
      std::rethrow_exception(error_);
    }
    run = run_;
  }
  if (standstill) {
    detector_.add(rank, {run, *standstill});
  }
}

void ThreadPeers::fail(std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex_);
    if (!error_) {
      error_ = std::move(error);
    }
  }
  changed_.notify_all();
}

}  // namespace moesim
