#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/fake_nccl/fake_nccl.h"

namespace moesim::test {

// Runs body(rank) for every rank on a thread of its own. Returns what each threw, "" for nothing.
std::vector<std::string> on_threads(int num_ranks, const std::function<void(int)>& body);

// Streams that run when somebody waits for them, for tests without the rest of CUDA.
class SimpleStreams {
 public:
  SimpleStreams();

  // Some stream; any number is one.
  static cudaStream_t stream(int number);

  // Returns when all that is on the stream has run, or at the latest when it was given up.
  void wait(cudaStream_t stream);

 private:
  std::mutex mutex_;
  std::map<cudaStream_t, std::vector<fake_nccl::StreamWork>> work_;
};

}  // namespace moesim::test
