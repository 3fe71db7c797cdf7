#include "kernels/cuda/nccl/communicators.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "kernels/cuda/nccl/nccl_call.h"
#include "sim/base/check.h"

namespace moesim {
namespace {

// Between two looks at a call that goes on. Chosen, not measured, as the next: it is added to the
// host's time for a collective, once at most where NCCL is done at once.
constexpr std::chrono::microseconds kPause{20};
// Calls of NCCL that do not wait for peers return sooner.
constexpr std::chrono::milliseconds kGrace{200};

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

// Aborting one may wait for its kernel, and that for the kernel of another: within a group all are
// told before any is waited for (NCCL 2.22; before, ncclCommAbort knows no groups). What cannot
// even be aborted is lost: who aborts is on the way out, and the error that led there is told.
void abort_all(const std::vector<ncclComm_t>& handles) {
  int version = 0;
  static_cast<void>(ncclGetVersion(&version));
  const bool is_group = version >= NCCL_VERSION(2, 22, 0) && ncclGroupStart() == ncclSuccess;
  for (const ncclComm_t handle : handles) {
    static_cast<void>(ncclCommAbort(handle));
  }
  if (is_group) {
    static_cast<void>(ncclGroupEnd());
  }
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

Communicators::Call::Call(Communicators& communicators) : communicators_(communicators) {
  const std::lock_guard lock(communicators_.mutex_);
  communicators_.check_not_aborted();
  communicators_.is_in_call_ = true;
}

Communicators::Call::~Call() {
  {
    const std::lock_guard lock(communicators_.mutex_);
    communicators_.is_in_call_ = false;
  }
  communicators_.has_returned_.notify_all();
}

void Communicators::connect(const ncclUniqueId& id, const std::vector<CommunicatorPart>& parts) {
  ncclConfig_t config = config_of(options_, options_.ctas);
  call("ncclCommInitRankConfig", [&] {
    return ncclCommInitRankConfig(&world_.handle, place_.num_ranks, id, place_.rank, &config);
  });
  set_ready(world_);
  settle(world_, "ncclCommInitRankConfig");
  for (const CommunicatorPart& part : parts) {
    split_off(part);
  }
}

void Communicators::connect(const ncclUniqueId& id,
                            const Program& program,
                            const GroupTable& groups) {
  std::vector<CommunicatorPart> parts;
  for (const CommunicatorKey& key : plan_communicators(program)) {
    const std::string& stream = program.streams[key.stream];
    const auto own_ctas = options_.ctas_on_stream.find(stream);
    parts.push_back(
        {.key = key,
         .name = fmt::format("group '{}' on stream '{}'", program.groups[key.group].name, stream),
         .seat = seat_in(program, groups, key, place_.rank),
         .ctas = own_ctas == options_.ctas_on_stream.end() ? options_.ctas : own_ctas->second});
  }
  connect(id, parts);
}

// NCCL makes the new one behind the call's back: it is there when its parent has settled.
void Communicators::split_off(const CommunicatorPart& part) {
  Entry& entry = add_entry(part.key);
  entry.name = part.name;
  const bool is_outside = part.seat.color == kNone;
  ncclConfig_t config = config_of(options_, part.ctas);
  call("ncclCommSplit", [&] {
    return ncclCommSplit(world_.handle,
                         is_outside ? NCCL_SPLIT_NOCOLOR : part.seat.color,
                         is_outside ? 0 : part.seat.member,
                         &entry.handle,
                         &config);
  });
  settle(world_, "ncclCommSplit");
  if (!is_outside) {
    set_ready(entry);
    settle(entry, "ncclCommSplit");
  }
}

Communicators::Entry& Communicators::add_entry(const CommunicatorKey& key) {
  const std::lock_guard lock(mutex_);
  CHECK(!split_.contains(key), "a communicator is made twice");
  order_.push_back(key);
  return split_[key];
}

void Communicators::call(const char* name, const std::function<ncclResult_t()>& body) {
  const Call call(*this);
  check_nccl(body(), name);
}

void Communicators::set_ready(Entry& entry) {
  const std::lock_guard lock(mutex_);
  check_not_aborted();
  CHECK(std::atomic_ref(entry.handle).load() != nullptr, "NCCL made nothing of {}", entry.name);
  entry.state = State::kReady;
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

ncclComm_t Communicators::ready_handle(const Entry& entry, const std::string& what) {
  const std::lock_guard lock(mutex_);
  check_not_aborted();  // abort() takes the handles
  CHECK(entry.state == State::kReady, "{} has no communicator on rank {}", what, place_.rank);
  return entry.handle;
}

void Communicators::run_group(const Entry& entry,
                              const std::string& what,
                              const std::function<void(ncclComm_t)>& body) {
  const ncclComm_t handle = ready_handle(entry, what);
  {
    const Call call(*this);
    check_nccl(ncclGroupStart(), "ncclGroupStart");
    try {
      body(handle);
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
  CHECK(found != split_.end(), "collective '{}' has no communicator", name);
  run_group(found->second, fmt::format("collective '{}'", name), body);
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
    if (entry->state == State::kReady) {
      ncclResult_t state = ncclSuccess;
      check_nccl(ncclCommGetAsyncError(entry->handle, &state), "ncclCommGetAsyncError");
      check_nccl(state, fmt::format("a collective of {}", entry->name).c_str());
    }
  }
}

// Those that NCCL has made, ready or not.
std::vector<ncclComm_t> Communicators::take_handles() {
  std::vector<ncclComm_t> handles;
  for (Entry* entry : all()) {
    const ncclComm_t handle = std::atomic_ref(entry->handle).load();
    if (entry->state != State::kGone && handle != nullptr) {
      entry->state = State::kGone;
      handles.push_back(handle);
    }
  }
  return handles;
}

// A call that is about to return shall not find its communicator freed; one that hangs in NCCL
// returns because of the abort. To end the world's ends a split of it, too, which may leave one
// that had not been there before.
void Communicators::abort() {
  std::unique_lock lock(mutex_);
  is_aborted_ = true;
  has_returned_.wait_for(lock, kGrace, [this] { return !is_in_call_; });
  for (auto handles = take_handles(); !handles.empty(); handles = take_handles()) {
    abort_all(handles);
  }
}

void Communicators::close() {
  for (Entry* entry : all()) {
    finalize(*entry);
  }
}

void Communicators::finalize(Entry& entry) {
  {
    const std::lock_guard lock(mutex_);
    check_not_aborted();
    if (entry.state != State::kReady) {
      return;
    }
  }
  call("ncclCommFinalize", [&] { return ncclCommFinalize(entry.handle); });
  settle(entry, "ncclCommFinalize");
  // All ranks of a node meet in it, too: it may not come back either.
  call("ncclCommDestroy", [&] { return ncclCommDestroy(take_handle(entry)); });
}

// Nobody else gives it back from here on.
ncclComm_t Communicators::take_handle(Entry& entry) {
  const std::lock_guard lock(mutex_);
  check_not_aborted();
  entry.state = State::kGone;
  return entry.handle;
}

}  // namespace moesim
