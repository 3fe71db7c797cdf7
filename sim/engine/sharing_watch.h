#pragma once

#include <vector>

#include "sim/engine/queue_load.h"
#include "sim/engine/transfers.h"
#include "sim/engine/workload.h"

namespace moesim {

// Watches over other Transfers whether what they do is what flows would do. It is, when whoever
// meets on a port or link begins there at once with equal loads and weights, and all that share a
// collective's busiest one end together with it, or when all whom a collective meets anywhere are
// copies of it, whenever they begin (proofs: docs/decisions/0017-flows.md). Keeps references to its
// arguments.
class SharingWatch : public Transfers {
 public:
  SharingWatch(const Workload& workload, Transfers& watched);

  void begin(Time now, int collective) override;
  std::optional<Time> next() override { return watched_.next(); }
  std::vector<int> take_ended(Time now) override;

  bool is_exact() const { return is_exact_; }

 private:
  // Who is on a port or link.
  struct Meeting {
    Time begin;
    Time load;   // of each
    Time total;  // of all
    double weight = 1;
    int num_present = 0;
    bool was_busiest = false;  // it held one that has ended
    int company = kNone;       // whose copies all are; none: not all are of one
  };

  // By the first of a company.
  int find_company(int collective) const;
  bool are_copies(int one, int other) const;
  void enter(Time now, int company, const QueueLoad& load);
  bool leave(Time now, int collective);

  const Workload& workload_;
  Transfers& watched_;
  std::vector<Meeting> meetings_;  // on ports, as [rank][port], then on classes of media
  std::vector<Time> begins_;       // by collective, as the others
  std::vector<int> company_;
  std::vector<bool> is_staggered_;  // of a company, by its first: not all of it began at once
  bool is_exact_ = true;
};

}  // namespace moesim
