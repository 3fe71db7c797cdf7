#include "sim/program/row_flow.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "sim/program/gate_counts.h"
#include "sim/program/operands.h"
#include "sim/program/overlap.h"
#include "sim/program/row_source.h"

namespace moesim {
namespace {

// The numbers of a descriptor that decide where rows go.
struct DescriptorNumbers {
  std::vector<std::int64_t> operator()(const Collective& it) const {
    return {static_cast<int>(it.operation), it.group, it.distance, it.wrap ? 1 : 0, it.root};
  }
  std::vector<std::int64_t> operator()(const Slice& it) const { return {it.group}; }
  std::vector<std::int64_t> operator()(const Replicate& it) const { return {it.group, it.copies}; }
  std::vector<std::int64_t> operator()(const LocalSum& it) const { return {it.group, it.copies}; }
  template <typename Local>
  std::vector<std::int64_t> operator()(const Local&) const {
    return {};
  }
};

}  // namespace

RowFlow::RowFlow(const Program& program)
    : program_(program),
      roles_(program),
      pattern_of_(program.tensors.size(), kNone),
      gathered_over_(program.tensors.size(), kNone) {
  groups_.update(program);
}

bool RowFlow::is_source(const Task& task) {
  const auto* gate = std::get_if<Gate>(&task.descriptor);
  return gate != nullptr && gate->no_drop && gate->routing != kNone &&
         task.pass != Pass::kBackward && !task.reads.empty() && task.writes.size() >= 3;
}

std::vector<std::shared_ptr<const RowCounts>> RowFlow::run() && {
  for (const Task& task : program_.tasks) {
    apply(task);
  }
  std::vector<std::shared_ptr<const RowCounts>> tensors;
  for (const int pattern : pattern_of_) {
    tensors.push_back(pattern == kNone ? nullptr : patterns_[pattern]);
  }
  return tensors;
}

// Which operand's counts each written operand takes over, by kind (sim/io/program.h).
void RowFlow::apply(const Task& task) {
  if (task.reads.empty() || task.writes.empty()) {
    return;
  }
  const bool backward = task.pass == Pass::kBackward;
  if (is_source(task)) {
    apply_gate(task);
  } else if (std::holds_alternative<Order>(task.descriptor) && !backward) {
    need_regions(task, 2, 1);
    carry(task, task.reads[1], task.writes[0]);
  } else if (std::holds_alternative<Unorder>(task.descriptor) && backward) {
    need_regions(task, 3, 2);
    carry(task, task.reads[2], task.writes[0]);
    carry(task, task.reads[2], task.writes[1]);
  } else if (std::holds_alternative<Expert>(task.descriptor)) {
    need_regions(task, backward ? 2 : 1, 1);
    const std::size_t num_outputs = backward ? 1 : task.writes.size();  // then come weights
    for (std::size_t i = 0; i < num_outputs; ++i) {
      carry(task, task.reads[backward ? 1 : 0], task.writes[i]);
    }
  } else if (const auto* collective = std::get_if<Collective>(&task.descriptor)) {
    carry(task, task.reads[0], task.writes[0]);
    if (collective->operation == CollectiveOperation::kAllGather) {
      gathered_over_[task.writes[0].tensor] = collective->group;
    }
  } else if (std::holds_alternative<Slice>(task.descriptor) ||
             std::holds_alternative<Replicate>(task.descriptor) ||
             std::holds_alternative<LocalSum>(task.descriptor)) {
    for (std::size_t i = 0; i < std::min(task.reads.size(), task.writes.size()); ++i) {
      carry(task, task.reads[i], task.writes[i]);
    }
  } else if (std::holds_alternative<Elementwise>(task.descriptor)) {
    carry(task, task.reads[0], task.writes[0]);
  }
}

void RowFlow::apply_gate(const Task& task) {
  const auto& gate = std::get<Gate>(task.descriptor);
  const int index = task.writes[1].tensor;
  const int nominal_rows = program_.tensors[index].rows;
  const int gathered_over = gathered_over_[task.reads[0].tensor];
  Key key = {kNone, gate.routing, gate.domains, nominal_rows, gathered_over};
  key.insert(key.end(), gate.experts.begin(), gate.experts.end());
  const auto found = known_.find(key);
  const int pattern =
      found != known_.end()
          ? found->second
          : add(std::move(key), gate_counts(program_, groups_, gate, nominal_rows, gathered_over));
  pattern_of_[index] = pattern;
  pattern_of_[task.writes[2].tensor] = pattern;
}

void RowFlow::carry(const Task& task, const Region& from, const Region& to) {
  if (pattern_of_[from.tensor] == kNone && pattern_of_[to.tensor] == kNone) {
    return;
  }
  Key step = key(task, from, to);
  const auto found = known_.find(step);
  pattern_of_[to.tensor] =
      found != known_.end() ? found->second : add(std::move(step), carried(task, from, to));
}

RowCounts RowFlow::carried(const Task& task, const Region& from, const Region& to) const {
  const int nominal_rows = program_.tensors[to.tensor].rows;
  const RowCounts in = counts(from.tensor);
  RowCounts out = counts(to.tensor);
  const bool same_rows = program_.tensors[from.tensor].rows == nominal_rows;
  const std::vector<std::vector<int>> in_blocks = blocks(task, from, Use::kRead);
  const std::vector<std::vector<int>> out_blocks = blocks(task, to, Use::kWrite);
  for (int rank = 0; rank < program_.num_ranks; ++rank) {
    OutputBlock block{rank,
                      0,
                      static_cast<int>(in_blocks[rank].size()),
                      static_cast<int>(out_blocks[rank].size())};
    for (; block.position < block.num_out; ++block.position) {
      const auto source = row_source(program_, groups_, task.descriptor, block);
      const bool known = source && same_rows &&
                         source->position < static_cast<int>(in_blocks[source->rank].size());
      out.counts[rank][out_blocks[rank][block.position]] =
          known ? in.counts[source->rank][in_blocks[source->rank][source->position]] : nominal_rows;
    }
  }
  return out;
}

RowCounts RowFlow::counts(int tensor) const {
  if (pattern_of_[tensor] != kNone) {
    return *patterns_[pattern_of_[tensor]];
  }
  const Tensor& whole = program_.tensors[tensor];
  return {std::vector(program_.num_ranks, std::vector<int>(whole.blocks, whole.rows))};
}

// The region's blocks on each rank, in list order; none on ranks that do not touch it.
std::vector<std::vector<int>> RowFlow::blocks(const Task& task,
                                              const Region& region,
                                              Use use) const {
  std::vector<std::vector<int>> result(program_.num_ranks);
  const auto footprint = make_footprint(program_, groups_, task, region, use);
  std::vector<BlockRange> ranges;
  for (const int role : roles_.running(task)) {
    const RankView view{program_, groups_, roles_.ranks(role)};
    for (const int rank : view.ranks) {
      if (!footprint || !is_present(view, footprint->presence, rank)) {
        continue;
      }
      blocks_on(program_, groups_, *footprint, rank, ranges);
      for (const BlockRange& range : ranges) {
        for (int block = range.first; block < range.end; ++block) {
          result[rank].push_back(block);
        }
      }
    }
  }
  return result;
}

RowFlow::Key RowFlow::key(const Task& task, const Region& from, const Region& to) const {
  Key key = std::visit(DescriptorNumbers{}, task.descriptor);
  key.push_back(static_cast<std::int64_t>(task.descriptor.index()));
  for (const Region* region : {&from, &to}) {
    const Tensor& tensor = program_.tensors[region->tensor];
    key.insert(key.end(),
               {pattern_of_[region->tensor],
                tensor.blocks,
                tensor.rows,
                region->first_block,
                region->num_blocks,
                region->num_rows == 0 ? 0 : 1,
                region->relative_to});
  }
  key.insert(key.end(), task.roles.begin(), task.roles.end());
  return key;
}

int RowFlow::add(Key key, RowCounts counts) {
  const auto pattern = static_cast<int>(patterns_.size());
  patterns_.push_back(std::make_shared<const RowCounts>(std::move(counts)));
  known_.emplace(std::move(key), pattern);
  return pattern;
}

}  // namespace moesim
