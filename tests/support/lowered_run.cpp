#include "tests/support/lowered_run.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "kernels/device/lower_moves.h"
#include "kernels/device/lower_task.h"
#include "sim/program/role_table.h"

namespace moesim::testing {
namespace {

constexpr size_t kGuardBytes = 256;
constexpr auto kGuard = std::byte{0xA5};

// Host memory for a device's buffers, each between guards.
class GuardedMemory {
 public:
  DeviceAddress take(int64_t bytes) {
    constexpr size_t kAlignment = kDeviceAlignment;
    auto& buffer = buffers_.emplace_back();
    buffer.bytes.assign(static_cast<size_t>(bytes) + 2 * kGuardBytes + kAlignment, kGuard);
    const auto start = reinterpret_cast<DeviceAddress>(buffer.bytes.data()) + kGuardBytes;
    const DeviceAddress first = (start + kAlignment - 1) / kAlignment * kAlignment;
    buffer.first = first - reinterpret_cast<DeviceAddress>(buffer.bytes.data());
    buffer.size = static_cast<size_t>(bytes);
    std::memset(buffer.bytes.data() + buffer.first, 0xFF, buffer.size);  // NaN: never written
    return first;
  }

  void check() const {
    for (const Buffer& buffer : buffers_) {
      const auto begin = buffer.bytes.begin();
      const auto first = begin + static_cast<std::ptrdiff_t>(buffer.first);
      const auto is_guard = [](std::byte byte) { return byte == kGuard; };
      if (!std::all_of(begin, first, is_guard) ||
          !std::all_of(
              first + static_cast<std::ptrdiff_t>(buffer.size), buffer.bytes.end(), is_guard)) {
        throw std::runtime_error("a step wrote outside of a buffer");
      }
    }
  }

 private:
  struct Buffer {
    std::vector<std::byte> bytes;
    size_t first = 0;
    size_t size = 0;
  };

  std::vector<Buffer> buffers_;
};

// Every task on all ranks that run it, as the sequential executor takes them.
class ProgramLowering {
 public:
  ProgramLowering(const RowMap& map, const LoweredOptions& options, LoweringSpace& space)
      : map_(map), options_(options), space_(space), roles_(map.program()) {}

  std::vector<DeviceStep> lower() {
    const std::vector<Task>& tasks = map_.program().tasks;
    for (size_t i = 0; i < tasks.size(); ++i) {
      const Task& task = tasks[i];
      if (options_.only_task != kNone && options_.only_task != static_cast<int>(i)) {
        continue;
      }
      if (const auto* collective = std::get_if<Collective>(&task.descriptor)) {
        lower(task, *collective);
        continue;
      }
      for (const int role : roles_.running(task)) {
        for (const int rank : roles_.ranks(role)) {
          append(lower_task({&map_, &task, rank, options_.rounding}, space_));
        }
      }
    }
    return std::move(steps_);
  }

 private:
  void append(std::vector<DeviceStep> steps) {
    steps_.insert(steps_.end(), steps.begin(), steps.end());
  }

  bool runs_on(const Task& task, int rank) const {
    const auto& running = roles_.running(task);
    return std::find(running.begin(), running.end(), roles_.role_of(rank)) != running.end();
  }

  void lower(const Task& task, const Collective& collective) {
    if (task.reads.empty() && task.writes.empty()) {
      return;
    }
    const Group& group = map_.program().groups[static_cast<size_t>(collective.group)];
    for (const std::vector<int>& members : group.members) {
      if (!runs_on(task, members.front())) {
        continue;
      }
      const MovePlan plan = plan_collective(map_, task, members);
      const MoveSite site{&plan, members, task.stream};
      const int parts = options_.members_apart ? static_cast<int>(members.size()) : 1;
      for (int step = 0; step < static_cast<int>(plan.steps.size()); ++step) {
        for (int part = parts - 1; part >= 0; --part) {
          const int member = options_.members_apart ? part : kNone;
          if (step == 0) {
            append(lower_clears(site, member, space_));
          }
          append(lower_moves(site, step, member, space_));
        }
      }
    }
  }

