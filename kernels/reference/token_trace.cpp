#include "kernels/reference/token_trace.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "kernels/global_tensor.h"
#include "kernels/moves.h"
#include "kernels/operations/gate_domains.h"
#include "sim/program/gate_counts.h"
#include "sim/program/role_table.h"

namespace moesim {
namespace {

class Tracer {
 public:
  explicit Tracer(const RowMap& map)
      : map_(map),
        roles_(map.program()),
        tokens_(static_cast<size_t>(program().num_ranks),
                std::vector<std::vector<int64_t>>(program().tensors.size())) {}

  std::vector<GateInput> run() && {
    for (size_t task = 0; task < program().tasks.size(); ++task) {
      const Task& at = program().tasks[task];
      if (at.pass != Pass::kForward || at.reads.empty()) {
        continue;
      }
      if (std::holds_alternative<Attention>(at.descriptor) && at.writes.size() > 2) {
        mark(at);
      } else if (const auto* collective = std::get_if<Collective>(&at.descriptor)) {
        for (const std::vector<int>& members :
             program().groups[static_cast<size_t>(collective->group)].members) {
          apply(plan_collective(map_, at, members), members);
        }
      } else if (std::holds_alternative<Slice>(at.descriptor)) {
        for (const int rank : ranks_running(at)) {
          apply(plan_local(map_, at, rank), {rank});
        }
      } else if (std::holds_alternative<Gate>(at.descriptor)) {
        record(at, static_cast<int>(task));
      }
    }
    return std::move(inputs_);
  }

 private:
  const Program& program() const { return map_.program(); }

  // Ascending.
  std::vector<int> ranks_running(const Task& task) const {
    std::vector<int> ranks;
    for (const int role : roles_.running(task)) {
      ranks.insert(ranks.end(), roles_.ranks(role).begin(), roles_.ranks(role).end());
    }
    std::sort(ranks.begin(), ranks.end());
    return ranks;
  }

  std::vector<int64_t>& rows(int rank, int tensor) {
    std::vector<int64_t>& rows = tokens_[static_cast<size_t>(rank)][static_cast<size_t>(tensor)];
    const Tensor& shape = program().tensors[static_cast<size_t>(tensor)];
    rows.resize(static_cast<size_t>(shape.blocks) * static_cast<size_t>(shape.rows), kNone);
    return rows;
  }

  // Attention's result (samples, positions): its placement says whose samples a rank has.
  void mark(const Task& task) {
    const Region& y = task.writes[2];
    const Tensor& tensor = program().tensors[static_cast<size_t>(y.tensor)];
    const GlobalShape shape = global_shape(program(), y.tensor);
    const int64_t before = std::max(task.micro_batch, 0) * shape.blocks * shape.rows;
    for (const int rank : ranks_running(task)) {
      const BufferPlace place = place_of(program(), map_.groups(), y.tensor, rank);
      std::vector<int64_t>& tokens = rows(rank, y.tensor);
      for (const RowSpan& span : map_.spans(task, y, Use::kWrite, rank)) {
        for (int64_t row = span.first; row < span.first + span.valid; ++row) {
          tokens[static_cast<size_t>(row)] = before + global_row(shape, place, tensor.rows, row);
        }
      }
    }
  }

  void apply(const MovePlan& plan, const std::vector<int>& members) {
    std::vector<std::vector<int64_t>> scratch(
        members.size(), std::vector<int64_t>(static_cast<size_t>(plan.scratch_rows), kNone));
    const auto at = [&](const RowAddress& address) -> int64_t* {
      const auto member = static_cast<size_t>(address.member);
      std::vector<int64_t>& tokens =
          address.tensor == kNone ? scratch[member] : rows(members[member], address.tensor);
      return tokens.data() + address.row;
    };
    for (const Clear& clear : plan.clears) {
      std::fill_n(at(clear.rows), clear.count, kNone);
    }
    for (const std::vector<Move>& step : plan.steps) {
      for (const Move& move : step) {
        const int64_t* from = at(move.from);
        int64_t* to = at(move.to);
        for (int64_t i = 0; i < move.rows; ++i) {
          to[i] = move.add && to[i] != from[i] ? int64_t{kNone} : from[i];
        }
      }
    }
  }

  void record(const Task& task, int index) {
    for (const int rank : ranks_running(task)) {
      GateInput& input = inputs_.emplace_back(GateInput{index, rank, {}});
      const std::vector<int64_t>& tokens = rows(rank, task.reads[0].tensor);
      for (const RowSpan& span : map_.spans(task, task.reads[0], Use::kRead, rank)) {
        input.tokens.insert(input.tokens.end(),
                            tokens.begin() + span.first,
                            tokens.begin() + span.first + span.valid);
      }
    }
  }

  const RowMap& map_;
  RoleTable roles_;
  std::vector<std::vector<std::vector<int64_t>>> tokens_;  // [rank][tensor][row]
  std::vector<GateInput> inputs_;
};

// Slots of each expert in one of the gate's domains.
std::vector<int64_t> capacity_of(const Program& program, const Task& task) {
  const auto& gate = std::get<Gate>(task.descriptor);
  const int experts = program.tensors[static_cast<size_t>(task.writes[0].tensor)].columns;
  if (gate.no_drop && gate.gate != GateKind::kExpertChoice) {
    return std::vector<int64_t>(static_cast<size_t>(experts), std::numeric_limits<int64_t>::max());
  }
  std::vector<int64_t> slots(static_cast<size_t>(experts), 0);
  for (const int expert : gate.experts) {
    slots[static_cast<size_t>(expert)] += task.writes[1].num_rows;
  }
  for (int64_t& count : slots) {
    count /= gate.domains;
  }
  return slots;
}

}  // namespace

std::vector<GateInput> trace_gate_inputs(const RowMap& map) {
  return Tracer(map).run();
}

std::vector<CapacityDomain> capacity_domains(const RowMap& map) {
  const Program& program = map.program();
  std::vector<CapacityDomain> domains;
  std::set<std::pair<int, std::vector<int64_t>>> seen;
  for (const GateInput& input : trace_gate_inputs(map)) {
    const Task& task = program.tasks[static_cast<size_t>(input.task)];
    const auto& gate = std::get<Gate>(task.descriptor);
    const std::vector<int> sources = source_ranks(program,
                                                  map.groups(),
                                                  gate.domains,
                                                  gathered_over(program, task.reads[0].tensor),
                                                  input.rank);
    const auto size = static_cast<std::ptrdiff_t>(input.tokens.size()) / gate.domains;
    for (int d = 0; d < gate.domains; ++d) {
      const auto first = input.tokens.begin() + d * size;
      CapacityDomain domain;
      domain.layer = task.layer;
      domain.tokens.assign(first, first + size);
      domain.capacity = capacity_of(program, task);
      domain.round_robin =
          gate.no_drop && gate.routing == kNone && gate.gate != GateKind::kExpertChoice;
      if (gate.routing != kNone) {
        const auto& routing = program.routings[static_cast<size_t>(gate.routing)];
        const int source = sources.size() == 1 ? sources[0] : sources[static_cast<size_t>(d)];
        domain.routed = routing.tokens.at(static_cast<size_t>(source));
      }
      if (seen.emplace(task.layer, domain.tokens).second) {
        domains.push_back(std::move(domain));
      }
    }
  }
  return domains;
}

}  // namespace moesim
