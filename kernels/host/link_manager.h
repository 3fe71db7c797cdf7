#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/base/time.h"

namespace moesim {

// Bytes that cross links, all at the same rate.
struct Flow {
  int64_t bytes = 0;
  std::vector<int> links;  // each once

  friend bool operator==(const Flow&, const Flow&) = default;
};

// How transfers share links, as fluids. Knows neither threads nor clocks: its caller says when
// transfers start, and asks when they end.
//
// A flow gets its weighted max-min fair rate at every moment (Bertsekas and Gallager, Data
// Networks, section 6.5.2). Every transfer has the same weight, which its live flows on a link
// share: a flow's own weight is 1 over the largest number of flows that its transfer has on one of
// its links. Flows leave at their exact time in the model, so that callers that look late do not
// change anybody's rate.
class LinkManager {
 public:
  // Bytes per second of each link; positive.
  explicit LinkManager(std::vector<double> rates);

  // Adds a transfer. Ids are unique and order what happens at the same time, so that ends do not
  // depend on the order of the calls. A start before the time of forget_before counts as that time.
  void add(int id, Time start, std::vector<Flow> flows);

  // When the last flow of the transfer ends if nothing else is added; its start without bytes.
  Time end(int id) const;

  // Promises that nothing added from now on starts earlier.
  void forget_before(Time time);

 private:
  struct Arrival {
    int id = 0;
    Time start;
    std::vector<Flow> flows;
  };

  // `left` bytes at `since`, leaving at `rate` from then on.
  struct LiveFlow {
    int id = 0;
    std::vector<int> links;
    double left = 0;
    Time since;
    double rate = 0;

    Time end() const;
  };

  // The fluid at a moment, and what will arrive.
  struct Fluid {
    std::vector<Arrival> arrivals;  // by start, then id
    std::vector<LiveFlow> live;     // by id
    std::map<int, Time> ends;       // of transfers that arrived: their last flow's

    bool is_empty() const { return arrivals.empty() && live.empty(); }
    Time next_event() const;
    void step(const std::vector<double>& rates);
    void share(Time now, const std::vector<double>& rates);
  };

  void plan();

  std::vector<double> rates_;
  Time forgotten_;
  Fluid fluid_;  // after all events before forgotten_
  std::map<int, Time> ends_;
};

}  // namespace moesim
