#include "kernels/cuda/iteration.h"

#include <chrono>
#include <string>
#include <utility>

#include <nvtx3/nvToolsExt.h>

#include "kernels/cuda/launch.h"

namespace moesim {
namespace {

// What a profiler shows the launches within it as.
class NamedRange {
 public:
  explicit NamedRange(const std::string& name) { nvtxRangePushA(name.c_str()); }
  ~NamedRange() { nvtxRangePop(); }
  NamedRange(const NamedRange&) = delete;
  NamedRange& operator=(const NamedRange&) = delete;
  NamedRange(NamedRange&&) = delete;
  NamedRange& operator=(NamedRange&&) = delete;
};

template <typename News>
void tell(const std::function<void(News)>& hook, const std::decay_t<News>& news) {
  if (hook) {
    hook(news);
  }
}

// What is put on a stream, and on those that wait for it, becomes a graph. One that is left before
// its end is thrown away.
class StreamCapture {
 public:
  StreamCapture(cudaStream_t stream, bool& is_capturing) : is_capturing_(is_capturing) {
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
               "cudaStreamBeginCapture");
    stream_ = stream;
    is_capturing_ = true;
  }
  ~StreamCapture() {
    is_capturing_ = false;
    if (stream_ != nullptr) {
      cudaGraph_t graph = nullptr;
      static_cast<void>(cudaStreamEndCapture(stream_, &graph));
      const Graph unfinished(graph);
    }
  }
  StreamCapture(const StreamCapture&) = delete;
  StreamCapture& operator=(const StreamCapture&) = delete;
  StreamCapture(StreamCapture&&) = delete;
  StreamCapture& operator=(StreamCapture&&) = delete;

  Graph end() {
    cudaGraph_t graph = nullptr;
    check_cuda(cudaStreamEndCapture(std::exchange(stream_, nullptr), &graph),
               "cudaStreamEndCapture");
    return Graph(graph);
  }

 private:
  cudaStream_t stream_ = nullptr;
  bool& is_capturing_;
};

int64_t spin_nanoseconds(const Program& program, const Fixed& fixed, int rank) {
  const std::vector<double>& scale = program.rank_scale;
  const Time time = scale.empty() ? fixed.time : fixed.time.scaled(scale[rank]);
  constexpr int64_t kPicosecondsPerNanosecond = 1000;
  return time.picoseconds() / kPicosecondsPerNanosecond;
}

}  // namespace

Iteration::Iteration(const IterationParts& parts) : parts_(parts) {
  for (const RankScript& rank : parts.script.script.ranks) {
    launched_.emplace_back(rank.tasks.size());
  }
}

const ScriptTask& Iteration::entry(const ScriptPlace& place) const {
  return parts_.script.script.ranks[place.rank].tasks[place.position];
}

const LaunchPlace& Iteration::launch_place(const ScriptPlace& place) const {
  return parts_.streams.place(place.rank, entry(place).lane);
}

void Iteration::issue() {
  clock_ = RunClock(std::chrono::steady_clock::now());
  issue_all();
}

Graph Iteration::capture() {
  StreamCapture capture(parts_.streams.main(), is_capturing_);
  issue_all();
  return capture.end();
}

void Iteration::issue_all() {
  record_time(parts_.events.begin(), parts_.streams.main());
  parts_.streams.fork();
  for (const Issue& issue : parts_.script.order) {
    this->issue(issue);
  }
  parts_.streams.join();
}

void Iteration::issue(const Issue& issue) {
  const NamedRange range(parts_.script.task(issue.places.front()).name);
  for (const ScriptPlace& place : issue.places) {
    launched_[place.rank][place.position] = is_capturing_ ? Time::zero() : clock_.now();
  }
  if (entry(issue.places.front()).lane == kNone) {
    tell(parts_.hooks.host_waits, true);
    wait_on_host(issue.places.front());
    tell(parts_.hooks.host_waits, false);
    tell(parts_.hooks.issued, issue.places.front());
    return;
  }
  for (const ScriptPlace& place : issue.places) {
    begin(place);
    tell(parts_.hooks.begun, place);
  }
  run(issue);
  for (const ScriptPlace& place : issue.places) {
    end(place);
    tell(parts_.hooks.issued, place);
  }
}

void Iteration::begin(const ScriptPlace& place) {
  const cudaStream_t stream = launch_place(place).stream;
  const RankScript& rank = parts_.script.script.ranks[place.rank];
  for (const int wait : entry(place).waits) {
    // A stream runs its own tasks in order, and the host waited before it launched this one.
    if (rank.tasks[wait].lane != entry(place).lane && rank.tasks[wait].lane != kNone) {
      check_cuda(cudaStreamWaitEvent(stream, parts_.events.at({place.rank, wait}).done.get(), 0),
                 "cudaStreamWaitEvent");
    }
  }
  record_time(parts_.events.at(place).start, stream);
}

void Iteration::run(const Issue& issue) {
  if (issue.meeting != kNone) {
    std::vector<LaunchPlace> members;
    for (const ScriptPlace& place : issue.places) {
      members.push_back(launch_place(place));
    }
    parts_.carrier.issue(issue.meeting, members);
    return;
  }
  const ScriptPlace& place = issue.places.front();
  const Task& task = parts_.script.task(place);
  if (const auto* fixed = std::get_if<Fixed>(&task.descriptor)) {
    const int64_t time = spin_nanoseconds(*parts_.script.program, *fixed, place.rank);
    if (time > 0) {
      check_cuda(launch_spin(time, launch_place(place).stream), "launch_spin");
    }
    return;
  }
  parts_.launcher.launch(parts_.program.tasks[place.rank][place.position], launch_place(place));
}

void Iteration::end(const ScriptPlace& place) {
  const cudaStream_t stream = launch_place(place).stream;
  const TaskEvents& events = parts_.events.at(place);
  record_time(events.end, stream);
  if (events.done != nullptr) {
    check_cuda(cudaEventRecord(events.done.get(), stream), "cudaEventRecord");
  }
}

void Iteration::wait_on_host(const ScriptPlace& place) {
  for (const int wait : entry(place).waits) {
    if (const Event& done = parts_.events.at({place.rank, wait}).done; done != nullptr) {
      check_cuda(cudaEventSynchronize(done.get()), "cudaEventSynchronize");
    }
  }
}

// In a capture it becomes a node of the graph: an event that is recorded for streams of the capture
// alone has no time.
void Iteration::record_time(const Event& event, cudaStream_t stream) const {
  check_cuda(
      cudaEventRecordWithFlags(
          event.get(), stream, is_capturing_ ? cudaEventRecordExternal : cudaEventRecordDefault),
      "cudaEventRecordWithFlags");
}

}  // namespace moesim
