#include "kernels/cuda/nccl/nccl_threads.h"

#include <exception>
#include <utility>

#include "kernels/cuda/hardware_queues.h"

namespace moesim {
NcclThreads::NcclThreads(const Program& program, const NcclOptions& options)
    : script_(make_host_script(program)),
      peers_(program, script_),
      crew_(program.num_ranks, false),
      ranks_(static_cast<size_t>(program.num_ranks)) {
  // The environment is the process's: no thread may change it while another one reads it.
  set_hardware_queues(options.cuda.hardware_queues, 0);
  on_all([&](int rank) {
    NcclOptions own = options;
    own.cuda.device = rank;
    auto& executor = ranks_[static_cast<size_t>(rank)];
    executor = std::make_unique<NcclExecutor>(program, own, peers_.of(rank));
    executor->connect();
  });
}

NcclThreads::~NcclThreads() {
  if (has_failed_) {
    return;  // what is left is aborted
  }
  try {
    on_all([this](int rank) { ranks_[static_cast<size_t>(rank)]->close(); });
  } catch (const std::exception&) {
    // The results are there already; what could not be closed is aborted.
  }
}

Execution NcclThreads::run(TensorStore& tensors) {
  std::vector<Execution> executions(ranks_.size());
  on_all([&](int rank) {
    const auto index = static_cast<size_t>(rank);
    executions[index] = ranks_[index]->run(tensors);
  });
  return std::move(executions.front());
}

void NcclThreads::on_all(const std::function<void(int)>& body) {
  std::mutex mutex;
  std::exception_ptr error;  // the first
  const auto guarded = [&](int rank) {
    try {
      body(rank);
    } catch (...) {
      peers_.of(rank).fail(std::current_exception());
      const std::lock_guard lock(mutex);
      error = error ? error : std::current_exception();
    }
  };
  const std::function<void(int)> task = guarded;
  crew_.start(task);
  crew_.finish();
  if (error) {
    has_failed_ = true;
    std::rethrow_exception(error);
  }
}

}  // namespace moesim
