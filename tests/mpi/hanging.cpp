// A Program that hangs, as one of the processes of mpirun: ranks 2 and 3 do not come to a
// collective on stream s, while all work on a long one on stream t. Process 0 says so and ends all
// with 1.
#include <cstdio>
#include <exception>

#include <fmt/core.h>

#include "kernels/hang.h"
#include "kernels/inputs.h"
#include "kernels/mpi/mpi_executor.h"
#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using namespace test;

Program hanging_program() {
  HandProgram hand(4, {"s", "t"});
  const int group = hand.add_group("all", {{0, 1, 2, 3}});
  Collective exchange = all_to_all(group);
  exchange.bytes = 1024;
  const int lonely = hand.add_collective("lonely", 0, exchange, ps(1));
  hand.task(lonely).roles = {0};
  exchange.bytes = 100'000'000;
  hand.add_collective("long", 1, exchange, ps(1));
  Program program = hand.program();
  program.roles = {{"first", {0, 1}}, {"second", {2, 3}}};
  return program;
}

int run() {
  MpiWorld world;
  const Program program = hanging_program();
  HostOptions options;
  options.patience = Time::from_seconds(0.05);
  try {
    MpiExecutor executor(world, program, options);
    TensorStore tensors(program, executor.ranks());
    executor.run(tensors);
  } catch (const Hang& hang) {
    fmt::print(stderr, "hang: {}\n", hang.what());
    MpiWorld::abort(1);
  }
  return 0;
}

}  // namespace
}  // namespace moesim

int main() {
  return moesim::run();
}
