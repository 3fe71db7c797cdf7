#include "sim/program/row_source.h"

#include <variant>
#include <vector>

namespace moesim {
namespace {

constexpr int floor_mod(int value, int divisor) {
  return (value % divisor + divisor) % divisor;
}

class SourceOf {
 public:
  SourceOf(const Program& program, const GroupTable& groups, const OutputBlock& block)
      : program_(program), groups_(groups), block_(block) {}

  std::optional<RowSource> operator()(const Collective& collective) const {
    switch (collective.operation) {
      case CollectiveOperation::kAllReduce:
        return same_place();
      case CollectiveOperation::kAllGather:
        return gathered(collective.group);
      case CollectiveOperation::kReduceScatter:
        return own_run(collective.group);
      case CollectiveOperation::kAllToAll:
        return exchanged(collective.group);
      case CollectiveOperation::kShift: {
        const int sender = own_index(collective.group) - collective.distance;
        const std::vector<int>& ranks = members(collective.group);
        return RowSource{ranks[floor_mod(sender, size(collective.group))], block_.position};
      }
      case CollectiveOperation::kBroadcast:
        return RowSource{members(collective.group)[collective.root], block_.position};
    }
    return std::nullopt;
  }

  std::optional<RowSource> operator()(const Slice& slice) const { return own_run(slice.group); }

  // Run j of the input stands in runs j*copies .. (j+1)*copies of the output.
  std::optional<RowSource> operator()(const Replicate& replicate) const {
    const int run = block_.num_in / size(replicate.group);
    if (run == 0) {
      return std::nullopt;
    }
    const int input_run = block_.position / run / replicate.copies;
    return RowSource{block_.rank, input_run * run + block_.position % run};
  }

  // And back; the copies have equal counts, so the first stands for all.
  std::optional<RowSource> operator()(const LocalSum& sum) const {
    const int run = block_.num_out / size(sum.group);
    if (run == 0) {
      return std::nullopt;
    }
    const int input_run = block_.position / run * sum.copies;
    return RowSource{block_.rank, input_run * run + block_.position % run};
  }

  template <typename Local>
  std::optional<RowSource> operator()(const Local&) const {
    return same_place();
  }

 private:
  const std::vector<int>& members(int group) const {
    return program_.groups[group].members[groups_.instance(group, block_.rank)];
  }
  int size(int group) const { return static_cast<int>(members(group).size()); }
  int own_index(int group) const { return groups_.index(group, block_.rank); }

  std::optional<RowSource> same_place() const {
    if (block_.num_in != block_.num_out) {
      return std::nullopt;
    }
    return RowSource{block_.rank, block_.position};
  }

  std::optional<RowSource> gathered(int group) const {
    if (block_.num_out != size(group) * block_.num_in) {
      return std::nullopt;
    }
    return RowSource{members(group)[block_.position / block_.num_in],
                     block_.position % block_.num_in};
  }

  std::optional<RowSource> own_run(int group) const {
    if (block_.num_in != size(group) * block_.num_out) {
      return std::nullopt;
    }
    return RowSource{block_.rank, own_index(group) * block_.num_out + block_.position};
  }

  std::optional<RowSource> exchanged(int group) const {
    if (block_.num_in != block_.num_out || block_.num_in % size(group) != 0) {
      return std::nullopt;
    }
    const int run = block_.num_in / size(group);
    return RowSource{members(group)[block_.position / run],
                     own_index(group) * run + block_.position % run};
  }

  const Program& program_;
  const GroupTable& groups_;
  OutputBlock block_;
};

}  // namespace

std::optional<RowSource> row_source(const Program& program,
                                    const GroupTable& groups,
                                    const Descriptor& descriptor,
                                    const OutputBlock& block) {
  return std::visit(SourceOf(program, groups, block), descriptor);
}

}  // namespace moesim
