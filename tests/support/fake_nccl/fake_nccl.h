#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include <nccl.h>

// NCCL among threads of this process, for tests that link it in place of the library: the C
// functions that kernels/cuda/nccl calls. Ranks are threads; data really travels between their
// buffers, which are host memory. Communicators do not block: they are in progress until all that
// they need have come; a split hands out its communicator then. Alone, none is aborted while
// another one of its rank and world has work on a stream: NCCL might wait for that for ever. Sums
// begin with another member on each member, so that an order of sums that is taken for granted
// shows.
//
// Controls are for one test at a time, while no rank runs, but raise() and num_communicators().
namespace moesim::fake_nccl {

// Forgets all worlds, faults and counts. All communicators must have been given back.
void reset();

// The n-th call of a function from now on, counted from 1 over all ranks, returns `result` and does
// nothing.
void fail(const std::string& function, int nth, ncclResult_t result);

// The next ncclGroupEnd of calls that move data returns when their communicator is aborted; after
// long waiting, as an invalid usage.
void hang_in_group_end();

// All communicators of a rank of the world report this error from now on, as after a peer's death.
void raise(int world_rank, ncclResult_t error);

// This byte of the next data that a rank of the world receives is another one than was sent.
void spoil(int world_rank, size_t byte);

// What ncclGetVersion says from now on, as a library that is older than its header.
void set_version(int version);

// Those that nobody has destroyed or aborted yet.
int num_communicators();
// Those that were aborted since the last reset().
int num_aborted();

// Of the communicator's configuration, as it was made.
struct Made {
  int num_ranks = 0;
  int min_ctas = 0;
  int max_ctas = 0;
};
Made made(ncclComm_t communicator);

// What a stream runs: called again and again until it returns true, then the next one. Never called
// under a lock of this fake's, from whatever thread.
using StreamWork = std::function<bool()>;
// Puts work behind what is on a stream. The fake CUDA runtime has one.
using Enqueue = std::function<void(cudaStream_t stream, StreamWork work)>;
void set_enqueue(Enqueue enqueue);

}  // namespace moesim::fake_nccl
