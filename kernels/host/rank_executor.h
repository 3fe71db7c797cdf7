#pragma once

#include <functional>
#include <memory>

#include "kernels/executor.h"
#include "kernels/host/rank_peers.h"

namespace moesim {

// Runs one rank of a Program, which tells the others what they need to know by its peers.
struct RankExecutor {
  std::unique_ptr<Executor> executor;
  std::function<void()> close;  // what all ranks do behind their last run
};
// The executor keeps references to both.
using MakeRankExecutor = std::function<RankExecutor(const Program&, RankPeers&)>;

}  // namespace moesim
