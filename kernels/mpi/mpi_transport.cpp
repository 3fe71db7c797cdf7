#include "kernels/mpi/mpi_transport.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include <fmt/core.h>

#include "kernels/host/fabric.h"
#include "kernels/mpi/collect.h"
#include "kernels/mpi/tags.h"
#include "sim/base/check.h"
#include "sim/base/error.h"

namespace moesim {
namespace {

constexpr int kMaxSteps = 2;  // of a plan

}  // namespace

MonotonicTime MpiTransport::agree_on_start() {
  // While the processes wait for the last one, they show that they live.
  barrier(*setting_.courier);
  StartAgreement agreement;
  setting_.courier->call([&] { agreement = moesim::agree_on_start(*setting_.world); });
  clock_uncertainty_ = agreement.uncertainty;
  return agreement.start;
}

void MpiTransport::watch(const std::optional<Standstill>& standstill) {
  setting_.courier->check();
  if (!standstill) {
    return;
  }
  const StandstillReport report{setting_.run, *standstill};
  if (setting_.courier->process() == 0) {
    setting_.detector->add(0, report);
  } else {
    setting_.courier->tell(to_bytes(report));
  }
}

void MpiTransport::carry_out(int meeting, int member, TensorStore& tensors) {
  const MovePlan& plan = plan_.meetings[meeting].moves;
  const std::vector<int>& members = plan_.script.members(*plan_.program, meeting);
  const int size = static_cast<int>(members.size());
  if (plan.steps.empty()) {
    carry_bytes({meeting, 0, member});
    return;
  }
  MemberMoves moves(plan, {member, members[member]}, tensors);
  moves.clear();
  for (int step = 0; step < static_cast<int>(plan.steps.size()); ++step) {
    std::vector<Parcel> out = moves.pack(step, size);
    std::vector<Parcel> in(size);
    const std::vector<int64_t> sizes = moves.incoming(step, size);
    for (int from = 0; from < size; ++from) {
      in[from].resize(sizes[from]);
    }
    travel({meeting, step, member}, out, in);
    moves.unpack(step, in);
  }
}

// A collective without regions: so many bytes travel, and mean nothing.
void MpiTransport::carry_bytes(const Part& part) {
  const Program& program = *plan_.program;
  const std::vector<int>& members = plan_.script.members(program, part.meeting);
  const Task& task = program.tasks[plan_.script.meetings[part.meeting].tasks[part.member]];
  const size_t size = members.size();
  Traffic traffic(size, std::vector<int64_t>(size));
  if (task.reads.empty() && task.writes.empty()) {
    traffic = traffic_of(program, std::get<Collective>(task.descriptor), members);
  }
  std::vector<Parcel> out(size);
  std::vector<Parcel> in(size);
  for (size_t other = 0; other < size; ++other) {
    if (static_cast<int>(other) != part.member) {
      out[other].resize(traffic[part.member][other]);
      in[other].resize(traffic[other][part.member]);
    }
  }
  travel(part, out, in);
}

// In the first step everybody hears of everybody, be it without a byte: nobody leaves before all
// have come, as in the model.
void MpiTransport::travel(const Part& part, std::vector<Parcel>& out, std::vector<Parcel>& in) {
  const std::vector<int>& members = plan_.script.members(*plan_.program, part.meeting);
  const int rank = members[part.member];
  std::vector<Message> sends;
  std::vector<Message> receives;
  for (int other = 0; other < static_cast<int>(members.size()); ++other) {
    if (other == part.member) {
      continue;
    }
    const int peer = members[other];
    const int process = setting_.layout.process(peer);
    if (part.step == 0 || !out[other].empty()) {
      sends.push_back({process, tag(part, rank, peer), std::span(out[other])});
    }
    if (part.step == 0 || !in[other].empty()) {
      receives.push_back({process, tag(part, peer, rank), std::span(in[other])});
    }
  }
  setting_.courier->exchange(std::move(sends), std::move(receives));
}

// A meeting is the k-th collective of a communicator; all processes number them alike.
int MpiTransport::tag(const Part& part, int from_rank, int to_rank) const {
  CHECK(part.step < kMaxSteps, "step {} of a collective", part.step);
  const RankLayout& layout = setting_.layout;
  const int step = part.meeting * kMaxSteps + part.step;
  const int from = step * layout.ranks_per_process + layout.place(from_rank);
  return kFirstMeetingTag + from * layout.ranks_per_process + layout.place(to_rank);
}

void MpiTransport::check_tags(const HostPlan& plan, const RankLayout& layout) {
  void* value = nullptr;
  int is_set = 0;
  check_mpi(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &is_set), "MPI_Comm_get_attr");
  const int64_t most = is_set != 0 ? *static_cast<int*>(value) : 32767;
  const int64_t pairs = int64_t{layout.ranks_per_process} * layout.ranks_per_process;
  const int64_t meetings = static_cast<int64_t>(plan.script.meetings.size());
  const int64_t needed = 2 * (kFirstMeetingTag + meetings * kMaxSteps * pairs);  // see Transfers
  if (needed > most) {
    throw Error(
        fmt::format("the program's {} collectives need {} tags, MPI has {}; start a "
                    "process for every rank, or run fewer layers",
                    plan.script.meetings.size(),
                    needed,
                    most));
  }
}

}  // namespace moesim
