#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "sim/base/random.h"
#include "tests/support/fake_cuda/fake_cuda.h"

namespace moesim::testing {

// One recording of an event. Who waits, waits for the recording that was the last when it said so.
struct FakeRecord {
  bool is_over = false;
  Time time;
  class FakeGraph* graph = nullptr;  // in whose capture it stands
};

struct FakeEvent {
  bool is_timed = false;
  std::shared_ptr<FakeRecord> last;  // null: not recorded yet
};

// What stands on a stream: one of the four.
struct FakeItem {
  std::function<void()> work{};
  std::function<bool()> attempt{};  // of work that waits for others: whether it is over
  Time duration{};
  Time launched{};  // nothing starts before the host has come to it
  bool is_kernel = false;
  std::shared_ptr<FakeRecord> record{};
  std::shared_ptr<FakeRecord> wait{};
  FakeEvent* timed = nullptr;  // in graphs: the event that a launch records anew
};

struct FakeStream {
  std::deque<FakeItem> items;
  Time now;                          // when what it has done so far ends
  bool is_high = false;              // made with more than the least priority
  double priority = 0;               // of its next step
  bool is_held_up = false;           // its attempt failed, and nothing else has happened since
  class FakeGraph* graph = nullptr;  // that captures it
};

// What was captured, stream by stream.
class FakeGraph {
 public:
  std::map<FakeStream*, std::vector<FakeItem>> items;
  FakeStream* origin = nullptr;
  bool keeps_priorities = false;  // of the streams; else all have that of the launch's stream
};

// The device's state, and the scheduler of its streams.
class FakeDevice {
 public:
  explicit FakeDevice(const FakeCudaOptions& options);

  // The one that is installed; there must be one.
  static FakeDevice& current();
  static void install(FakeDevice* device);

  const FakeCudaOptions& options() const { return options_; }

  // Counts a call; returns the status that it is to return, if it is to fail.
  std::optional<int> enter(const std::string& call);
  // Counts a launch of a function, or an algorithm of a library, that CUDA loads when it is
  // launched first. Such a first launch fails beside a kernel that waits for others, and where none
  // is allowed any more: CUDA may load it when the device is empty only.
  std::optional<int> load(const std::string& function);
  const std::map<std::string, int>& launches() const { return launches_; }
  void forbid_first_launches() { allows_first_launches_ = false; }
  int next_algorithm() { return num_algorithms_++; }
  const std::map<std::string, int>& calls() const { return calls_; }
  const std::string& queues_at_first_call() const { return queues_at_first_call_; }
  int num_waits() const { return num_waits_; }
  int num_high_priorities() const { return num_high_priorities_; }

  // Of every call: ranks may be threads.
  std::recursive_mutex& mutex() { return mutex_; }

  // Handles.
  template <typename Object>
  Object* make() {
    auto owned = std::make_shared<Object>();
    Object* object = owned.get();
    handles_[object] = std::move(owned);
    return object;
  }
  void destroy(void* handle) { handles_.erase(handle); }
  size_t num_handles() const { return handles_.size(); }

  FakeStream* make_stream(int priority);
  void destroy_stream(FakeStream* stream);
  // The one whose handle is null; the others do not wait for it.
  FakeStream& default_stream() { return default_stream_; }

  // Memory of the device; null where there is not enough.
  void* allocate(int64_t bytes);
  void* allocate_host(int64_t bytes);
  void free(void* memory);
  int64_t free_bytes() const { return options_.memory_bytes - used_bytes_; }
  bool has_context() const { return has_context_; }

  // Streams and events.
  void add_work(FakeStream* stream, std::function<void()> work, Time duration, bool is_kernel);
  // Tried again and again until it returns true.
  void add_attempt(FakeStream* stream, std::function<bool()> attempt);
  // A kernel that goes on until *stop is not 0.
  void add_endless(FakeStream* stream, const volatile int* stop);
  void record(FakeEvent* event, FakeStream* stream, bool is_external);
  void wait(FakeStream* stream, const FakeEvent& event);
  // What the host launches from here on starts no earlier.
  void advance_host(Time now) { host_now_ = std::max(host_now_, now); }
  // False where nothing can go on any more, or nothing but what others have to do first.
  bool run_until(const std::function<bool()>& is_done);
  bool run_all();
  // Whether run_all() leaves nothing on the streams.
  bool is_idle() const;
  // Whether others can make a stream go on.
  bool is_held_up() const;
  // What a kernel that runs does when it faults: no other runs after it.
  void fail(int status) { failure_ = status; }
  // Of a kernel; 0: none so far.
  int failure() const { return failure_; }
  Random& random() { return random_; }

  // Graphs; one capture at a time.
  void begin_capture(FakeStream* stream);
  FakeGraph* end_capture();
  void launch(const FakeGraph& graph, FakeStream* stream);

 private:
  void add(FakeStream* stream, FakeItem item);
  bool step(FakeStream& stream);
  void let_go();
  bool is_occupied() const;
  FakeStream* next_stream();

  std::recursive_mutex mutex_;
  FakeCudaOptions options_;
  Random random_;
  std::map<std::string, int> calls_;
  std::map<std::string, int> launches_;
  bool allows_first_launches_ = true;
  int num_algorithms_ = 0;
  std::string queues_at_first_call_;
  std::map<void*, std::shared_ptr<void>> handles_;
  std::shared_ptr<FakeGraph> capture_;
  std::map<void*, int64_t> device_blocks_;
  FakeStream default_stream_;
  std::vector<FakeStream*> streams_;
  std::vector<std::unique_ptr<FakeStream>> replays_;  // streams of launched graphs
  int64_t used_bytes_ = 0;
  bool has_context_ = false;
  int num_waits_ = 0;
  int num_kernels_ = 0;
  int num_high_priorities_ = 0;
  Time host_now_;
  int failure_ = 0;
};

// Counts a call and does it, unless it is to fail; how each function of the fake begins. One call
// at a time: ranks may be threads.
template <typename Status, typename Body>
Status fake_call(const char* name, const Body& body) {
  const std::lock_guard lock(FakeDevice::current().mutex());
  if (const auto status = FakeDevice::current().enter(name)) {
    return static_cast<Status>(*status);
  }
  return body();
}

// The same of a call that launches a function.
template <typename Status, typename Body>
Status fake_launch(const char* name, const std::string& function, const Body& body) {
  return fake_call<Status>(name, [&] {
    const auto status = FakeDevice::current().load(function);
    return status ? static_cast<Status>(*status) : body();
  });
}

}  // namespace moesim::testing
