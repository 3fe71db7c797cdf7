#include "kernels/mpi/shares.h"

#include <sstream>
#include <utility>

#include <fmt/core.h>

#include "kernels/mpi/collect.h"
#include "sim/base/error.h"
#include "sim/base/hash.h"

namespace moesim {
namespace {

void require_same(Courier& courier, const Program& program) {
  const std::string own = content_hash(program_to_json(program));
  const std::vector<std::string> all = gather(courier, own);
  for (size_t process = 0; process < all.size(); ++process) {
    if (all[process] != own) {
      throw Error(program.name,
                  fmt::format("process {} made another Program; give all processes the same "
                              "files and the same moesim",
                              process));
    }
  }
}

// The lines of all processes in the order that one process would write: tensor by tensor.
std::string interleave(const std::vector<std::string>& texts, size_t ranks_per_process) {
  std::vector<std::istringstream> streams(texts.begin(), texts.end());
  std::string all;
  while (streams.front().peek() != std::istringstream::traits_type::eof()) {
    for (std::istringstream& stream : streams) {
      std::string line;
      for (size_t i = 0; i < ranks_per_process && std::getline(stream, line); ++i) {
        all += line + '\n';
      }
    }
  }
  return all;
}

ExecutedRuns run_share(Courier& courier,
                       Executor& executor,
                       const RepeatOptions& options,
                       TensorStore& tensors) {
  ExecutedRuns executed{repeat(executor, options, tensors), {}};
  const std::vector<std::string> results = gather(courier, results_to_text(tensors));
  if (!results.empty()) {
    executed.results = interleave(results, tensors.ranks().size());
  }
  return executed;
}

const Program& checked(const Program& program, const MpiWorld& world) {
  if (program.num_ranks != world.num_processes()) {
    throw Error(
        fmt::format("the program has {} ranks, each of which needs a process; start {} of "
                    "them instead of {}",
                    program.num_ranks,
                    program.num_ranks,
                    world.num_processes()));
  }
  return program;
}

}  // namespace

ThreadShare::ThreadShare(MpiWorld& world, const Program& program, const HostOptions& host)
    : program_(program), executor_(world, program_, host), tensors_(program_, executor_.ranks()) {
  require_same(executor_.courier(), program_);
}

ExecutedRuns ThreadShare::run(const RepeatOptions& options) {
  return run_share(executor_.courier(), executor_, options, tensors_);
}

void ThreadShare::wait_for_all() {
  barrier(executor_.courier());
}

RankShare::RankShare(MpiWorld& world, const Program& program, const MakeRankExecutor& make)
    : program_(checked(program, world)),
      script_(make_host_script(program_)),
      peers_(world, program_, script_),
      tensors_(program_, {world.process()}) {
  require_same(peers_.courier(), program_);
  rank_ = make(program_, peers_);
}

ExecutedRuns RankShare::run(const RepeatOptions& options) {
  return run_share(peers_.courier(), *rank_.executor, options, tensors_);
}

void RankShare::wait_for_all() {
  rank_.close();
  barrier(peers_.courier());
}

}  // namespace moesim
