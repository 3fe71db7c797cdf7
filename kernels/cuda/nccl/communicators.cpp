#include "kernels/cuda/nccl/communicators.h"

#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "kernels/cuda/nccl/nccl_call.h"
#include "sim/base/check.h"

namespace moesim {
namespace {

constexpr std::chrono::microseconds kPause{20};

ncclConfig_t config_of(const CommunicatorOptions& options, const CtaRange& ctas) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  if (ctas.least > 0) {
    config.minCTAs = ctas.least;
  }
  if (ctas.most > 0) {
    config.maxCTAs = ctas.most;
  }
  config.splitShare = options.share_resources ? 1 : 0;
  return config;
}

}  // namespace

ncclUniqueId draw_unique_id() {
  ncclUniqueId id{};
  check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
  return id;
}

Communicators::Communicators(const WorldPlace& place, CommunicatorOptions options)
    : place_(place), options_(std::move(options)) {
  world_.name = fmt::format("the {} ranks", place.num_ranks);
}

Communicators::~Communicators() {
  abort();
}

void Communicators::connect(const ncclUniqueId& id,
                            const Program& program,
                            const GroupTable& groups) {
  ncclConfig_t config = config_of(options_, options_.ctas);
  call(world_, "ncclCommInitRankConfig", [&] {
    return ncclCommInitRankConfig(&world_.handle, place_.num_ranks, id, place_.rank, &config);
  });
  for (const CommunicatorKey& key : plan_communicators(program)) {
    split_off(program, groups, key);
  }
}

void Communicators::split_off(const Program& program,
                              const GroupTable& groups,
                              const CommunicatorKey& key) {
  const std::string& stream = program.streams[key.stream];
  Entry& entry = add_entry(key);
  entry.name = fmt::format("group '{}' on stream '{}'", program.groups[key.group].name, stream);
  const CommunicatorSeat seat = seat_in(program, groups, key, place_.rank);
  const bool is_outside = seat.color == kNone;
  const auto own_ctas = options_.ctas_on_stream.find(stream);
  ncclConfig_t config = config_of(
      options_, own_ctas == options_.ctas_on_stream.end() ? options_.ctas : own_ctas->second);
  call(world_, "ncclCommSplit", [&] {
    return ncclCommSplit(world_.handle,
                         is_outside ? NCCL_SPLIT_NOCOLOR : seat.color,
                         is_outside ? 0 : seat.member,
                         &entry.handle,
                         &config);
  });
  if (!is_outside) {
    settle(entry, "ncclCommSplit");
  }
}

Communicators::Entry& Communicators::add_entry(const CommunicatorKey& key) {
  const std::lock_guard lock(mutex_);
  CHECK(!split_.contains(key), "a communicator is made twice");
  order_.push_back(key);
  return split_[key];
}

// A call of one communicator, until it is done.
void Communicators::call(const Entry& entry,
                         const char* name,
                         const std::function<ncclResult_t()>& body) {
  {
    const std::lock_guard lock(mutex_);
    check_not_aborted();
    check_nccl(body(), name);
  }
  settle(entry, name);
}

void Communicators::check_not_aborted() const {
  if (is_aborted_) {
    throw Failure("NCCL was ended by this process");
  }
}

ncclResult_t Communicators::state_of(const Entry& entry) {
  const std::lock_guard lock(mutex_);
  check_not_aborted();
  ncclResult_t state = ncclSuccess;
  check_nccl(ncclCommGetAsyncError(entry.handle, &state), "ncclCommGetAsyncError");
  return state;
}

// Waits until what a call began is done. NCCL waits for peers here: they may never come.
void Communicators::settle(const Entry& entry, const std::string& what) {
  while (true) {
    const ncclResult_t state = state_of(entry);
    check_nccl(state, fmt::format("{} of {}", what, entry.name).c_str());
    if (state == ncclSuccess) {
      return;
    }
    std::this_thread::sleep_for(kPause);
  }
}

void Communicators::run_group(const Entry& entry,
                              const std::string& what,
                              const std::function<void(ncclComm_t)>& body) {
  {
    const std::lock_guard lock(mutex_);
    check_not_aborted();
    check_nccl(ncclGroupStart(), "ncclGroupStart");
    try {
      body(entry.handle);
    } catch (...) {
      static_cast<void>(ncclGroupEnd());  // the first error is the one that counts
      throw;
    }
    check_nccl(ncclGroupEnd(), fmt::format("ncclGroupEnd of {}", what).c_str());
  }
  settle(entry, what);
}

void Communicators::enqueue(const CommunicatorKey& key,
                            const std::string& name,
                            const std::function<void(ncclComm_t)>& body) {
  const auto found = split_.find(key);
  {
    const std::lock_guard lock(mutex_);
    check_not_aborted();  // abort() takes the handles
    CHECK(found != split_.end() && found->second.handle != nullptr,
          "collective '{}' has no communicator on rank {}",
          name,
          place_.rank);
  }
  run_group(found->second, fmt::format("collective '{}'", name), body);
}

void Communicators::enqueue(const std::string& name, const std::function<void(ncclComm_t)>& body) {
  run_group(world_, name, body);
}

std::vector<Communicators::Entry*> Communicators::all() {
  std::vector<Entry*> entries;
  for (const CommunicatorKey& key : order_) {
    entries.push_back(&split_.at(key));
  }
  entries.push_back(&world_);
  return entries;
}

void Communicators::poll() {
  const std::lock_guard lock(mutex_);
  if (is_aborted_) {
    return;
  }
  for (const Entry* entry : all()) {
    if (entry->handle != nullptr) {
      ncclResult_t state = ncclSuccess;
      check_nccl(ncclCommGetAsyncError(entry->handle, &state), "ncclCommGetAsyncError");
      check_nccl(state, fmt::format("a collective of {}", entry->name).c_str());
    }
  }
}

// What cannot even be aborted is lost: who aborts is on the way out, and the error that led there
// is told.
void Communicators::abort() {
  const std::lock_guard lock(mutex_);
  is_aborted_ = true;
  for (Entry* entry : all()) {
    if (entry->handle != nullptr) {
      static_cast<void>(ncclCommAbort(std::exchange(entry->handle, nullptr)));
    }
  }
}

void Communicators::close() {
  for (Entry* entry : all()) {
    finalize(*entry);
  }
}

void Communicators::finalize(Entry& entry) {
  if (entry.handle == nullptr) {
    return;
  }
  call(entry, "ncclCommFinalize", [&] { return ncclCommFinalize(entry.handle); });
  const std::lock_guard lock(mutex_);
  check_not_aborted();
  check_nccl(ncclCommDestroy(std::exchange(entry.handle, nullptr)), "ncclCommDestroy");
}

}  // namespace moesim
