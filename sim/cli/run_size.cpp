#include "sim/cli/run_size.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "kernels/tensor_store.h"
#include "sim/cluster/groups.h"
#include "sim/collective/cost_curve.h"
#include "sim/engine/task_cost.h"
#include "sim/program/role_table.h"
#include "sim/program/variation.h"
#include "sim/program/work.h"

namespace moesim {
namespace {

int ranks_here(const Program& program, const Pacing& pacing) {
  return pacing.num_ranks.value_or(program.num_ranks);
}

class RunEstimate {
 public:
  RunEstimate(const Program& program, const MachineSpeed& speed, const Pacing& pacing)
      : program_(program), speed_(speed), pacing_(pacing) {
    if (pacing.operation_profile != nullptr) {
      costs_.emplace(program, pacing.cluster, pacing.operation_profile);
    }
  }

  double seconds() {
    const RoleTable roles(program_);
    std::vector<double> paced(roles.size());
    double work = 0;
    for (const Task& task : program_.tasks) {
      const double alone = work_seconds(task);
      for (const int role : roles.running(task)) {
        const std::vector<int>& ranks = roles.ranks(role);
        work += alone * static_cast<double>(ranks.size());
        paced[role] += pacing_.is_raw ? alone : paced_seconds(task, ranks.front(), alone);
      }
    }
    const double here = static_cast<double>(ranks_here(program_, pacing_)) / program_.num_ranks;
    return std::max(here * work / speed_.num_cores, *std::max_element(paced.begin(), paced.end()));
  }

 private:
  double work_seconds(const Task& task) const {
    const Work work = work_of(program_, task);
    return work.flops / speed_.flops_per_second + work.memory_bytes / speed_.bytes_per_second;
  }

  double paced_seconds(const Task& task, int rank, double alone) {
    if (const auto* collective = std::get_if<Collective>(&task.descriptor)) {
      return collective_seconds(*collective);
    }
    if (const auto* fixed = std::get_if<Fixed>(&task.descriptor)) {
      const std::vector<double>& scale = program_.rank_scale;
      return fixed->time.seconds() * (scale.empty() ? 1 : scale[rank]);
    }
    return costs_ ? costs_->duration(task, rank).seconds()
                  : alone * std::max(1.0, pacing_.dilation) * slowdown(program_, task, rank);
  }

  double collective_seconds(const Collective& collective) const {
    const std::vector<int>& members = program_.groups[collective.group].members.front();
    if (pacing_.cluster == nullptr || members.size() < 2) {
      return 0;
    }
    const bool is_within = span_of(*pacing_.cluster, members) == Span::kNode;
    const PortRate& port = is_within ? pacing_.cluster->intra_node : pacing_.cluster->inter_node;
    return port.latency_seconds +
           wire_share(collective.operation, static_cast<int>(members.size())) *
               static_cast<double>(collective.bytes) / port.bytes_per_second;
  }

  const Program& program_;
  const MachineSpeed& speed_;
  const Pacing& pacing_;
  std::optional<TaskCosts> costs_;
};

}  // namespace

RunSize run_size(const Program& program, const MachineSpeed& speed, const Pacing& pacing) {
  return {.memory_bytes = TensorStore::size(program, ranks_here(program, pacing)),
          .seconds = RunEstimate(program, speed, pacing).seconds()};
}

}  // namespace moesim
