#include "kernels/cuda/probes/probe_member.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "kernels/cuda/device_pointer.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/nccl/nccl_carrier.h"
#include "kernels/cuda/probes/probe_kernels.h"
#include "sim/base/check.h"
#include "sim/base/error.h"

namespace moesim {
namespace {

constexpr int64_t kElement = sizeof(Bfloat16);
// Rows as long as those of a token, when they are packed; in bytes.
constexpr size_t kRow = 4096;
// Of what is not written yet: a NaN of BF16, which is in no pattern.
constexpr int kUnwritten = 0xFF;

size_t size_of(const std::vector<Bfloat16>& elements) {
  return elements.size() * sizeof(Bfloat16);
}

// It has arrived when this returns: other streams do not wait for the default one.
void copy_to_device(const std::vector<Bfloat16>& elements, const DeviceMemory& memory) {
  check_cuda(cudaMemcpy(memory.get(), elements.data(), size_of(elements), cudaMemcpyHostToDevice),
             "cudaMemcpy");
  check_cuda(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
}

// Rows with as much between them, as they are before they are packed; the last one may be short.
std::vector<Bfloat16> with_gaps(const std::vector<Bfloat16>& rows) {
  constexpr size_t kColumns = kRow / sizeof(Bfloat16);
  std::vector<Bfloat16> result;
  for (size_t first = 0; first < rows.size(); first += kColumns) {
    const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(first);
    const size_t count = std::min(kColumns, rows.size() - first);
    result.resize(2 * first);
    result.insert(result.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
  }
  return result;
}

// What a member says to NCCL of a collective from one buffer into another.
std::vector<DeviceCall> calls_of(const CollectivePattern& pattern,
                                 int rank,
                                 const DeviceMemory& from,
                                 const DeviceMemory& to) {
  const auto call = [&](ExchangeKind kind, int64_t first, int64_t elements, int peer) {
    const auto at = static_cast<DeviceAddress>(first * kElement);
    return DeviceCall{kind,
                      device_address(from.get()) + at,
                      device_address(to.get()) + at,
                      elements,
                      ElementType::kBfloat16,
                      peer};
  };
  const int size = pattern.group_size;
  std::vector<DeviceCall> calls;
  switch (pattern.operation) {
    case CollectiveOperation::kAllReduce:
      return {call(ExchangeKind::kAllReduce, 0, pattern.count, kNone)};
    case CollectiveOperation::kAllGather:
      return {call(ExchangeKind::kAllGather, 0, pattern.part(), kNone)};
    case CollectiveOperation::kReduceScatter:
      return {call(ExchangeKind::kReduceScatter, 0, pattern.part(), kNone)};
    case CollectiveOperation::kBroadcast:
      return {call(ExchangeKind::kBroadcast, 0, pattern.count, 0)};
    case CollectiveOperation::kShift:
      return {call(ExchangeKind::kSend, 0, pattern.count, (rank + 1) % size),
              call(ExchangeKind::kReceive, 0, pattern.count, (rank + size - 1) % size)};
    case CollectiveOperation::kAllToAll:
      for (int peer = 0; peer < size; ++peer) {
        calls.push_back(call(ExchangeKind::kSend, peer * pattern.part(), pattern.part(), peer));
        calls.push_back(call(ExchangeKind::kReceive, peer * pattern.part(), pattern.part(), peer));
      }
      return calls;
  }
  CHECK(false, "no such collective");
}

}  // namespace

ProbeMember::ProbeMember(const GpuProbe& probe, const Seat& seat)
    : probe_(probe),
      seat_(seat),
      pattern_{probe.operation, probe.group_size, probe.bytes / kElement},
      communicators_({.num_ranks = probe.group_size, .rank = seat.rank},
                     {.ctas = {probe.ctas, probe.ctas}, .ctas_on_stream = {}}) {
  CHECK(probe.bytes % (kElement * probe.group_size) == 0, "{}", to_string(probe));
  CHECK(!probe.packed || probe.bytes % static_cast<int64_t>(kRow) == 0, "{}", to_string(probe));
}

void ProbeMember::connect(const ncclUniqueId& id) {
  check_cuda(cudaSetDevice(seat_.device), "cudaSetDevice");
  device_.emplace();
  device_->begin = make_event(EventKind::kTimed);
  device_->end = make_event(EventKind::kTimed);
  std::vector<CommunicatorPart> splits;
  for (int number = 0; number < (probe_.kind == GpuProbeKind::kCollectivePair ? 2 : 1); ++number) {
    device_->parts.push_back(make_part(number));
    load(device_->parts.back());
    splits.push_back({.key = {0, number},
                      .name = fmt::format("part {} of the probe", number),
                      .seat = {.color = 0, .member = seat_.rank},
                      .ctas = {probe_.ctas, probe_.ctas}});
  }
  communicators_.connect(id, splits);
}

ProbeMember::Part ProbeMember::make_part(int number) const {
  Part part{.number = number,
            .stream = make_stream(StreamPriority::kHigh),
            .from = make_device_memory(probe_.bytes),
            .to = make_device_memory(probe_.bytes),
            .strided = make_device_memory(probe_.packed ? 2 * probe_.bytes : 0),
            .calls = {},
            .end = make_event(EventKind::kUntimed)};
  part.calls = calls_of(pattern_, seat_.rank, part.from, part.to);
  return part;
}

// CUDA loads a kernel at its first launch, for which it may wait until the device is empty: beside
// one of NCCL's that waits for another member, for ever.
void ProbeMember::load(const Part& part) const {
  check_cuda(launch_spin(1, part.stream.get()), "launch_spin");
  check_cuda(cudaStreamSynchronize(part.stream.get()), "cudaStreamSynchronize");
}

void ProbeMember::pack(const Part& part) const {
  check_cuda(cudaMemcpy2DAsync(part.from.get(),
                               kRow,
                               part.strided.get(),
                               2 * kRow,
                               kRow,
                               static_cast<size_t>(probe_.bytes) / kRow,
                               cudaMemcpyDeviceToDevice,
                               part.stream.get()),
             "cudaMemcpy2DAsync");
}

void ProbeMember::issue(const Part& part) {
  if (probe_.packed) {
    pack(part);
  }
  communicators_.enqueue({0, part.number}, to_string(probe_), [&](ncclComm_t communicator) {
    call_nccl(part.calls, communicator, part.stream.get());
  });
}

void ProbeMember::check() {
  for (const Part& part : device_->parts) {
    send_pattern(part);
  }
  for (const Part& part : device_->parts) {
    issue(part);
  }
  for (const Part& part : device_->parts) {
    require_received(part);
  }
}

// Where the collective, or its packing, reads it.
void ProbeMember::send_pattern(const Part& part) const {
  const std::vector<Bfloat16> sent = sent_by(pattern_, seat_.rank);
  for (void* const memory : {part.from.get(), part.to.get()}) {
    check_cuda(
        cudaMemsetAsync(memory, kUnwritten, static_cast<size_t>(probe_.bytes), part.stream.get()),
        "cudaMemsetAsync");
  }
  check_cuda(cudaStreamSynchronize(part.stream.get()), "cudaStreamSynchronize");
  if (probe_.packed) {
    copy_to_device(with_gaps(sent), part.strided);
  } else {
    copy_to_device(sent, part.from);
  }
}

void ProbeMember::require_received(const Part& part) const {
  std::vector<Bfloat16> received(static_cast<size_t>(pattern_.num_received()));
  check_cuda(cudaStreamSynchronize(part.stream.get()), "cudaStreamSynchronize");
  check_cuda(cudaMemcpy(received.data(), part.to.get(), size_of(received), cudaMemcpyDeviceToHost),
             "cudaMemcpy");
  const std::vector<Bfloat16> expected = received_by(pattern_, seat_.rank);
  const auto* const begin = reinterpret_cast<const std::byte*>(received.data());
  const auto* const end = begin + size_of(received);
  const auto [other, right] =
      std::mismatch(begin, end, reinterpret_cast<const std::byte*>(expected.data()));
  if (other != end) {
    throw Failure(fmt::format("{}: rank {} received {:#04x} in place of {:#04x} as byte {} of {}",
                              to_string(probe_),
                              seat_.rank,
                              std::to_integer<int>(*other),
                              std::to_integer<int>(*right),
                              other - begin,
                              end - begin));
  }
}

Time ProbeMember::run() {
  const cudaStream_t main = device_->parts.front().stream.get();
  check_cuda(launch_spin(kHoldNanoseconds, main), "launch_spin");
  check_cuda(cudaEventRecord(device_->begin.get(), main), "cudaEventRecord");
  for (const Part& part : device_->parts) {
    check_cuda(cudaStreamWaitEvent(part.stream.get(), device_->begin.get(), 0),
               "cudaStreamWaitEvent");
    issue(part);
    check_cuda(cudaEventRecord(part.end.get(), part.stream.get()), "cudaEventRecord");
  }
  for (const Part& part : device_->parts) {
    check_cuda(cudaStreamWaitEvent(main, part.end.get(), 0), "cudaStreamWaitEvent");
  }
  check_cuda(cudaEventRecord(device_->end.get(), main), "cudaEventRecord");
  check_cuda(cudaEventSynchronize(device_->end.get()), "cudaEventSynchronize");
  return elapsed(device_->begin, device_->end);
}

}  // namespace moesim
