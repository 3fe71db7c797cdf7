#include "sim/schedule/model_program.h"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.h"
#include "sim/base/hash.h"
#include "sim/cluster/groups.h"
#include "sim/schedule/task_kinds.h"

namespace moesim {
namespace {

GroupIndices add_groups(ProgramBuilder& builder, const ParallelConfig& parallel) {
  using Name = std::pair<const char*, int GroupIndices::*>;
  constexpr std::array kNames{Name{"mp", &GroupIndices::mp},
                              Name{"dp", &GroupIndices::dp},
                              Name{"esp", &GroupIndices::esp},
                              Name{"ep", &GroupIndices::ep},
                              Name{"edp", &GroupIndices::edp},
                              Name{"ep_esp", &GroupIndices::ep_esp},
                              Name{"world", &GroupIndices::world},
                              Name{"stage", &GroupIndices::stage},
                              Name{"pp", &GroupIndices::pp},
                              Name{"pp_even", &GroupIndices::pp_even},
                              Name{"pp_odd", &GroupIndices::pp_odd}};
  GroupIndices indices;
  for (const Group& group : make_groups(parallel)) {
    const int index = builder.add_group(group);
    for (const auto& [name, member] : kNames) {
      if (group.name == name) {
        indices.*member = index;
      }
    }
  }
  if (parallel.pp == 1) {
    indices.stage = indices.world;
  }
  return indices;
}

void add_roles(ProgramBuilder& builder, const ParallelConfig& parallel) {
  for (int stage = 0; parallel.pp > 1 && stage < parallel.pp; ++stage) {
    Role role{.name = fmt::format("stage{}", stage), .ranks = {}};
    for (int place = 0; place < parallel.stage_ranks(); ++place) {
      role.ranks.push_back(stage * parallel.stage_ranks() + place);
    }
    builder.add_role(std::move(role));
  }
}

// Elements of optimizer state per weight: Adam keeps two moments, and next to weights of low
// precision an fp32 copy; plain SGD only that copy.
int state_copies(OptimizerAlgorithm algorithm, DataType dtype) {
  const int moments = algorithm == OptimizerAlgorithm::kAdam ? 2 : 0;
  return moments + (dtype == DataType::kFp32 ? 0 : 1);
}

const char* pass_name(Pass pass) {
  constexpr std::array kNames{"forward", "recompute", "backward", "update"};
  return kNames.at(static_cast<size_t>(pass));
}

}  // namespace

ModelProgram::ModelProgram(const RoutedScenario& scenario, const std::string& schedule)
    : scenario_(&scenario),
      model_(scenario.stage_model()),
      sizes_(layer_sizes(model_, scenario.parallel)),
      builder_(scenario.name + "/" + schedule, scenario.parallel.world()),
      groups_(add_groups(builder_, scenario.parallel)) {
  add_roles(builder_, scenario.parallel);
  dense_ = add_parameters("dense",
                          1,
                          model_.layers * sizes_.attention_weight_rows(),
                          model_.embedding,
                          over_stages(PlacementAxis::kRows, {{groups_.mp, PlacementAxis::kRows}}));
  gate_ = add_parameters("gate",
                         1,
                         model_.layers * model_.embedding,
                         model_.experts,
                         over_stages(PlacementAxis::kRows, {}));
  expert_ = add_parameters(
      "expert",
      model_.layers * sizes_.local_experts,
      sizes_.expert_weight_rows(),
      model_.embedding,
      over_stages(PlacementAxis::kBlocks,
                  {{groups_.ep, PlacementAxis::kBlocks}, {groups_.esp, PlacementAxis::kRows}}));
}

std::vector<Placement> ModelProgram::over_stages(PlacementAxis axis,
                                                 std::vector<Placement> inside) const {
  if (num_stages() > 1) {
    inside.insert(inside.begin(), {groups_.pp, axis});
  }
  return inside;
}

void ModelProgram::begin(const StagePart& part) {
  part_ = part;
  all_stages_ = false;
}

void ModelProgram::begin_all_stages() {
  part_ = {};
  all_stages_ = true;
}

bool ModelProgram::is_last_micro_batch() const {
  return part_.micro_batch + 1 == scenario_->pipeline.micro_batches;
}

std::string ModelProgram::micro_batch_prefix() const {
  const bool several = scenario_->pipeline.micro_batches > 1 && !all_stages_;
  return several ? fmt::format("micro{}.", part_.micro_batch) : "";
}

std::string ModelProgram::layer_prefix(int layer) const {
  return micro_batch_prefix() + fmt::format("layer{}.", global_layer(layer));
}

std::string ModelProgram::task_name(std::string_view kind, const Place& place) const {
  std::string name = place.layer == kNone ? micro_batch_prefix() : layer_prefix(place.layer);
  name += pass_name(place.pass);
  name += '.';
  name += kind;
  if (place.chunk != kNone) {
    name += '.';
    name += std::to_string(place.chunk);
  }
  return name;
}

Parameters ModelProgram::add_parameters(const std::string& name,
                                        int blocks,
                                        int rows,
                                        int columns,
                                        const std::vector<Placement>& placement) {
  const DataType dtype = model().dtype;
  Parameters parameters;
  parameters.weight = builder_.add_tensor(
      {name + "_weight", blocks, rows, columns, dtype, true, input_seed(name), placement});
  parameters.gradient = add_tensor(name + "_gradient", blocks, rows, columns, placement);
  if (model().optimizer) {
    const int copies = state_copies(*model().optimizer, dtype);
    if (copies > 0) {
      parameters.state = builder_.add_tensor(
          {name + "_state", blocks, rows, copies * columns, DataType::kFp32, true, 0, placement});
    }
  }
  return parameters;
}

int ModelProgram::group_size(int group) const {
  const Group& members = builder_.group(group);
  return static_cast<int>(members.members.front().size());
}

int ModelProgram::add_tensor(
    const std::string& name, int blocks, int rows, int columns, std::vector<Placement> placement) {
  return builder_.add_tensor(
      {name, blocks, rows, columns, model().dtype, false, 0, std::move(placement)});
}

int ModelProgram::add_index_tensor(const std::string& name, int blocks, int rows) {
  return builder_.add_tensor({name, blocks, rows, 1, DataType::kInt32, false, 0, {}});
}

// From the scenario's seed and the tensor's name alone: every schedule works on the same data.
int ModelProgram::input_seed(const std::string& name) const {
  const uint64_t mixed = Hash().add(name).add(scenario_->seed).value();
  return static_cast<int>(mixed % std::numeric_limits<int>::max());
}

int ModelProgram::add_tokens(const std::string& name) {
  return add_tensor(name,
                    model().batch,
                    model().sequence,
                    model().embedding,
                    {{groups_.dp, PlacementAxis::kBlocks}});
}

int ModelProgram::add_input_tokens(const std::string& name) {
  return builder_.add_tensor({name,
                              model().batch,
                              model().sequence,
                              model().embedding,
                              model().dtype,
                              true,
                              input_seed(name),
                              {{groups_.dp, PlacementAxis::kBlocks}}});
}

int ModelProgram::add_partial_tokens(const std::string& name) {
  return add_tensor(name,
                    model().batch,
                    model().sequence,
                    model().embedding,
                    {{groups_.dp, PlacementAxis::kBlocks}, {groups_.mp, PlacementAxis::kPartial}});
}

Region ModelProgram::dense_rows(int tensor, int layer) const {
  const int count = sizes_.attention_weight_rows();
  return rows(tensor, (model().layers - 1 - layer) * count, count);
}

Region ModelProgram::gate_rows(int tensor, int layer) const {
  return rows(tensor, (model().layers - 1 - layer) * model().embedding, model().embedding);
}

std::vector<Region> ModelProgram::expert_matrices(int tensor, int layer) const {
  std::vector<Region> matrices;
  for (int matrix = 0; matrix < sizes_.num_expert_gemms; ++matrix) {
    Region region = rows(tensor, matrix * sizes_.hidden_shard, sizes_.hidden_shard);
    region.first_block = (model().layers - 1 - layer) * sizes_.local_experts;
    region.num_blocks = sizes_.local_experts;
    matrices.push_back(region);
  }
  return matrices;
}

int ModelProgram::routing(int rows, int ranks_per_domain) {
  const auto [entry, is_new] = routings_.try_emplace({rows, ranks_per_domain}, kNone);
  const DomainRouting& drawn = scenario_->domain_routing({rows, ranks_per_domain});
  if (is_new && !drawn.tokens.empty()) {
    entry->second =
        builder_.add_routing({fmt::format("routing{}", routings_.size() - 1), drawn.tokens});
  }
  return entry->second;
}

int ModelProgram::buffer_rows(int rows, int ranks_per_domain) {
  const bool unequal = routing(rows, ranks_per_domain) != kNone && !model().capacity_factor;
  return unequal ? scenario_->domain_routing({rows, ranks_per_domain}).largest_count
                 : capacity_rows(model(), rows);
}

void ModelProgram::accumulate(Task& task, const Region& gradient) {
  const std::array key{part_.stage, gradient.tensor, gradient.first_block, gradient.first_row};
  if (!accumulated_.insert(key).second) {
    task.reads.push_back(gradient);
  }
  task.writes.push_back(gradient);
}

int ModelProgram::add_task(std::string_view kind, int stream, const Place& place, Task task) {
  if (task.name.empty()) {
    task.name = task_name(kind, place);
  }
  task.kind = kind;
  task.stream = stream;
  task.pass = place.pass;
  task.layer = place.layer == kNone ? kNone : global_layer(place.layer);
  task.chunk = place.chunk;
  if (!all_stages_ && scenario_->pipeline.micro_batches > 1) {
    task.micro_batch = part_.micro_batch;
  }
  if (!all_stages_ && num_stages() > 1 && task.roles.empty()) {
    task.roles = {part_.stage};
  }
  return builder_.add_task(std::move(task));
}

Program ModelProgram::build() && {
  Program program = std::move(builder_).build();
  program.rank_speed = scenario_->variation.rank_speed;
  program.jitter = scenario_->variation.jitter;
  return program;
}

int ModelProgram::add_loss(int stream, int output) {
  const int target = add_input_tokens(micro_batch_prefix() + "loss_gradient");
  const int gradient = add_partial_tokens(micro_batch_prefix() + "d_output");
  Task task;
  task.descriptor = Elementwise{ElementwiseOperation::kLoss};
  task.reads = {all(output), all(target)};
  task.writes = {all(gradient)};
  add_task(task_kind::kLoss, stream, {Pass::kForward, model().layers - 1}, std::move(task));
  return gradient;
}

}  // namespace moesim
