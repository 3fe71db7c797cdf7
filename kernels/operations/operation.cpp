#include "kernels/operation.h"

#include <variant>

#include "kernels/operations/make.h"

namespace moesim {
namespace {

struct Maker {
  const TaskSite& site;

  bool backward() const { return site.task->pass == Pass::kBackward; }

  std::unique_ptr<Operation> operator()(const Gate&) const {
    return backward() ? make_gate_backward(site) : make_gate_forward(site);
  }
  std::unique_ptr<Operation> operator()(const Order&) const { return make_order(site); }
  std::unique_ptr<Operation> operator()(const Unorder&) const { return make_unorder(site); }
  std::unique_ptr<Operation> operator()(const Expert&) const {
    return backward() ? make_expert_backward(site) : make_expert_forward(site);
  }
  std::unique_ptr<Operation> operator()(const Attention&) const {
    return backward() ? make_attention_backward(site) : make_attention_forward(site);
  }
  std::unique_ptr<Operation> operator()(const Slice&) const { return make_local_moves(site); }
  std::unique_ptr<Operation> operator()(const Replicate&) const { return make_local_moves(site); }
  std::unique_ptr<Operation> operator()(const LocalSum&) const { return make_local_moves(site); }
  std::unique_ptr<Operation> operator()(const Elementwise&) const { return make_elementwise(site); }
  std::unique_ptr<Operation> operator()(const Optimizer&) const { return make_optimizer(site); }
  template <typename Other>
  std::unique_ptr<Operation> operator()(const Other&) const {
    return nullptr;  // fixed, collective, host_wait
  }
};

}  // namespace

std::unique_ptr<Operation> make_operation(const RowMap& map,
                                          const Task& task,
                                          int rank,
                                          Rounding rounding) {
  if (task.reads.empty() && task.writes.empty()) {
    return nullptr;
  }
  const TaskSite site{&map, &task, rank, rounding};
  return std::visit(Maker{site}, task.descriptor);
}

}  // namespace moesim
