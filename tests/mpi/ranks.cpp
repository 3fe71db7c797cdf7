// A rank on each process, run by an executor that is not the CPU backend's: what it gathers,
// broadcasts and starts by goes between the processes. `ranks MODE`: "run" prints the results; with
// "hang" rank 2 stands still before a collective, with "fail" it fails.
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "kernels/host/merged_trace.h"
#include "kernels/mpi/processes.h"
#include "sim/base/error.h"
#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using namespace test;

// Every rank writes what rank 0 says plus its own number.
Program three_ranks() {
  HandProgram hand(3, {"s"});
  hand.add_tensor("y", 1);
  const int task =
      hand.add_collective("together", 0, all_to_all(hand.add_group("all", {{0, 1, 2}})), ps(1));
  hand.task(task).writes = {rows(hand.program(), 0)};
  return hand.program();
}

class TalkingExecutor : public Executor {
 public:
  TalkingExecutor(const Program& program, RankPeers& peers, std::string mode)
      : program_(program), peers_(peers), mode_(std::move(mode)) {
    groups_.update(program);
  }

  Execution run(TensorStore& tensors) override {
    peers_.agree_on_start();
    if (mode_ == "hang") {
      stand_still();
    }
    if (mode_ == "fail" && peers_.rank() == 2) {
      throw Failure("rank 2 has a broken link");
    }
    const std::string said = peers_.broadcast(std::to_string(100 * (peers_.rank() + 1)));
    *tensors.values(peers_.rank(), 0) = std::stof(said) + static_cast<float>(peers_.rank());
    fmt::print(stderr, "rank {} has {}\n", peers_.rank(), *tensors.values(peers_.rank(), 0));
    Execution execution;
    const Time end = ps(1000 + peers_.rank());
    execution.trace.spans = {{.rank = peers_.rank(),
                              .task = 0,
                              .launched = {},
                              .start = {},
                              .transfer = {},
                              .end = end}};
    const auto all = peers_.gather(spans_to_bytes(execution));
    if (!all.empty()) {
      execution = merge_runs(program_, make_host_script(program_, groups_, 1), all);
    }
    take_verdict(peers_.broadcast(verdict_of(execution)), execution);
    return execution;
  }

 private:
  // As the watch of a device would tell it, until somebody ends it.
  void stand_still() {
    Standstill standstill{
        Time::from_seconds(0), Time::from_seconds(1), {{false, false, false}}, {}};
    standstill.left = standstill.arrived;
    standstill.arrived[0][static_cast<size_t>(peers_.rank())] = peers_.rank() != 2;
    while (true) {
      peers_.watch(standstill);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  const Program& program_;
  RankPeers& peers_;
  std::string mode_;
  GroupTable groups_;
};

int run(const Processes& processes, const std::string& mode) {
  RepeatOptions options;
  options.num_warmups = 0;
  options.rule.least = options.rule.most = 2;
  std::string said;
  for (const std::string& text : processes.tell_here(std::string(processes.place_here, 'x'))) {
    said += "(" + text + ")";
  }
  fmt::print(stderr, "here: {}\n", said);
  for (int twice = 0; twice < 2; ++twice) {
    const ExecutedRuns runs = processes.run_ranks(
        three_ranks(),
        [&](const Program& program, RankPeers& peers) {
          return RankExecutor{std::make_unique<TalkingExecutor>(program, peers, mode),
                              [] { fmt::print(stderr, "closed\n"); }};
        },
        options);
    if (processes.process == 0) {
      fmt::print("{} spans\n{}", runs.runs.typical().trace.spans.size(), runs.results);
    }
    fmt::print(stderr,
               "place {} of {}, end {} ps\n",
               processes.place_here,
               processes.num_here,
               runs.runs.typical().trace.end.picoseconds());
  }
  return 0;
}

}  // namespace
}  // namespace moesim

int main(int, char** arguments) {
  return moesim::in_processes("ranks", [&](const moesim::Processes& processes) {
    return moesim::run(processes, arguments[1]);
  });
}
