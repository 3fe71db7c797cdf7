#include "kernels/mpi/processes.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include <fmt/core.h>

#include "kernels/mpi/mpi_world.h"
#include "kernels/mpi/shares.h"
#include "kernels/mpi/silence.h"
#include "sim/base/error.h"

namespace moesim {
namespace {

// Runs of one kind and then of the other: each has a courier, and one thread may call MPI.
class Shares {
 public:
  explicit Shares(MpiWorld& world) : world_(world) {}

  ExecutedRuns run(const Program& program, const HostOptions& host, const RepeatOptions& runs) {
    forget();
    threads_ = std::make_unique<ThreadShare>(world_, program, host);
    return threads_->run(runs);
  }

  ExecutedRuns run_ranks(const Program& program,
                         const MakeRankExecutor& make,
                         const RepeatOptions& runs) {
    forget();
    rank_ = std::make_unique<RankShare>(world_, program, make);
    return rank_->run(runs);
  }

  // The last one lives until all processes are done: while process 0 reports, the couriers of the
  // others show that they live.
  void wait_for_all() {
    if (threads_) {
      threads_->wait_for_all();
    }
    if (rank_) {
      rank_->wait_for_all();
    }
  }

 private:
  void forget() {
    threads_.reset();
    if (rank_) {
      rank_->wait_for_all();
      rank_.reset();
    }
  }

  MpiWorld& world_;
  std::unique_ptr<ThreadShare> threads_;
  std::unique_ptr<RankShare> rank_;
};

int run_part(MpiWorld& world, const std::function<int(const Processes&)>& part) {
  Shares shares(world);
  const Processes processes{
      .process = world.process(),
      .num_processes = world.num_processes(),
      .num_here = world.num_here(),
      .place_here = world.place_here(),
      .tell_here = [&world](const std::string& text) { return world.tell_here(text); },
      .run = [&](const auto&... what) { return shares.run(what...); },
      .run_ranks = [&](const auto&... what) { return shares.run_ranks(what...); }};
  const int exit_code = part(processes);
  shares.wait_for_all();
  return exit_code;
}

// What all processes find wrong, the first says, and ends all: each leaves those before it time to.
// Process 0 may need some, unless it is the one that fell silent.
std::chrono::milliseconds turn(int process, bool first_is_silent) {
  constexpr std::chrono::milliseconds kForFirst{2000};
  constexpr std::chrono::milliseconds kForOthers{300};
  constexpr int kLastTurn = 5;
  const auto others = kForOthers * std::min(process, kLastTurn);
  return process == 0 || first_is_silent ? others : kForFirst + others;
}

struct Ending {
  std::string message;
  int exit_code = 1;
  bool first_is_silent = false;
};

[[noreturn]] void end_all(const MpiWorld& world, const Ending& ending) {
  std::this_thread::sleep_for(turn(world.process(), ending.first_is_silent));
  const std::string who = world.process() == 0 ? "" : fmt::format("process {}: ", world.process());
  fmt::print(stderr, "{}{}\n", who, ending.message);
  MpiWorld::abort(ending.exit_code);
}

}  // namespace

int in_processes(const std::string& command, const std::function<int(const Processes&)>& part) {
  MpiWorld world;
  const auto failed = [&command](const std::exception& error) {
    return fmt::format("{}: {}", command, error.what());
  };
  try {
    return run_part(world, part);
  } catch (const Error& error) {
    end_all(world, {.message = error.what(), .exit_code = 2});
  } catch (const Silence& silence) {
    end_all(world, {.message = failed(silence), .first_is_silent = silence.process() == 0});
  } catch (const std::exception& error) {
    end_all(world, {.message = failed(error)});
  }
}

}  // namespace moesim
