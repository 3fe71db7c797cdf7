#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/fake_nccl/fake_nccl.h"

// What the fake's communicators are made of. Everything is used under the state's mutex.
namespace moesim::fake_nccl {

using Bytes = std::vector<std::byte>;

struct Member;

// What a rank says in a split.
struct SplitSeat {
  bool has_come = false;
  int color = NCCL_SPLIT_NOCOLOR;
  int key = 0;
  std::shared_ptr<Member> child;       // none without colour
  ncclComm_t* communicator = nullptr;  // where it is put when the split is complete
};

// One call of a collective on all members.
struct Meeting {
  int num_come = 0;
  int num_left = 0;
  std::string function;  // of the first
  size_t count = 0;
  int root = 0;
  std::vector<Bytes> sent;  // by member
};

// The members of one communicator.
struct Clique {
  explicit Clique(int size) : members(static_cast<size_t>(size)) {}

  int size() const { return static_cast<int>(members.size()); }

  std::vector<std::shared_ptr<Member>> members;  // null: has not come
  std::map<int64_t, std::vector<SplitSeat>> splits;
  std::map<int64_t, Meeting> meetings;
  std::map<std::pair<int, int>, std::deque<Bytes>> mail;  // by sender and receiver
};

// One rank's part of a communicator.
struct Member {
  std::shared_ptr<Clique> clique;  // null until its split is complete
  int rank = 0;
  int world_rank = 0;
  int64_t world = 0;  // tells worlds apart
  Made made;
  ncclResult_t error = ncclSuccess;
  bool is_aborted = false;
  bool is_finalized = false;
  int64_t num_splits = 0;
  int64_t num_groups = 0;       // of calls
  int64_t num_groups_over = 0;  // on their streams

  // What ncclCommGetAsyncError tells.
  ncclResult_t state() const;
};

struct Fault {
  int calls_left = 0;
  ncclResult_t result = ncclSuccess;
};

// What C functions without an object work on.
struct State {
  State() = default;
  ~State() { part(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = delete;
  State& operator=(State&&) = delete;

  // Members and their cliques hold each other.
  void part();

  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Clique>> worlds;  // by id
  std::map<std::string, Fault> faults;
  bool is_hanging = false;
  int version = NCCL_VERSION_CODE;
  std::vector<std::weak_ptr<Member>> members;
  int num_communicators = 0;
  int num_aborted = 0;
  std::map<int, size_t> spoiled;  // a byte of what comes next, by rank of the world
  int64_t num_ids = 0;
  Enqueue enqueue;
};
State& state();

// Ends communicators, whatever is under way. Takes the mutex.
void abort_all(const std::vector<ncclComm_t>& communicators);

// The fault that is due for a call of the function; ncclSuccess: none. Takes the mutex.
ncclResult_t fault_of(const std::string& function);

}  // namespace moesim::fake_nccl

struct ncclComm {
  std::shared_ptr<moesim::fake_nccl::Member> member;
};