  const RowMap& map_;
  const LoweredOptions& options_;
  LoweringSpace& space_;
  RoleTable roles_;
  std::vector<DeviceStep> steps_;
};

int64_t num_elements(const Tensor& tensor) {
  return int64_t{tensor.blocks} * tensor.rows * tensor.columns;
}

// Moves a tensor between the store and the device's memory, where it may be of another type.
void upload(const TensorStore& tensors, int rank, int tensor, const Elements& to) {
  const Tensor& shape = tensors.program().tensors[static_cast<size_t>(tensor)];
  if (to.type != ElementType::kBfloat16) {
    const auto bytes = tensors.contents(rank, tensor);
    std::memcpy(reinterpret_cast<void*>(to.address), bytes.data(), bytes.size());
    return;
  }
  for (int64_t i = 0; i < num_elements(shape); ++i) {
    to.store(i, tensors.values(rank, tensor)[i]);
  }
}

void download(const Elements& from, int rank, int tensor, TensorStore& tensors) {
  const Tensor& shape = tensors.program().tensors[static_cast<size_t>(tensor)];
  if (from.type != ElementType::kBfloat16) {
    std::memcpy(tensors.bytes(rank, tensor),
                reinterpret_cast<const void*>(from.address),
                tensors.contents(rank, tensor).size());
    return;
  }
  for (int64_t i = 0; i < num_elements(shape); ++i) {
    tensors.values(rank, tensor)[i] = from.load(i);
  }
}

template <typename Body>
void for_each_buffer(const TensorStore& tensors, const Body& body) {
  const auto count = static_cast<int>(tensors.program().tensors.size());
  for (const int rank : tensors.ranks()) {
    for (int tensor = 0; tensor < count; ++tensor) {
      body(rank, tensor);
    }
  }
}

DeviceBases make_bases(const TensorStore& tensors,
                       const LoweringSpace& sizes,
                       GuardedMemory& memory) {
  const Program& program = tensors.program();
  DeviceBases bases;
  bases.tensors.resize(static_cast<size_t>(program.num_ranks));
  for_each_buffer(tensors, [&](int rank, int tensor) {
    const Tensor& shape = program.tensors[static_cast<size_t>(tensor)];
    bases.tensors[static_cast<size_t>(rank)].push_back(
        memory.take(device_bytes(shape, sizes.storage())));
  });
  for (const auto& [owner, bytes] : sizes.scratch_bytes()) {
    bases.scratch[owner] = memory.take(bytes);
  }
  bases.tables = memory.take(static_cast<int64_t>(sizes.tables().size()));
  return bases;
}

}  // namespace

LoweredRun run_lowered(const RowMap& map, const LoweredOptions& options, TensorStore& tensors) {
  const Program& program = map.program();
  LoweringSpace sizes(program, options.storage, options.attention);
  ProgramLowering(map, options, sizes).lower();

  GuardedMemory memory;
  LoweringSpace space(
      program, options.storage, make_bases(tensors, sizes, memory), options.attention);
  const std::vector<DeviceStep> steps = ProgramLowering(map, options, space).lower();
  if (space.scratch_bytes() != sizes.scratch_bytes() ||
      space.tables().size() != sizes.tables().size()) {
    throw std::runtime_error("lowered again, the Program takes other memory");
  }
  if (!space.tables().empty()) {
    std::memcpy(reinterpret_cast<void*>(space.tables_address()),
                space.tables().data(),
                space.tables().size());
  }
  for_each_buffer(tensors, [&](int rank, int tensor) {
    upload(tensors, rank, tensor, space.tensor(rank, tensor));
  });
  LoweredRun run;
  DeviceInterpreter interpreter(options.order);
  for (const DeviceStep& step : steps) {
    interpreter.run(step);
    ++run.steps[name_of(step.action)];
  }
  memory.check();
  for_each_buffer(tensors, [&](int rank, int tensor) {
    download(space.tensor(rank, tensor), rank, tensor, tensors);
  });
  return run;
}

}  // namespace moesim::testing
