// order: tokens to the slots of a capacity buffer; unorder: the slots' results, weighted, to the
// tokens. Sums over experts ascend.
#include "kernels/core/token_rows.h"
#include "kernels/operations/make.h"
#include "kernels/operations/slot_map.h"

namespace moesim {
namespace {

void require_slots(const TaskSite& site,
                   const Operand& index,
                   const std::vector<int>& experts,
                   const std::vector<const Operand*>& buffers) {
  require(site, experts.size() == index.spans.size(), "it names no expert for each block");
  for (const Operand* buffer : buffers) {
    require(site, buffer->num_rows() == index.num_rows(), "index and buffer differ in slots");
  }
}

// Calls body(row, slot) for every slot of each row of tokens: experts ascend.
template <typename Body>
void for_each_slot(const SlotMap& map, size_t num_rows, const Body& body) {
  for (size_t row = 0; row < num_rows; ++row) {
    for (int expert = 0; expert < map.num_experts(); ++expert) {
      const int64_t slot = map.slot(static_cast<int64_t>(row), expert);
      if (slot != kNone) {
        body(row, static_cast<size_t>(slot));
      }
    }
  }
}

class OrderForward : public Operation {
 public:
  explicit OrderForward(const TaskSite& site)
      : experts_(std::get<Order>(site.task->descriptor).experts),
        x_(read_operand(site, 0, "x")),
        index_(read_operand(site, 1, "index")),
        buffer_(write_operand(site, 0, "buffer")) {
    require(site, buffer_.columns == x_.columns, "buffer and x differ in columns");
    require_slots(site, index_, experts_, {&buffer_});
  }

  void run(TensorStore& tensors) const override {
    const std::vector<int64_t> rows = x_.rows();
    const std::vector<int64_t> slots = buffer_.rows();
    const SlotMap map(index_, experts_, x_.num_rows(), tensors);
    for (size_t slot = 0; slot < slots.size(); ++slot) {
      const int64_t row = map.row(slot);
      const float* from = row == kNone ? nullptr : x_.row(tensors, rows[static_cast<size_t>(row)]);
      copy_row<kWideBlockThreads>(from, x_.columns, buffer_.row(tensors, slots[slot]));
    }
  }

 private:
  std::vector<int> experts_;
  Operand x_;
  Operand index_;
  Operand buffer_;
};

class OrderBackward : public Operation {
 public:
  explicit OrderBackward(const TaskSite& site)
      : experts_(std::get<Order>(site.task->descriptor).experts),
        d_buffer_(read_operand(site, 0, "d_buffer")),
        index_(read_operand(site, 1, "index")),
        dx_(sum_operand(site, 0, "dx", 2)) {
    require(site, d_buffer_.columns == dx_.columns, "d_buffer and dx differ in columns");
    require_slots(site, index_, experts_, {&d_buffer_});
  }

  void run(TensorStore& tensors) const override {
    begin_sum(dx_, tensors);
    const std::vector<int64_t> rows = dx_.rows();
    const std::vector<int64_t> slots = d_buffer_.rows();
    const SlotMap map(index_, experts_, dx_.num_rows(), tensors);
    for_each_slot(map, rows.size(), [&](size_t row, size_t slot) {
      add_row<kWideBlockThreads>(
          d_buffer_.row(tensors, slots[slot]), dx_.columns, dx_.row(tensors, rows[row]));
    });
  }

 private:
  std::vector<int> experts_;
  Operand d_buffer_;
  Operand index_;
  Operand dx_;
};

class UnorderForward : public Operation {
 public:
  explicit UnorderForward(const TaskSite& site)
      : experts_(std::get<Unorder>(site.task->descriptor).experts),
        rounding_(site.rounding),
        buffer_(read_operand(site, 0, "buffer")),
        index_(read_operand(site, 1, "index")),
        weight_(read_operand(site, 2, "weight")),
        y_(write_operand(site, 0, "y")) {
    require(site, buffer_.columns == y_.columns, "buffer and y differ in columns");
    require_slots(site, index_, experts_, {&buffer_, &weight_});
  }

  void run(TensorStore& tensors) const override {
    const std::vector<int64_t> rows = y_.rows();
    const std::vector<int64_t> slots = buffer_.rows();
    const std::vector<int64_t> weights = weight_.rows();
    const SlotMap map(index_, experts_, y_.num_rows(), tensors);
    begin_sum(y_, tensors);
    for_each_slot(map, rows.size(), [&](size_t row, size_t slot) {
      add_scaled_row<kWideBlockThreads>(*weight_.row(tensors, weights[slot]),
                                        buffer_.row(tensors, slots[slot]),
                                        y_.columns,
                                        rounding_,
                                        y_.row(tensors, rows[row]));
    });
  }

 private:
  std::vector<int> experts_;
  Rounding rounding_;
  Operand buffer_;
  Operand index_;
  Operand weight_;
  Operand y_;
};

class UnorderBackward : public Operation {
 public:
  explicit UnorderBackward(const TaskSite& site)
      : experts_(std::get<Unorder>(site.task->descriptor).experts),
        rounding_(site.rounding),
        dy_(read_operand(site, 0, "dy")),
        buffer_(read_operand(site, 1, "buffer")),
        index_(read_operand(site, 2, "index")),
        weight_(read_operand(site, 3, "weight")),
        d_buffer_(write_operand(site, 0, "d_buffer")),
        d_weight_(write_operand(site, 1, "d_weight")) {
    require(site,
            buffer_.columns == dy_.columns && d_buffer_.columns == dy_.columns,
            "buffers and dy differ in columns");
    require_slots(site, index_, experts_, {&buffer_, &weight_, &d_buffer_, &d_weight_});
  }

  void run(TensorStore& tensors) const override {
    const std::vector<int64_t> rows = dy_.rows();
    const std::vector<int64_t> slots = buffer_.rows();
    const std::vector<int64_t> weights = weight_.rows();
    const std::vector<int64_t> d_slots = d_buffer_.rows();
    const std::vector<int64_t> d_weights = d_weight_.rows();
    const SlotMap map(index_, experts_, dy_.num_rows(), tensors);
    BlockScratch<kWideBlockThreads> scratch;
    for (size_t slot = 0; slot < map.num_slots(); ++slot) {
      const int64_t row = map.row(slot);
      const float* dy = row == kNone ? nullptr : dy_.row(tensors, rows[static_cast<size_t>(row)]);
      scale_row<kWideBlockThreads>(*weight_.row(tensors, weights[slot]),
                                   dy,
                                   dy_.columns,
                                   rounding_,
                                   d_buffer_.row(tensors, d_slots[slot]));
      const float* result = buffer_.row(tensors, slots[slot]);
      *d_weight_.row(tensors, d_weights[slot]) =
          dy == nullptr ? 0.0F : dot_rows(scratch, result, dy, dy_.columns, rounding_);
    }
  }

 private:
  std::vector<int> experts_;
  Rounding rounding_;
  Operand dy_;
  Operand buffer_;
  Operand index_;
  Operand weight_;
  Operand d_buffer_;
  Operand d_weight_;
};

}  // namespace

std::unique_ptr<Operation> make_order(const TaskSite& site) {
  if (site.task->pass == Pass::kBackward) {
    return std::make_unique<OrderBackward>(site);
  }
  return std::make_unique<OrderForward>(site);
}

std::unique_ptr<Operation> make_unorder(const TaskSite& site) {
  if (site.task->pass == Pass::kBackward) {
    return std::make_unique<UnorderBackward>(site);
  }
  return std::make_unique<UnorderForward>(site);
}

}  // namespace moesim
