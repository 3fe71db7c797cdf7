#pragma once

#include <exception>
#include <optional>
#include <vector>

#include "kernels/host/hang_detector.h"
#include "kernels/host/host_plan.h"
#include "kernels/host/transport.h"
#include "kernels/member_moves.h"
#include "kernels/mpi/courier.h"
#include "kernels/mpi/start_agreement.h"

namespace moesim {

// Rank r runs on process r / ranks_per_process.
struct RankLayout {
  int ranks_per_process = 1;

  int process(int rank) const { return rank / ranks_per_process; }
  int place(int rank) const { return rank % ranks_per_process; }  // within its process
};

// One run's collectives as messages between processes. A member packs what each other takes from
// it, the courier carries the parcels of all members and streams at the same time, and the member
// puts together what came, in the plan's order: sums are those of the other transports, bit for
// bit.
class MpiTransport : public Transport {
 public:
  struct Setting {
    const MpiWorld* world = nullptr;
    Courier* courier = nullptr;
    HangDetector* detector = nullptr;
    RankLayout layout;
    int run = 0;  // counts runs, in step on all processes
  };

  MpiTransport(const HostPlan& plan, const Setting& setting) : plan_(plan), setting_(setting) {}

  MonotonicTime agree_on_start() override;
  void carry_out(int meeting, int member, TensorStore& tensors) override;
  void watch(const std::optional<Standstill>& standstill) override;
  void fail(std::exception_ptr error) override { setting_.courier->fail(std::move(error)); }

  // On process 0: how far the clocks can be apart at most.
  std::chrono::nanoseconds clock_uncertainty() const { return clock_uncertainty_; }

  // How many tags the Program's collectives need. Throws Error when MPI has fewer.
  static void check_tags(const HostPlan& plan, const RankLayout& layout);

 private:
  // A member's part in a step.
  struct Part {
    int meeting = 0;
    int step = 0;
    int member = 0;
  };

  void travel(const Part& part, std::vector<Parcel>& out, std::vector<Parcel>& in);
  void carry_bytes(const Part& part);
  int tag(const Part& part, int from_rank, int to_rank) const;

  const HostPlan& plan_;
  Setting setting_;
  std::chrono::nanoseconds clock_uncertainty_{};
};

}  // namespace moesim
