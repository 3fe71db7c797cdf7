#include "tests/support/fake_cuda/fake_device.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <cuda_runtime_api.h>

#include "sim/base/check.h"

namespace moesim::testing {
namespace {

// C functions have no object of their own.
FakeDevice* installed = nullptr;

}  // namespace

FakeCuda::FakeCuda(const FakeCudaOptions& options)
    : device_(std::make_unique<FakeDevice>(options)) {
  FakeDevice::install(device_.get());
}

FakeCuda::~FakeCuda() {
  FakeDevice::install(nullptr);
}

void FakeCuda::add_attempt(void* stream, std::function<bool()> attempt) {
  FakeDevice& device = FakeDevice::current();
  const std::lock_guard lock(device.mutex());
  device.add_attempt(static_cast<FakeStream*>(stream), std::move(attempt));
}

const std::map<std::string, int>& FakeCuda::calls() const {
  return device_->calls();
}

const std::map<std::string, int>& FakeCuda::launches() const {
  return device_->launches();
}

void FakeCuda::forbid_first_launches() {
  const std::lock_guard lock(FakeDevice::current().mutex());
  FakeDevice::current().forbid_first_launches();
}

int FakeCuda::num_waits() const {
  return device_->num_waits();
}

int FakeCuda::num_high_priority_streams() const {
  return device_->num_high_priorities();
}

const std::string& FakeCuda::queues_at_first_call() const {
  return device_->queues_at_first_call();
}

bool FakeCuda::becomes_idle() {
  const std::lock_guard lock(device_->mutex());
  device_->run_all();
  return device_->is_idle();
}

int FakeCuda::num_live_handles() const {
  return static_cast<int>(device_->num_handles());
}

FakeDevice::FakeDevice(const FakeCudaOptions& options) : options_(options), random_(options.seed) {
  streams_.push_back(&default_stream_);
}

FakeDevice& FakeDevice::current() {
  CHECK(installed != nullptr, "no FakeCuda lives");
  return *installed;
}

void FakeDevice::install(FakeDevice* device) {
  CHECK(device == nullptr || installed == nullptr, "two FakeCudas");
  installed = device;
}

std::optional<int> FakeDevice::enter(const std::string& call) {
  if (const char* queues = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
      calls_.empty() && queues != nullptr) {
    queues_at_first_call_ = queues;
  }
  const int number = ++calls_[call];
  host_now_ = host_now_ + options_.call_time;
  const std::optional<Fault>& fault = options_.fault;
  if (fault && fault->call == call && fault->number == number) {
    return fault->status;
  }
  return std::nullopt;
}

std::optional<int> FakeDevice::load(const std::string& function) {
  const bool is_first = ++launches_[function] == 1;
  if (is_first && (is_occupied() || !allows_first_launches_)) {
    return cudaErrorLaunchTimeout;  // it would wait for ever
  }
  return std::nullopt;
}

// By a kernel that goes on until others do something: until it is stopped, or its peers come.
bool FakeDevice::is_occupied() const {
  return failure_ == 0 && std::ranges::any_of(streams_, [](const FakeStream* stream) {
           return std::ranges::any_of(stream->items,
                                      [](const FakeItem& item) { return item.attempt != nullptr; });
         });
}

FakeStream* FakeDevice::make_stream(int priority) {
  has_context_ = true;
  FakeStream* stream = make<FakeStream>();
  stream->is_high = priority < 0;  // as CUDA counts
  num_high_priorities_ += stream->is_high ? 1 : 0;
  stream->priority = random_.uniform();
  streams_.push_back(stream);
  return stream;
}

void FakeDevice::destroy_stream(FakeStream* stream) {
  run_until([&] { return stream->items.empty(); });
  std::erase(streams_, stream);
  destroy(stream);
}

void* FakeDevice::allocate(int64_t bytes) {
  has_context_ = true;
  if (bytes > free_bytes()) {
    return nullptr;
  }
  // As aligned as cudaMalloc's; pages that nobody touches cost nothing.
  constexpr size_t kAlignment = 256;
  const size_t size = (static_cast<size_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
  std::shared_ptr<void> memory(std::aligned_alloc(kAlignment, size), std::free);
  void* address = memory.get();
  handles_[address] = std::move(memory);
  device_blocks_[address] = bytes;
  used_bytes_ += bytes;
  return address;
}

void* FakeDevice::allocate_host(int64_t bytes) {
  std::shared_ptr<void> memory(std::malloc(static_cast<size_t>(bytes)), std::free);
  void* address = memory.get();
  handles_[address] = std::move(memory);
  return address;
}

void FakeDevice::free(void* memory) {
  run_all();  // as cudaFree
  if (const auto block = device_blocks_.find(memory); block != device_blocks_.end()) {
    used_bytes_ -= block->second;
    device_blocks_.erase(block);
  }
  destroy(memory);
}

void FakeDevice::add_work(FakeStream* stream,
                          std::function<void()> work,
                          Time duration,
                          bool is_kernel) {
  FakeItem item;
  item.work = std::move(work);
  item.duration = duration;
  item.is_kernel = is_kernel;
  add(stream, std::move(item));
}

void FakeDevice::add_attempt(FakeStream* stream, std::function<bool()> attempt) {
  FakeItem item;
  item.attempt = std::move(attempt);
  item.duration = options_.kernel_time;
  add(stream, std::move(item));
}

void FakeDevice::add_endless(FakeStream* stream, const volatile int* stop) {
  add_attempt(stream, [stop] { return *stop != 0; });
}

void FakeDevice::add(FakeStream* stream, FakeItem item) {
  item.launched = host_now_;
  if (stream->graph != nullptr) {
    stream->graph->items[stream].push_back(std::move(item));
  } else {
    stream->items.push_back(std::move(item));
  }
}

void FakeDevice::record(FakeEvent* event, FakeStream* stream, bool is_external) {
  FakeItem item;
  item.record = std::make_shared<FakeRecord>();
  if (is_external && stream->graph != nullptr) {
    item.timed = event;
  } else {
    item.record->graph = stream->graph;
    event->last = item.record;
  }
  add(stream, std::move(item));
}

void FakeDevice::wait(FakeStream* stream, const FakeEvent& event) {
  if (event.last == nullptr) {
    return;
  }
  if (event.last->graph != nullptr) {
    stream->graph = event.last->graph;  // a wait for what is captured captures the stream
  }
  if (++num_waits_ == options_.ignored_wait) {
    return;
  }
  FakeItem item;
  item.wait = event.last;
  add(stream, std::move(item));
}

// The stream of the highest priority among those that can go on. Priorities change now and then, so
// that a stream may run far ahead of the others, or stand still for long.
FakeStream* FakeDevice::next_stream() {
  FakeStream* best = nullptr;
  const auto consider = [&](FakeStream* stream) {
    const bool goes_on =
        !stream->items.empty() && !stream->is_held_up &&
        (stream->items.front().wait == nullptr || stream->items.front().wait->is_over);
    if (goes_on && (best == nullptr || stream->priority > best->priority)) {
      best = stream;
    }
  };
  std::for_each(streams_.begin(), streams_.end(), consider);
  for (const std::unique_ptr<FakeStream>& stream : replays_) {
    consider(stream.get());
  }
  constexpr double kChance = 0.1;
  if (best != nullptr && random_.uniform() < kChance) {
    best->priority = random_.uniform();
  }
  return best;
}

// False where the stream is held up.
bool FakeDevice::step(FakeStream& stream) {
  if (const FakeItem& next = stream.items.front();
      next.attempt && failure_ == 0 && !next.attempt()) {
    stream.is_held_up = true;
    return false;
  }
  const FakeItem item = std::move(stream.items.front());
  stream.items.pop_front();
  stream.now = std::max(stream.now, item.launched);
  if (item.wait != nullptr) {
    stream.now = std::max(stream.now, item.wait->time);
  } else if (item.record != nullptr) {
    item.record->is_over = true;
    item.record->time = stream.now;
  } else if (item.attempt) {
    stream.now += item.duration;
  } else {
    const std::optional<Fault>& fault = options_.fault;
    num_kernels_ += item.is_kernel ? 1 : 0;
    if (fault && fault->call == "kernel" && item.is_kernel && num_kernels_ == fault->number) {
      failure_ = fault->status;
    } else if (failure_ == 0) {
      item.work();
    }
    stream.now += item.duration;
  }
  return true;
}

bool FakeDevice::run_until(const std::function<bool()>& is_done) {
  let_go();
  while (!is_done()) {
    FakeStream* stream = next_stream();
    if (stream == nullptr) {
      return false;
    }
    if (step(*stream)) {
      let_go();
    }
  }
  return true;
}

bool FakeDevice::run_all() {
  return run_until([] { return false; });
}

bool FakeDevice::is_idle() const {
  const auto is_empty = [](const auto& stream) { return stream->items.empty(); };
  return std::all_of(streams_.begin(), streams_.end(), is_empty) &&
         std::all_of(replays_.begin(), replays_.end(), is_empty);
}

// Whatever happened, it may have been what a stream waited for.
void FakeDevice::let_go() {
  for (FakeStream* stream : streams_) {
    stream->is_held_up = false;
  }
  for (const std::unique_ptr<FakeStream>& stream : replays_) {
    stream->is_held_up = false;
  }
}

bool FakeDevice::is_held_up() const {
  return std::any_of(streams_.begin(), streams_.end(), [](const FakeStream* stream) {
    return stream->is_held_up;
  });
}

void FakeDevice::begin_capture(FakeStream* stream) {
  capture_ = std::make_shared<FakeGraph>();
  capture_->origin = stream;
  stream->graph = capture_.get();
}

// From here on the graph is the caller's.
FakeGraph* FakeDevice::end_capture() {
  FakeGraph* graph = capture_.get();
  for (FakeStream* stream : streams_) {
    stream->graph = nullptr;
  }
  handles_[graph] = std::move(capture_);
  return graph;
}

// Every captured stream becomes one of the launch's own. Only what the origin waited for is over
// when the launch is.
void FakeDevice::launch(const FakeGraph& graph, FakeStream* stream) {
  std::map<FakeRecord*, std::shared_ptr<FakeRecord>> records;
  const auto renewed = [&](const std::shared_ptr<FakeRecord>& record) {
    std::shared_ptr<FakeRecord>& found = records[record.get()];
    found = found == nullptr ? std::make_shared<FakeRecord>() : found;
    return found;
  };
  FakeEvent before;
  record(&before, stream, false);
  FakeEvent after;
  for (const auto& [captured, items] : graph.items) {
    FakeStream* replay = replays_.emplace_back(std::make_unique<FakeStream>()).get();
    num_high_priorities_ += graph.keeps_priorities && captured->is_high ? 1 : 0;
    replay->priority = random_.uniform();
    wait(replay, before);
    for (FakeItem item : items) {
      if (item.timed != nullptr) {
        item.record = std::make_shared<FakeRecord>();
        item.timed->last = item.record;
      } else if (item.record != nullptr) {
        item.record = renewed(item.record);
      } else if (item.wait != nullptr) {
        item.wait = renewed(item.wait);
      }
      replay->items.push_back(std::move(item));
    }
    if (captured == graph.origin) {
      record(&after, replay, false);
    }
  }
  wait(stream, after);
}

}  // namespace moesim::testing
