// order: tokens to the slots of a capacity buffer; unorder: the slots' results, weighted, to the
// tokens. Sums over experts ascend.
#include <algorithm>

#include "kernels/device/lower_kinds.h"
#include "kernels/device/lower_slots.h"

namespace moesim {
namespace {

TokenIndex tokens_of(TaskLowering& task, const Operand& index, int64_t num_rows) {
  return {task.index(index), static_cast<int>(num_rows)};
}

struct SlotSum {
  Operand index;
  Operand buffer;
  Operand to;
};

// The sum of `by_slot` over the slots of each row, times their weights where there are some.
void lower_sum(TaskLowering& task,
               const std::vector<int>& experts,
               const SlotSum& sum,
               const DeviceRows& weight) {
  const int64_t num_rows = sum.to.num_rows();
  const SlotMapping map = lower_slot_mapping(task, sum.index, experts, num_rows);
  task.kernel(SumSlots{.slots = map.slots,
                       .experts = map.experts,
                       .buffer = task.rows(sum.buffer),
                       .weight = weight,
                       .rounding = task.rounding(),
                       .to = task.rows(sum.to),
                       .adds = sum.to.is_continued},
              num_rows,
              sum.index.num_rows());
}

}  // namespace

SlotMapping lower_slot_mapping(TaskLowering& task,
                               const Operand& index,
                               const std::vector<int>& experts,
                               int64_t num_rows) {
  const int num_experts =
      experts.empty() ? 0 : 1 + *std::max_element(experts.begin(), experts.end());
  const int64_t entries = num_rows * num_experts;
  auto* slots = task.scratch<int32_t>(entries);
  constexpr uint8_t kOnes = 0xFF;  // -1 in all bytes
  task.fill({reinterpret_cast<DeviceAddress>(slots),
             entries * static_cast<int64_t>(sizeof(int32_t)),
             kOnes});
  std::vector<int32_t> expert_of_slot;
  for (size_t block = 0; block < index.spans.size(); ++block) {
    const auto count = static_cast<size_t>(index.spans[block].valid);
    expert_of_slot.insert(expert_of_slot.end(), count, experts[block]);
  }
  const auto num_slots = static_cast<int>(expert_of_slot.size());
  task.kernel(MapSlots{.tokens = tokens_of(task, index, num_rows),
                       .num_slots = num_slots,
                       .expert_of_slot = task.space().numbers(expert_of_slot),
                       .experts = num_experts,
                       .slots = slots},
              (num_slots + MapSlots::kThreads - 1) / MapSlots::kThreads);
  return {slots, num_experts};
}

void lower_order(TaskLowering& task) {
  const TaskSite& site = task.site();
  const std::vector<int>& experts = std::get<Order>(site.task->descriptor).experts;
  if (site.task->pass == Pass::kBackward) {
    lower_sum(task,
              experts,
              {read_operand(site, 1, "index"),
               read_operand(site, 0, "d_buffer"),
               sum_operand(site, 0, "dx", 2)},
              {});
    return;
  }
  const Operand x = read_operand(site, 0, "x");
  const Operand index = read_operand(site, 1, "index");
  task.kernel(GatherRows{tokens_of(task, index, x.num_rows()),
                         task.rows(x),
                         task.rows(write_operand(site, 0, "buffer"))},
              index.num_rows());
}

void lower_unorder(TaskLowering& task) {
  const TaskSite& site = task.site();
  const std::vector<int>& experts = std::get<Unorder>(site.task->descriptor).experts;
  if (site.task->pass != Pass::kBackward) {
    lower_sum(task,
              experts,
              {read_operand(site, 1, "index"),
               read_operand(site, 0, "buffer"),
               write_operand(site, 0, "y")},
              task.rows(read_operand(site, 2, "weight")));
    return;
  }
  const Operand dy = read_operand(site, 0, "dy");
  const Operand index = read_operand(site, 2, "index");
  task.kernel(ScaleSlots{.tokens = tokens_of(task, index, dy.num_rows()),
                         .rounding = task.rounding(),
                         .dy = task.rows(dy),
                         .buffer = task.rows(read_operand(site, 1, "buffer")),
                         .weight = task.rows(read_operand(site, 3, "weight")),
                         .d_buffer = task.rows(write_operand(site, 0, "d_buffer")),
                         .d_weight = task.rows(write_operand(site, 1, "d_weight"))},
              index.num_rows());
}

}  // namespace moesim
