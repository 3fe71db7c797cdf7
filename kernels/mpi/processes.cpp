#include "kernels/mpi/processes.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <sstream>
#include <thread>
#include <vector>

#include <fmt/core.h>

#include "kernels/mpi/collect.h"
#include "kernels/mpi/mpi_executor.h"
#include "kernels/mpi/mpi_world.h"
#include "kernels/mpi/silence.h"
#include "kernels/results.h"
#include "sim/base/error.h"
#include "sim/base/hash.h"

namespace moesim {
namespace {

// What a process has of a Program. It lives until all processes are done: while process 0 reports,
// the couriers of the others show that they live.
class Share {
 public:
  Share(MpiWorld& world, const Program& program, const HostOptions& host)
      : program_(program), executor_(world, program_, host), tensors_(program_, executor_.ranks()) {
    require_same();
  }

  ExecutedRuns run(const RepeatOptions& options) {
    ExecutedRuns executed{repeat(executor_, options, tensors_), {}};
    const std::vector<std::string> results = gather(executor_.courier(), results_to_text(tensors_));
    if (!results.empty()) {
      executed.results = interleave(results);
    }
    return executed;
  }

  void wait_for_all() { barrier(executor_.courier()); }

 private:
  // Process 0 finds it out: the others wait for it before they run.
  void require_same() {
    const std::string own = content_hash(program_to_json(program_));
    const std::vector<std::string> all = gather(executor_.courier(), own);
    for (size_t process = 0; process < all.size(); ++process) {
      if (all[process] != own) {
        throw Error(program_.name,
                    fmt::format("process {} made another Program; give all processes the same "
                                "files and the same moesim",
                                process));
      }
    }
  }

  // The lines of all processes in the order that one process would write: tensor by tensor.
  std::string interleave(const std::vector<std::string>& texts) const {
    std::vector<std::istringstream> streams(texts.begin(), texts.end());
    std::string all;
    while (streams.front().peek() != std::istringstream::traits_type::eof()) {
      for (std::istringstream& stream : streams) {
        std::string line;
        for (size_t i = 0; i < executor_.ranks().size() && std::getline(stream, line); ++i) {
          all += line + '\n';
        }
      }
    }
    return all;
  }

  Program program_;
  MpiExecutor executor_;
  TensorStore tensors_;
};

int run_part(MpiWorld& world, const std::function<int(const Processes&)>& part) {
  std::unique_ptr<Share> share;
  const auto run = [&](const Program& program, const HostOptions& host, const RepeatOptions& runs) {
    share.reset();
    share = std::make_unique<Share>(world, program, host);
    return share->run(runs);
  };
  const int exit_code = part({world.process(), world.num_processes(), world.num_here(), run});
  if (share) {
    share->wait_for_all();
  }
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
