#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "kernels/cuda/nccl/nccl_executor.h"
#include "kernels/host/crew.h"
#include "kernels/host/thread_peers.h"

namespace moesim {

// Runs all ranks of a Program on the GPUs of one machine, rank r on device r, each issued by a
// thread of its own; collectives are NCCL's.
class NcclThreads : public Executor {
 public:
  // Keeps a reference to the Program. Throws what NcclExecutor does.
  NcclThreads(const Program& program, const NcclOptions& options);
  ~NcclThreads() override;
  NcclThreads(const NcclThreads&) = delete;
  NcclThreads& operator=(const NcclThreads&) = delete;
  NcclThreads(NcclThreads&&) = delete;
  NcclThreads& operator=(NcclThreads&&) = delete;

  // `tensors` must hold all ranks. After an exception nothing can be run any more.
  Execution run(TensorStore& tensors) override;

 private:
  // Does it on all threads. Throws what ended it, the same that all of them hear of.
  void on_all(const std::function<void(int rank)>& body);

  HostScript script_;
  ThreadPeers peers_;
  Crew crew_;
  bool has_failed_ = false;
  std::vector<std::unique_ptr<NcclExecutor>> ranks_;
};

}  // namespace moesim
