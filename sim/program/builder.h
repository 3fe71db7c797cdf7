#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/io/program.h"

namespace moesim {

class Dependences;

// Builds a Program in launch order. Schedules state only order, streams and regions; the builder
// derives each task's minimal waits from them (every conflicting earlier access that streams,
// waits and host waits do not already order; `order_only` protects nothing), and the bytes of
// collectives from their regions. Roles come first; groups, tensors and streams before their use.
class ProgramBuilder {
 public:
  ProgramBuilder(std::string name, int num_ranks);
  ~ProgramBuilder();
  ProgramBuilder(const ProgramBuilder&) = delete;
  ProgramBuilder& operator=(const ProgramBuilder&) = delete;
  ProgramBuilder(ProgramBuilder&&) noexcept;
  ProgramBuilder& operator=(ProgramBuilder&&) noexcept;

  int add_group(Group group);
  int add_role(Role role);
  int add_tensor(Tensor tensor);
  int add_routing(Routing routing);

  // The stream of that name, created on first use.
  int stream(std::string_view name);

  // Appends a task; its `waits` are derived, its `order_only` kept. Returns its index. Waits that
  // the task comes with (what no region shows) are kept unless they are implied. An empty `kind`
  // becomes the descriptor's name.
  int add_task(Task task);

  const Group& group(int index) const;
  const Tensor& tensor(int index) const;
  const Program& program() const;  // as built so far

  // The whole tensor as a region; rows [first_row, first_row + num_rows) of every block.
  Region all(int tensor) const;
  Region rows(int tensor, int first_row, int num_rows) const;

  // The Program; its streams are numbered anew, in order of their first task.
  Program build() &&;

 private:
  Program program_;
  std::unique_ptr<Dependences> dependences_;  // null before the first task
};

}  // namespace moesim
