#include "kernels/cuda/probes/nccl_probes.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "kernels/cuda/probes/probe_crew.h"
#include "kernels/cuda/probes/probe_member.h"
#include "sim/base/check.h"

namespace moesim {
namespace {

// All members of a probe.
class ProbedCollective {
 public:
  ProbedCollective(const GpuProbe& probe, const std::vector<int>& devices, Time patience)
      : name_(to_string(probe)),
        members_(make_members(probe, devices)),
        crew_(communicators_of(members_), patience) {}
  // Members give their communicators back together; what has failed is aborted already.
  ~ProbedCollective() {
    if (has_failed_) {
      return;
    }
    try {
      run(&ProbeMember::close);
    } catch (const std::exception&) {
      // The times are there already; what could not be given back is aborted.
    }
  }
  ProbedCollective(const ProbedCollective&) = delete;
  ProbedCollective& operator=(const ProbedCollective&) = delete;
  ProbedCollective(ProbedCollective&&) = delete;
  ProbedCollective& operator=(ProbedCollective&&) = delete;

  // Does it on all members' threads.
  void run(const std::function<void(ProbeMember&)>& body) {
    try {
      crew_.run(name_, [&](int rank) { body(*members_[static_cast<size_t>(rank)]); });
    } catch (...) {
      has_failed_ = true;
      throw;
    }
  }

  // Of the member that came last.
  Time time() {
    std::vector<Time> times(members_.size());
    run([&](ProbeMember& member) { times[static_cast<size_t>(member.rank())] = member.run(); });
    return *std::min_element(times.begin(), times.end());
  }

 private:
  using Members = std::vector<std::unique_ptr<ProbeMember>>;

  static Members make_members(const GpuProbe& probe, const std::vector<int>& devices) {
    Members members;
    for (int rank = 0; rank < probe.group_size; ++rank) {
      members.push_back(std::make_unique<ProbeMember>(
          probe, ProbeMember::Seat{rank, devices[static_cast<size_t>(rank)]}));
    }
    return members;
  }

  static std::vector<Communicators*> communicators_of(const Members& members) {
    std::vector<Communicators*> communicators;
    for (const auto& member : members) {
      communicators.push_back(&member->communicators());
    }
    return communicators;
  }

  std::string name_;
  bool has_failed_ = false;
  Members members_;
  ProbeCrew crew_;
};

}  // namespace

NcclProbes::NcclProbes(std::vector<int> devices, Time patience)
    : devices_(std::move(devices)), patience_(patience) {}

std::function<Time()> NcclProbes::prepare(const GpuProbe& probe) {
  const auto size = static_cast<size_t>(probe.group_size);
  CHECK(size >= 1 && size <= devices_.size(), "{} GPUs", size);
  const ncclUniqueId id = draw_unique_id();
  const auto probed = std::make_shared<ProbedCollective>(probe, devices_, patience_);
  probed->run([&](ProbeMember& member) { member.connect(id); });
  probed->run(&ProbeMember::check);
  return [probed] { return probed->time(); };
}

}  // namespace moesim
