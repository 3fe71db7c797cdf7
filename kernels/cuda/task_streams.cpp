#include "kernels/cuda/task_streams.h"

#include <algorithm>

namespace moesim {
namespace {

// A late collective's blocks must not queue up behind those of a long product.
StreamPriority priority_of(const DeviceScript& script, int rank, const std::vector<int>& lane) {
  const bool only_collectives = std::all_of(lane.begin(), lane.end(), [&](int position) {
    return std::holds_alternative<Collective>(script.task({rank, position}).descriptor);
  });
  return only_collectives ? StreamPriority::kHigh : StreamPriority::kLow;
}

bool needs_workspace(const DeviceProgram& program, int rank, const std::vector<int>& lane) {
  return std::any_of(lane.begin(), lane.end(), [&](int position) {
    return has_products(program.tasks[rank][position]);
  });
}

void wait(cudaStream_t stream, const Event& event) {
  check_cuda(cudaStreamWaitEvent(stream, event.get(), 0), "cudaStreamWaitEvent");
}

}  // namespace

TaskStreams::TaskStreams(const DeviceScript& script, const DeviceProgram& program)
    : main_(make_stream(StreamPriority::kLow)), begin_(make_event(EventKind::kUntimed)) {
  for (int rank = 0; rank < script.program->num_ranks; ++rank) {
    std::vector<LaunchPlace>& places = places_.emplace_back();
    for (const std::vector<int>& lane : script.script.ranks[rank].lanes) {
      streams_.push_back(make_stream(priority_of(script, rank, lane)));
      ends_.push_back(make_event(EventKind::kUntimed));
      workspaces_.push_back(
          make_device_memory(needs_workspace(program, rank, lane) ? kProductWorkspace : 0));
      places.push_back({streams_.back().get(), workspaces_.back().get()});
    }
  }
}

int64_t TaskStreams::workspace_bytes(const DeviceScript& script, const DeviceProgram& program) {
  int64_t bytes = 0;
  for (int rank = 0; rank < script.program->num_ranks; ++rank) {
    for (const std::vector<int>& lane : script.script.ranks[rank].lanes) {
      bytes += needs_workspace(program, rank, lane) ? kProductWorkspace : 0;
    }
  }
  return bytes;
}

void* TaskStreams::any_workspace() const {
  const auto found = std::ranges::find_if(
      workspaces_, [](const DeviceMemory& workspace) { return workspace != nullptr; });
  return found == workspaces_.end() ? nullptr : found->get();
}

void TaskStreams::fork() {
  check_cuda(cudaEventRecord(begin_.get(), main()), "cudaEventRecord");
  for (const Stream& stream : streams_) {
    wait(stream.get(), begin_);
  }
}

void TaskStreams::join() {
  for (size_t i = 0; i < streams_.size(); ++i) {
    check_cuda(cudaEventRecord(ends_[i].get(), streams_[i].get()), "cudaEventRecord");
    wait(main(), ends_[i]);
  }
}

}  // namespace moesim
