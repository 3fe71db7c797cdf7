// Calls that move data, and groups of them.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "tests/support/fake_nccl/clique.h"
#include "tests/support/fake_nccl/elements.h"

namespace moesim::fake_nccl {
namespace {

struct Call {
  std::string function;
  const void* from = nullptr;
  void* to = nullptr;
  size_t count = 0;
  ncclDataType_t type = ncclFloat32;
  int peer = 0;
};

// Calls of one communicator on one stream within a group.
struct Group {
  std::shared_ptr<Member> member;
  cudaStream_t stream = nullptr;
  int64_t number = 0;
  std::vector<Call> calls;
};

// Carries out a group on its stream: first sends all, then receives when all has come.
class GroupRun {
 public:
  explicit GroupRun(Group group) : group_(std::move(group)) {}

  // Whether it is over.
  bool go_on() {
    const std::lock_guard lock(state().mutex);
    if (group_.member->is_aborted || group_.member->error != ncclSuccess) {
      return group_.member->is_aborted;
    }
    if (!has_sent_) {
      has_sent_ = true;
      for (const Call& call : group_.calls) {
        send(call);
      }
    }
    if (!has_come()) {
      return false;
    }
    for (const Call& call : group_.calls) {
      receive(call);
    }
    ++group_.member->num_groups_over;
    return true;
  }

 private:
  Clique& clique() { return *group_.member->clique; }
  int rank() const { return group_.member->rank; }
  int size() { return clique().size(); }
  static bool is_mail(const Call& call) {
    return call.function == "ncclSend" || call.function == "ncclRecv";
  }

  void send(const Call& call) {
    const bool sends_all = call.function == "ncclReduceScatter" || call.function == "ncclAlltoAll";
    const size_t parts = sends_all ? clique().members.size() : 1;
    Bytes bytes(call.count * parts * size_of(call.type));
    const bool reads =
        call.function != "ncclRecv" && (call.function != "ncclBroadcast" || call.peer == rank());
    if (reads) {
      std::memcpy(bytes.data(), call.from, bytes.size());
    }
    if (call.function == "ncclSend") {
      clique().mail[{rank(), call.peer}].push_back(std::move(bytes));
    } else if (!is_mail(call)) {
      meet(call, std::move(bytes));
    }
  }

  // Members that call different collectives break each other, as they would.
  void meet(const Call& call, Bytes bytes) {
    Meeting& meeting = clique().meetings[group_.number];
    if (meeting.num_come++ == 0) {
      meeting.function = call.function;
      meeting.count = call.count;
      meeting.root = call.peer;
      meeting.sent.resize(clique().members.size());
    } else if (meeting.function != call.function || meeting.count != call.count ||
               meeting.root != call.peer) {
      for (const auto& member : clique().members) {
        member->error = ncclInvalidUsage;
      }
    }
    meeting.sent[static_cast<size_t>(rank())] = std::move(bytes);
  }

  bool has_come() {
    std::map<int, size_t> needed;
    for (const Call& call : group_.calls) {
      if (call.function == "ncclRecv" &&
          clique().mail[{call.peer, rank()}].size() < ++needed[call.peer]) {
        return false;
      }
      if (!is_mail(call) && clique().meetings[group_.number].num_come < size()) {
        return false;
      }
    }
    return true;
  }

  void receive(const Call& call) {
    if (call.function == "ncclSend") {
      return;
    }
    Bytes bytes = call.function == "ncclRecv" ? next_parcel(call) : result(call);
    if (bytes.size() % (call.count * size_of(call.type)) != 0) {
      group_.member->error = ncclInvalidUsage;
      return;
    }
    spoil(bytes);
    std::memcpy(call.to, bytes.data(), bytes.size());
    if (!is_mail(call) && ++clique().meetings[group_.number].num_left == size()) {
      clique().meetings.erase(group_.number);
    }
  }

  void spoil(Bytes& bytes) const {
    if (const auto spoiled = state().spoiled.extract(group_.member->world_rank)) {
      bytes.at(spoiled.mapped()) ^= std::byte{1};
    }
  }

  Bytes next_parcel(const Call& call) {
    std::deque<Bytes>& parcels = clique().mail[{call.peer, rank()}];
    Bytes bytes = std::move(parcels.front());
    parcels.pop_front();
    return bytes;
  }

  Bytes result(const Call& call) {
    const std::vector<Bytes>& sent = clique().meetings[group_.number].sent;
    const size_t part = call.count * size_of(call.type);
    if (call.function == "ncclBroadcast") {
      return sent[static_cast<size_t>(call.peer)];
    }
    const bool takes_own = call.function == "ncclReduceScatter" || call.function == "ncclAlltoAll";
    const size_t first = takes_own ? static_cast<size_t>(rank()) * part : 0;
    if (call.function == "ncclReduceScatter" || call.function == "ncclAllReduce") {
      return sum(call, first, part);
    }
    Bytes all;
    for (const Bytes& bytes : sent) {
      const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(first);
      all.insert(all.end(), begin, begin + static_cast<std::ptrdiff_t>(part));
    }
    return all;
  }

  Bytes sum(const Call& call, size_t first, size_t part) {
    const std::vector<Bytes>& sent = clique().meetings[group_.number].sent;
    const auto begin =
        sent[static_cast<size_t>(rank())].begin() + static_cast<std::ptrdiff_t>(first);
    Bytes sums(begin, begin + static_cast<std::ptrdiff_t>(part));
    for (size_t i = 1; i < sent.size(); ++i) {
      add(call.type, sent[(static_cast<size_t>(rank()) + i) % sent.size()], first, sums);
    }
    return sums;
  }

