#pragma once

#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "sim/engine/port_queue.h"
#include "sim/engine/transfers.h"
#include "sim/engine/workload.h"

namespace moesim {

// What a collective may count on at ports and links.
enum class Sharing {
  kByWeight,  // its part among those that are there (PortQueue)
  kAlone,     // all of it: collectives never slow each other
  kLeast,     // its part if all that may ever be there were there all the time
};

// Every port and link drains what is put on it by itself. A collective ends when the last of its
// ports and links has drained its load. Keeps a reference to the workload.
class QueuedTransfers : public Transfers {
 public:
  QueuedTransfers(const Workload& workload, Sharing sharing);

  void begin(Time now, int collective) override;
  std::optional<Time> next() override;
  std::vector<int> take_ended(Time now) override;

 private:
  using End = std::pair<Time, int>;  // and the collective

  void find_most_weights();
  Time at_least(Time now, int collective) const;
  void enter_all(Time now, int collective);
  void settle();

  const Workload& workload_;
  Sharing sharing_;
  std::vector<PortQueue> queues_;     // of ports, as [rank][port], then of classes of media
  std::vector<double> most_weights_;  // kLeast: by queue, of all that may be there at once
  std::vector<Time> ends_;            // by collective, as far as is known
  std::vector<int> entered_;          // queues where others are, and
  std::vector<int> begun_;            // collectives, whose ends are still to be foreseen
  std::priority_queue<End, std::vector<End>, std::greater<>> expected_;  // later where slowed since
};

}  // namespace moesim
