#include "kernels/mpi/mpi_peers.h"

#include <utility>

#include "kernels/mpi/collect.h"
#include "kernels/mpi/start_agreement.h"

namespace moesim {

MpiPeers::MpiPeers(MpiWorld& world, const Program& program, const HostScript& script)
    : world_(world),
      detector_(program, script, world.num_processes()),
      courier_(world, {.listener = [this](const std::string& news, int process) {
                 detector_.hear(process, news);
               }}) {}

std::vector<std::string> MpiPeers::gather(std::string bytes) {
  return moesim::gather(courier_, std::move(bytes));
}

std::string MpiPeers::broadcast(std::string bytes) {
  return moesim::broadcast(courier_, std::move(bytes));
}

// While the processes wait for the last one, they show that they live.
MonotonicTime MpiPeers::agree_on_start() {
  run_ = world_.count_run();
  detector_.begin(run_);
  barrier(courier_);
  StartAgreement agreement;
  courier_.call([&] { agreement = moesim::agree_on_start(world_); });
  return agreement.start;
}

void MpiPeers::watch(const std::optional<Standstill>& standstill) {
  courier_.check();
  if (!standstill) {
    return;
  }
  const StandstillReport report{run_, *standstill};
  if (world_.process() == 0) {
    detector_.add(0, report);
  } else {
    courier_.tell(to_bytes(report));
  }
}

}  // namespace moesim