  Group group_;
  bool has_sent_ = false;
};

// Of this thread: calls between ncclGroupStart and ncclGroupEnd.
thread_local int group_depth = 0;
thread_local ncclResult_t group_error = ncclSuccess;
thread_local std::vector<Group> groups;
thread_local std::vector<ncclComm_t> aborted;

bool has_other_work(const Member& own) {
  const std::lock_guard lock(state().mutex);
  return std::ranges::any_of(state().members, [&](const std::weak_ptr<Member>& weak) {
    const auto other = weak.lock();
    return other != nullptr && other.get() != &own && !other->is_aborted &&
           other->world == own.world && other->world_rank == own.world_rank &&
           other->num_groups > other->num_groups_over;
  });
}

bool is_aborted(const Member& member) {
  const std::lock_guard lock(state().mutex);
  return member.is_aborted;
}

// Hangs where it was told to. Whether it may go on.
bool leave_group() {
  {
    const std::lock_guard lock(state().mutex);
    if (groups.empty() || !std::exchange(state().is_hanging, false)) {
      return true;
    }
  }
  constexpr std::chrono::milliseconds kPause{1};
  constexpr int kMostPauses = 10'000;
  for (int pause = 0; pause < kMostPauses; ++pause) {
    if (is_aborted(*groups.front().member)) {
      return true;
    }
    std::this_thread::sleep_for(kPause);
  }
  groups.clear();
  return false;
}

void launch_groups() {
  for (Group& group : groups) {
    Enqueue enqueue;
    {
      const std::lock_guard lock(state().mutex);
      group.number = group.member->num_groups++;
      enqueue = state().enqueue;
    }
    const cudaStream_t stream = group.stream;
    const auto run = std::make_shared<GroupRun>(std::move(group));
    enqueue(stream, [run] { return run->go_on(); });
  }
  groups.clear();
}

ncclResult_t add_call(ncclComm_t communicator, cudaStream_t stream, const Call& call) {
  if (const ncclResult_t fault = fault_of(call.function); fault != ncclSuccess) {
    group_error = fault;
    return fault;
  }
  const auto found = std::ranges::find_if(groups, [&](const Group& group) {
    return group.member == communicator->member && group.stream == stream;
  });
  Group& group = found == groups.end()
                     ? groups.emplace_back(Group{communicator->member, stream, 0, {}})
                     : *found;
  group.calls.push_back(call);
  if (group_depth == 0) {
    launch_groups();
  }
  return ncclSuccess;
}

}  // namespace
}  // namespace moesim::fake_nccl

using namespace moesim::fake_nccl;

extern "C" {

ncclResult_t ncclGroupStart() {
  if (const ncclResult_t fault = fault_of("ncclGroupStart"); fault != ncclSuccess) {
    return fault;
  }
  ++group_depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  --group_depth;
  const ncclResult_t fault = fault_of("ncclGroupEnd");
  const ncclResult_t error = std::exchange(group_error, ncclSuccess);
  if (fault != ncclSuccess || error != ncclSuccess) {
    groups.clear();
    abort_all(std::exchange(aborted, {}));
    return fault != ncclSuccess ? fault : error;
  }
  if (group_depth == 0) {
    if (!leave_group()) {
      return ncclInvalidUsage;
    }
    launch_groups();
    abort_all(std::exchange(aborted, {}));
  }
  return ncclInProgress;
}

ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  const ncclResult_t fault = fault_of("ncclCommAbort");
  if (group_depth > 0) {
    aborted.push_back(communicator);
  } else if (has_other_work(*communicator->member)) {
    return ncclInvalidUsage;
  } else {
    abort_all({communicator});
  }
  return fault;
}

ncclResult_t ncclSend(const void* from,
                      size_t count,
                      ncclDataType_t type,
                      int peer,
                      ncclComm_t communicator,
                      cudaStream_t stream) {
  return add_call(communicator, stream, {"ncclSend", from, nullptr, count, type, peer});
}

ncclResult_t ncclRecv(void* to,
                      size_t count,
                      ncclDataType_t type,
                      int peer,
                      ncclComm_t communicator,
                      cudaStream_t stream) {
  return add_call(communicator, stream, {"ncclRecv", nullptr, to, count, type, peer});
}

ncclResult_t ncclAllGather(const void* from,
                           void* to,
                           size_t count,
                           ncclDataType_t type,
                           ncclComm_t communicator,
                           cudaStream_t stream) {
  return add_call(communicator, stream, {"ncclAllGather", from, to, count, type, 0});
}

ncclResult_t ncclAlltoAll(const void* from,
                          void* to,
                          size_t count,
                          ncclDataType_t type,
                          ncclComm_t communicator,
                          cudaStream_t stream) {
  return add_call(communicator, stream, {"ncclAlltoAll", from, to, count, type, 0});
}

ncclResult_t ncclReduceScatter(const void* from,
                               void* to,
                               size_t count,
                               ncclDataType_t type,
                               ncclRedOp_t,
                               ncclComm_t communicator,
                               cudaStream_t stream) {
  return add_call(communicator, stream, {"ncclReduceScatter", from, to, count, type, 0});
}

ncclResult_t ncclAllReduce(const void* from,
                           void* to,
                           size_t count,
                           ncclDataType_t type,
                           ncclRedOp_t,
                           ncclComm_t communicator,
                           cudaStream_t stream) {
  return add_call(communicator, stream, {"ncclAllReduce", from, to, count, type, 0});
}

ncclResult_t ncclBroadcast(const void* from,
                           void* to,
                           size_t count,
                           ncclDataType_t type,
                           int root,
                           ncclComm_t communicator,
                           cudaStream_t stream) {
  return add_call(communicator, stream, {"ncclBroadcast", from, to, count, type, root});
}
}
