#include "kernels/cuda/nccl/run_watch.h"

#include <chrono>
#include <thread>
#include <utility>

namespace moesim {
namespace {

// Between two looks at the device and at NCCL. Chosen, not measured.
constexpr std::chrono::milliseconds kInterval{10};

bool is_over(const Event& event) {
  const cudaError_t status = cudaEventQuery(event.get());
  if (status != cudaErrorNotReady) {
    check_cuda(status, "cudaEventQuery");
  }
  return status == cudaSuccess;
}

}  // namespace

IssueHooks RunWatch::hooks() {
  return {[this](const ScriptPlace& place) { set_recorded(place, Recorded::kStart); },
          [this](const ScriptPlace& place) { set_recorded(place, Recorded::kEnd); },
          [this](bool waits) { set_host_waits(waits); }};
}

void RunWatch::set_host_waits(bool waits) {
  const std::lock_guard lock(mutex_);
  tasks_->set_host_waits(parts_.script.ranks.front(), waits);
}

void RunWatch::set_recorded(const ScriptPlace& place, Recorded recorded) {
  const std::lock_guard lock(mutex_);
  recorded_[static_cast<size_t>(place.position)] = recorded;
}

void RunWatch::guard(Subject subject, const std::function<void()>& body) {
  begin(subject);
  std::thread watcher([this] { watch(); });
  try {
    body();
  } catch (...) {
    fail(std::current_exception());
  }
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  watcher.join();
  if (error_) {
    std::rethrow_exception(error_);
  }
}

void RunWatch::begin(Subject subject) {
  const int rank = parts_.script.ranks.front();
  const RankScript& script = parts_.script.script.ranks[static_cast<size_t>(rank)];
  subject_ = subject;
  is_over_ = false;
  error_ = nullptr;
  clock_ = RunClock(std::chrono::steady_clock::now());
  tasks_.emplace(parts_.script.script, std::vector{rank}, parts_.patience);
  recorded_.assign(script.tasks.size(), Recorded::kNothing);
  first_of_lane_.assign(script.lanes.size(), 0);
}

void RunWatch::watch() {
  try {
    check_cuda(cudaSetDevice(parts_.device), "cudaSetDevice");
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kInterval, [this] { return is_over_; })) {
      lock.unlock();
      look_around();
      lock.lock();
    }
    lock.unlock();
    look_around();  // an iteration that is over stands still for good: the others hear of it
  } catch (...) {
    fail(std::current_exception());
  }
}

void RunWatch::look_around() {
  parts_.communicators.poll();
  std::optional<Standstill> standstill;
  if (subject_ == Subject::kIteration) {
    const std::lock_guard lock(mutex_);
    see_tasks();
    standstill = tasks_->look(clock_.now());
  }
  parts_.peers.watch(standstill);
}

void RunWatch::see_tasks() {
  const int rank = parts_.script.ranks.front();
  const RankScript& script = parts_.script.script.ranks[static_cast<size_t>(rank)];
  for (size_t lane = 0; lane < script.lanes.size(); ++lane) {
    const std::vector<int>& positions = script.lanes[lane];
    size_t& first = first_of_lane_[lane];
    while (first < positions.size() && see_task(positions[first])) {
      ++first;
    }
  }
  for (size_t position = 0; position < script.tasks.size(); ++position) {
    const bool is_host_wait = script.tasks[position].lane == kNone;
    if (is_host_wait && recorded_[position] == Recorded::kEnd) {
      tasks_->see(rank, static_cast<int>(position), TaskProgress::kEnded);
    }
  }
}

// Whether it has ended. Events that are not recorded in this iteration tell of an earlier one.
bool RunWatch::see_task(int position) {
  const int rank = parts_.script.ranks.front();
  const Recorded recorded = recorded_[static_cast<size_t>(position)];
  const TaskEvents& events = parts_.events.at({rank, position});
  if (recorded == Recorded::kNothing || !is_over(events.start)) {
    return false;
  }
  const bool has_ended = recorded == Recorded::kEnd && is_over(events.end);
  const ScriptTask& task =
      parts_.script.script.ranks[static_cast<size_t>(rank)].tasks[static_cast<size_t>(position)];
  if (!task.passes_by) {
    tasks_->see(rank, position, has_ended ? TaskProgress::kEnded : TaskProgress::kBegun);
  }
  return has_ended;
}

void RunWatch::fail(std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex_);
    if (error_) {
      return;
    }
    error_ = error;
  }
  // The peers first: an abort may wait for kernels that wait for theirs.
  parts_.peers.fail(std::move(error));
  parts_.communicators.abort();
}

}  // namespace moesim
