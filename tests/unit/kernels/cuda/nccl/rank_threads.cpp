#include "tests/unit/kernels/cuda/nccl/rank_threads.h"

#include <chrono>
#include <exception>
#include <thread>
#include <utility>

namespace moesim::test {

std::vector<std::string> on_threads(int num_ranks, const std::function<void(int)>& body) {
  std::vector<std::string> errors(static_cast<size_t>(num_ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < num_ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        body(rank);
      } catch (const std::exception& error) {
        errors[static_cast<size_t>(rank)] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return errors;
}

SimpleStreams::SimpleStreams() {
  fake_nccl::set_enqueue([this](cudaStream_t stream, fake_nccl::StreamWork work) {
    const std::lock_guard lock(mutex_);
    work_[stream].push_back(std::move(work));
  });
}

cudaStream_t SimpleStreams::stream(int number) {
  return reinterpret_cast<cudaStream_t>(static_cast<uintptr_t>(number) + 1);
}

void SimpleStreams::wait(cudaStream_t stream) {
  std::vector<fake_nccl::StreamWork> works;
  {
    const std::lock_guard lock(mutex_);
    works = std::exchange(work_[stream], {});
  }
  for (const fake_nccl::StreamWork& work : works) {
    while (!work()) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

}  // namespace moesim::test
