// Making and ending communicators.
#include "tests/support/fake_nccl/fake_nccl.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "tests/support/fake_nccl/clique.h"

namespace moesim::fake_nccl {
namespace {

using Lock = std::lock_guard<std::mutex>;

bool all_members(const Clique& clique, bool (*holds)(const Member& member)) {
  return std::ranges::all_of(
      clique.members, [&](const auto& member) { return member != nullptr && holds(*member); });
}

Made made_of(const ncclConfig_t* config, int num_ranks) {
  const auto given = [](int value) { return value == NCCL_CONFIG_UNDEF_INT ? 0 : value; };
  return config == nullptr ? Made{num_ranks, 0, 0}
                           : Made{num_ranks, given(config->minCTAs), given(config->maxCTAs)};
}

ncclComm_t make_handle(const std::shared_ptr<Member>& member) {
  ++state().num_communicators;
  return new ncclComm{member};
}

void give_back(ncclComm_t communicator) {
  --state().num_communicators;
  delete communicator;
}

// Splits under way bring it nothing any more.
void forget_splits(Member& member) {
  for (auto& [number, seats] : member.clique->splits) {
    seats[static_cast<size_t>(member.rank)].communicator = nullptr;
  }
}

// All have come: those of one colour are a communicator, ordered by key.
void complete_split(std::vector<SplitSeat>& seats) {
  std::map<int, std::vector<SplitSeat*>> colors;
  for (SplitSeat& seat : seats) {
    if (seat.child != nullptr) {
      colors[seat.color].push_back(&seat);
    }
  }
  for (auto& [color, own] : colors) {
    std::ranges::stable_sort(own, {}, &SplitSeat::key);
    const auto clique = std::make_shared<Clique>(static_cast<int>(own.size()));
    for (size_t rank = 0; rank < own.size(); ++rank) {
      Member& child = *own[rank]->child;
      child.clique = clique;
      child.rank = static_cast<int>(rank);
      child.made.num_ranks = clique->size();
      clique->members[rank] = own[rank]->child;
      if (own[rank]->communicator != nullptr) {
        *std::exchange(own[rank]->communicator, nullptr) = make_handle(own[rank]->child);
      }
    }
  }
}

}  // namespace

State& state() {
  static State the_state;
  return the_state;
}

void State::part() {
  for (const auto& member : members) {
    if (const auto alive = member.lock()) {
      alive->clique.reset();
    }
  }
}

ncclResult_t fault_of(const std::string& function) {
  State& all = state();
  const Lock lock(all.mutex);
  const auto fault = all.faults.find(function);
  if (fault == all.faults.end() || --fault->second.calls_left != 0) {
    return ncclSuccess;
  }
  return fault->second.result;
}

ncclResult_t Member::state() const {
  if (error != ncclSuccess) {
    return error;
  }
  if (clique == nullptr || !all_members(*clique, [](const Member&) { return true; })) {
    return ncclInProgress;
  }
  if (num_splits > 0) {
    const std::vector<SplitSeat>& last = clique->splits[num_splits - 1];
    if (!std::ranges::all_of(last, &SplitSeat::has_come)) {
      return ncclInProgress;
    }
  }
  // Members connect to each other in their first call.
  if (num_groups > 0 &&
      !all_members(*clique, [](const Member& member) { return member.num_groups > 0; })) {
    return ncclInProgress;
  }
  const auto is_finalized_too = [](const Member& member) { return member.is_finalized; };
  return is_finalized && !all_members(*clique, is_finalized_too) ? ncclInProgress : ncclSuccess;
}

void reset() {
  State& all = state();
  const Lock lock(all.mutex);
  if (all.num_communicators != 0) {
    throw std::logic_error("communicators are left");
  }
  all.part();
  all.worlds.clear();
  all.faults.clear();
  all.is_hanging = false;
  all.version = NCCL_VERSION_CODE;
  all.num_aborted = 0;
  all.spoiled.clear();
  all.members.clear();
}

void fail(const std::string& function, int nth, ncclResult_t result) {
  const Lock lock(state().mutex);
  state().faults[function] = {nth, result};
}

void hang_in_group_end() {
  const Lock lock(state().mutex);
  state().is_hanging = true;
}

void abort_all(const std::vector<ncclComm_t>& communicators) {
  const Lock lock(state().mutex);
  for (const ncclComm_t communicator : communicators) {
    Member& member = *communicator->member;
    member.is_aborted = true;
    ++state().num_aborted;
    if (member.clique != nullptr) {
      forget_splits(member);
    }
    give_back(communicator);
  }
}

void raise(int world_rank, ncclResult_t error) {
  const Lock lock(state().mutex);
  for (const auto& member : state().members) {
    const auto alive = member.lock();
    if (alive != nullptr && alive->world_rank == world_rank) {
      alive->error = error;
    }
  }
}

int num_communicators() {
  const Lock lock(state().mutex);
  return state().num_communicators;
}

void set_version(int version) {
  const Lock lock(state().mutex);
  state().version = version;
}

int num_aborted() {
  const Lock lock(state().mutex);
  return state().num_aborted;
}

void spoil(int world_rank, size_t byte) {
  const Lock lock(state().mutex);
  state().spoiled[world_rank] = byte;
}

Made made(ncclComm_t communicator) {
  const Lock lock(state().mutex);
  return communicator->member->made;
}

void set_enqueue(Enqueue enqueue) {
  const Lock lock(state().mutex);
  state().enqueue = std::move(enqueue);
}

}  // namespace moesim::fake_nccl

