#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "sim/base/time.h"

namespace moesim::testing {

// The number-th call of a function (from 1 on) does nothing but return `status`. "kernel" is no
// function: the number-th kernel that runs fails, which shows when somebody waits.
struct Fault {
  std::string call;
  int number = 1;
  int status = 1;
};

// How cuBLASLt's heuristics say that they have no algorithm, beside a status (Fault).
enum class FakeRefusal {
  kNone,
  kNoResult,    // success, and no result
  kUnfitResult  // success, and a result that says of itself that it cannot be used
};

struct FakeCudaOptions {
  uint64_t seed = 1;    // of the order in which streams go on
  int num_devices = 1;  // 0: there is no driver, or it is too old
  int driver_version = 13'000;
  int64_t memory_bytes = int64_t{4} << 30;
  std::optional<Fault> fault{};
  int ignored_wait = 0;  // the n-th cudaStreamWaitEvent that has something to wait for; 0: none
  FakeRefusal refusal = FakeRefusal::kNone;
  Time kernel_time{};  // that kernels, copies and fills take, beside spins
  Time call_time{};    // that each call takes the host; what it launches starts no earlier
};

class FakeDevice;

// A CUDA runtime and a cuBLASLt for tests: while it lives, the cuda… and cublasLt… functions of the
// process are its own, and device memory is host memory. Streams are queues: nothing on them runs
// until somebody waits, and then streams go on in a random order that event waits allow, so that a
// missing wait shows in the results under some seed. Event times follow from what is on the streams
// alone, not from that order.
class FakeCuda {
 public:
  explicit FakeCuda(const FakeCudaOptions& options = {});
  ~FakeCuda();
  FakeCuda(const FakeCuda&) = delete;
  FakeCuda& operator=(const FakeCuda&) = delete;
  FakeCuda(FakeCuda&&) = delete;
  FakeCuda& operator=(FakeCuda&&) = delete;

  // Puts work on a stream that is tried again and again until it returns true: it waits for what
  // other threads do.
  static void add_attempt(void* stream, std::function<bool()> attempt);

  // From here on a launch fails of what was not launched before: CUDA loads it then, and may wait
  // for ever beside a kernel that waits for a peer.
  static void forbid_first_launches();

  // How often each function was called.
  const std::map<std::string, int>& calls() const;
  // How often each kernel, and each algorithm of cuBLASLt, was launched.
  const std::map<std::string, int>& launches() const;
  // Waits that had something to wait for.
  int num_waits() const;
  // Streams that were made, and streams of graphs that run, with more than the least priority.
  int num_high_priority_streams() const;
  // CUDA_DEVICE_MAX_CONNECTIONS when CUDA was first called: what comes later it may not see.
  const std::string& queues_at_first_call() const;
  // Whether all that is on the streams comes to its end without anybody's help.
  bool becomes_idle();
  // Streams, events, graphs, memory, descriptors that were made and not given back.
  int num_live_handles() const;

 private:
  std::unique_ptr<FakeDevice> device_;
};

}  // namespace moesim::testing
