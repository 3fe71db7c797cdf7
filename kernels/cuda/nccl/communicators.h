#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <nccl.h>

#include "kernels/device/communicator_plan.h"

namespace moesim {

// CTAs, and with them SMs, that a communicator's kernels take; 0: as NCCL chooses.
struct CtaRange {
  int least = 0;
  int most = 0;
};

struct CommunicatorOptions {
  CtaRange ctas;
  std::map<std::string, CtaRange> ctas_on_stream;  // in place of `ctas`, by name of the stream
  // Split communicators share their parent's channels and buffers: less memory, but collectives of
  // two streams get into each other's way.
  bool share_resources = false;
};

struct WorldPlace {
  int num_ranks = 0;
  int rank = 0;
};

// A communicator to be split off the world's, as one rank sees it.
struct CommunicatorPart {
  CommunicatorKey key;
  std::string name;  // "group 'ep' on stream 'inter'"
  CommunicatorSeat seat;
  CtaRange ctas;
};

// Draws the id of a world, on one of its ranks; the others get it by other means.
ncclUniqueId draw_unique_id();

// The NCCL communicators of one rank: the world's, and those that are split off it, one for each
// group and stream of a Program that the rank is in. None of them blocks: the thread that calls
// NCCL looks after what it began until it is done, and another thread may end it.
//
// The rank's issuing thread connects it, hands it collectives and closes it; poll() and abort() are
// for any thread.
class Communicators {
 public:
  Communicators(const WorldPlace& place, CommunicatorOptions options);
  // Aborts what close() has not closed.
  ~Communicators();
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;
  Communicators(Communicators&&) = delete;
  Communicators& operator=(Communicators&&) = delete;

  // Makes them on the current device, together with all ranks, whose parts have the same keys in
  // the same order. Throws NcclError, and Failure after abort(), as all below do.
  void connect(const ncclUniqueId& id, const std::vector<CommunicatorPart>& parts);
  // Those of the Program.
  void connect(const ncclUniqueId& id, const Program& program, const GroupTable& groups);

  // Calls `body` with the communicator within one group of NCCL calls, and waits until NCCL has
  // taken them: they are on their stream then, not done. `name` is the collective's, for errors.
  void enqueue(const CommunicatorKey& key,
               const std::string& name,
               const std::function<void(ncclComm_t)>& body);

  // Throws NcclError where NCCL found out about an error after a call had returned: a peer that
  // died, a link that broke.
  void poll();

  // Ends all that is under way, on the device too, and a call of NCCL that does not return. Every
  // call after it throws.
  void abort();

  // Waits for what is under way on all ranks, and gives everything back. All ranks do so.
  void close();

 private:
  enum class State { kNotReady, kReady, kGone };
  struct Entry {
    ncclComm_t handle = nullptr;     // NCCL writes it, on a thread of its own, when it has made it
    State state = State::kNotReady;  // kReady: from here on the handle is used
    std::string name;                // that of its part
  };
  // A call of NCCL that may block, for ever where a peer is gone: mutex_ is free meanwhile, so that
  // abort() can go ahead.
  class Call {
   public:
    explicit Call(Communicators& communicators);  // throws after abort()
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    Call(Call&&) = delete;
    Call& operator=(Call&&) = delete;

   private:
    Communicators& communicators_;
  };

  void split_off(const CommunicatorPart& part);
  ncclComm_t ready_handle(const Entry& entry, const std::string& what);
  void run_group(const Entry& entry,
                 const std::string& what,
                 const std::function<void(ncclComm_t)>& body);
  void call(const char* name, const std::function<ncclResult_t()>& body);
  void set_ready(Entry& entry);
  void settle(const Entry& entry, const std::string& what);
  ncclResult_t state_of(const Entry& entry);
  void finalize(Entry& entry);
  ncclComm_t take_handle(Entry& entry);
  Entry& add_entry(const CommunicatorKey& key);
  void check_not_aborted() const;
  std::vector<ncclComm_t> take_handles();
  // Split ones before the world's, their parent.
  std::vector<Entry*> all();

  WorldPlace place_;
  CommunicatorOptions options_;
  std::mutex mutex_;  // of what follows
  std::condition_variable has_returned_;
  bool is_in_call_ = false;
  bool is_aborted_ = false;
  Entry world_;
  std::map<CommunicatorKey, Entry> split_;  // outside: no handle
  std::vector<CommunicatorKey> order_;      // of split_
};

}  // namespace moesim