using namespace moesim::fake_nccl;

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  const ncclResult_t fault = fault_of("ncclGetVersion");
  const std::lock_guard lock(state().mutex);
  *version = state().version;
  return fault;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (const ncclResult_t fault = fault_of("ncclGetUniqueId"); fault != ncclSuccess) {
    return fault;
  }
  const std::lock_guard lock(state().mutex);
  *id = {};
  const std::string text = std::to_string(++state().num_ids);
  std::memcpy(id->internal, text.data(), text.size());
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(
    ncclComm_t* communicator, int size, ncclUniqueId id, int rank, ncclConfig_t* config) {
  if (const ncclResult_t fault = fault_of("ncclCommInitRankConfig"); fault != ncclSuccess) {
    return fault;
  }
  const std::lock_guard lock(state().mutex);
  std::shared_ptr<Clique>& clique = state().worlds[id.internal];
  if (clique == nullptr) {
    clique = std::make_shared<Clique>(size);
  }
  const auto place = static_cast<size_t>(rank);
  if (rank < 0 || rank >= size || clique->size() != size || clique->members[place] != nullptr) {
    return ncclInvalidArgument;
  }
  const auto member = std::make_shared<Member>();
  state().members.push_back(member);
  member->clique = clique;
  member->rank = member->world_rank = rank;
  member->world = std::stoll(id.internal);
  member->made = made_of(config, size);
  clique->members[place] = member;
  *communicator = make_handle(member);
  return ncclInProgress;
}

ncclResult_t ncclCommSplit(
    ncclComm_t parent, int color, int key, ncclComm_t* communicator, ncclConfig_t* config) {
  if (const ncclResult_t fault = fault_of("ncclCommSplit"); fault != ncclSuccess) {
    return fault;
  }
  const std::lock_guard lock(state().mutex);
  Member& member = *parent->member;
  std::vector<SplitSeat>& seats = member.clique->splits[member.num_splits++];
  seats.resize(member.clique->members.size());
  SplitSeat& own = seats[static_cast<size_t>(member.rank)];
  own = {true, color, key, nullptr, nullptr};
  *communicator = nullptr;
  if (color != NCCL_SPLIT_NOCOLOR) {
    own.child = std::make_shared<Member>();
    state().members.push_back(own.child);
    own.child->world_rank = member.world_rank;
    own.child->world = member.world;
    own.child->made = made_of(config, 0);
    own.communicator = communicator;
  }
  if (std::ranges::all_of(seats, &SplitSeat::has_come)) {
    complete_split(seats);
  }
  return ncclInProgress;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t* error) {
  if (const ncclResult_t fault = fault_of("ncclCommGetAsyncError"); fault != ncclSuccess) {
    return fault;
  }
  const std::lock_guard lock(state().mutex);
  *error = communicator->member->state();
  return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t communicator) {
  if (const ncclResult_t fault = fault_of("ncclCommFinalize"); fault != ncclSuccess) {
    return fault;
  }
  const std::lock_guard lock(state().mutex);
  communicator->member->is_finalized = true;
  return ncclInProgress;
}

ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  const ncclResult_t fault = fault_of("ncclCommDestroy");
  const std::lock_guard lock(state().mutex);
  give_back(communicator);
  return fault;
}

const char* ncclGetErrorString(ncclResult_t result) {
  constexpr const char* kTexts[] = {"no error",
                                    "unhandled cuda error",
                                    "unhandled system error",
                                    "internal error",
                                    "invalid argument",
                                    "invalid usage",
                                    "remote process exited or there was a network error",
                                    "NCCL operation in progress"};
  return kTexts[result];
}

const char* ncclGetLastError(ncclComm_t) {
  return "";
}
}
