#include <string>
#include <variant>
#include <vector>

#include "sim/base/check.h"
#include "sim/base/units.h"
#include "sim/io/internal/printer.h"
#include "sim/io/program.h"
#include "sim/proto/program.pb.h"

namespace moesim {
namespace {

// Enumerators of the schema have the numbers of the native ones (internal/schemas.cpp).
template <typename Proto, typename Native>
Proto to_proto(Native value) {
  return static_cast<Proto>(static_cast<int>(value));
}

template <typename Values, typename Field>
void copy(const Values& values, Field* field) {
  for (const auto& value : values) {
    field->Add(value);
  }
}

class ProgramWriter {
 public:
  explicit ProgramWriter(const Program& program) : program_(program) {}

  proto::Program write() {
    message_.set_name(program_.name);
    message_.set_num_ranks(program_.num_ranks);
    for (const Role& role : program_.roles) {
      proto::Role& message = *message_.add_roles();
      message.set_name(role.name);
      copy(role.ranks, message.mutable_ranks());
    }
    for (const Group& group : program_.groups) {
      proto::Group& message = *message_.add_groups();
      message.set_name(group.name);
      for (const std::vector<int>& ranks : group.members) {
        copy(ranks, message.add_members()->mutable_ranks());
      }
    }
    for (const Tensor& tensor : program_.tensors) {
      write_tensor(tensor, *message_.add_tensors());
    }
    for (const Routing& routing : program_.routings) {
      proto::Routing& message = *message_.add_routings();
      message.set_name(routing.name);
      for (const std::vector<int>& counts : routing.tokens) {
        copy(counts, message.add_tokens()->mutable_counts());
      }
    }
    copy(program_.rank_scale, message_.mutable_rank_scale());
    copy(program_.rank_speed, message_.mutable_rank_speed());
    if (program_.jitter) {
      write_jitter(*program_.jitter, *message_.mutable_jitter());
    }
    for (const Task& task : program_.tasks) {
      write_task(task, *message_.add_tasks());
    }
    return message_;
  }

 private:
  template <typename Thing>
  const std::string& name(const std::vector<Thing>& things, int index) const {
    CHECK(index >= 0 && index < static_cast<int>(things.size()), "no index {}", index);
    return things[static_cast<std::size_t>(index)].name;
  }
  const std::string& group(int index) const { return name(program_.groups, index); }

  static void write_jitter(const Jitter& jitter, proto::Jitter& message) {
    message.set_relative_deviation(jitter.relative_deviation);
    message.set_distribution(to_proto<proto::Jitter::Distribution>(jitter.distribution));
    message.set_seed(jitter.seed);
  }

  void write_tensor(const Tensor& tensor, proto::Tensor& message) const {
    message.set_name(tensor.name);
    message.set_blocks(tensor.blocks);
    message.set_rows(tensor.rows);
    message.set_columns(tensor.columns);
    message.set_dtype(to_proto<proto::DataType>(tensor.dtype));
    message.set_input(tensor.input);
    message.set_seed(tensor.seed);
    for (const Placement& placement : tensor.placement) {
      proto::Placement& part = *message.add_placement();
      part.set_group(group(placement.group));
      part.set_axis(to_proto<proto::Placement::Axis>(placement.axis));
    }
  }

  void write_region(const Region& region, proto::Region& message) const {
    message.set_tensor(name(program_.tensors, region.tensor));
    message.set_first_block(region.first_block);
    message.set_num_blocks(region.num_blocks);
    message.set_first_row(region.first_row);
    message.set_num_rows(region.num_rows);
    if (region.relative_to != kNone) {
      message.set_relative_to(group(region.relative_to));
    }
  }

  void write_task(const Task& task, proto::Task& message) const {
    message.set_name(task.name);
    for (const int role : task.roles) {
      message.add_roles(name(program_.roles, role));
    }
    if (task.stream != kNone) {
      message.set_stream(program_.streams[static_cast<std::size_t>(task.stream)]);
    }
    message.set_kind(task.kind);
    message.set_pass(to_proto<proto::Pass>(task.pass));
    if (task.layer != kNone) {
      message.set_layer(task.layer);
    }
    if (task.chunk != kNone) {
      message.set_chunk(task.chunk);
    }
    if (task.micro_batch != kNone) {
      message.set_micro_batch(task.micro_batch);
    }
    for (const Region& region : task.reads) {
      write_region(region, *message.add_reads());
    }
    for (const Region& region : task.writes) {
      write_region(region, *message.add_writes());
    }
    for (const int wait : task.waits) {
      message.add_waits(name(program_.tasks, wait));
    }
    for (const int wait : task.order_only) {
      message.add_order_only(name(program_.tasks, wait));
    }
    const auto write_it = [&](const auto& descriptor) { write_descriptor(descriptor, message); };
    std::visit(write_it, task.descriptor);
  }

  static void write_descriptor(const Fixed& fixed, proto::Task& task) {
    task.mutable_fixed()->set_time(format_time_exact(fixed.time));
  }

  void write_descriptor(const Collective& collective, proto::Task& task) const {
    proto::Collective& message = *task.mutable_collective();
    message.set_operation(to_proto<proto::Collective::Operation>(collective.operation));
    message.set_group(group(collective.group));
    message.set_bytes(format_bytes_exact(collective.bytes));
    if (collective.routing != kNone) {
      message.set_routing(name(program_.routings, collective.routing));
    }
    message.set_distance(collective.distance);
    message.set_wrap(collective.wrap);
    message.set_root(collective.root);
    if (collective.top_k > 0) {
      message.set_top_k(collective.top_k);
      message.set_num_experts(collective.num_experts);
      message.set_combine(collective.combine);
    }
  }

  void write_descriptor(const Gate& gate, proto::Task& task) const {
    proto::Gate& message = *task.mutable_gate();
    message.set_gate(to_proto<proto::GateKind>(gate.gate));
    message.set_top_k(gate.top_k);
    copy(gate.experts, message.mutable_experts());
    if (gate.routing != kNone) {
      message.set_routing(name(program_.routings, gate.routing));
    }
    message.set_no_drop(gate.no_drop);
    message.set_domains(gate.domains);
  }

  static void write_descriptor(const Order& order, proto::Task& task) {
    copy(order.experts, task.mutable_order()->mutable_experts());
  }

  static void write_descriptor(const Unorder& unorder, proto::Task& task) {
    copy(unorder.experts, task.mutable_unorder()->mutable_experts());
  }

  static void write_descriptor(const Expert& expert, proto::Task& task) {
    copy(expert.experts, task.mutable_expert()->mutable_experts());
    task.mutable_expert()->set_swiglu(expert.swiglu);
  }

  static void write_descriptor(const Attention& attention, proto::Task& task) {
    proto::Attention& message = *task.mutable_attention();
    message.set_heads(attention.heads);
    message.set_kv_heads(attention.kv_heads);
    message.set_head_size(attention.head_size);
    message.set_causal(attention.causal);
  }

  void write_descriptor(const Slice& slice, proto::Task& task) const {
    task.mutable_slice()->set_group(group(slice.group));
  }

  void write_descriptor(const Replicate& replicate, proto::Task& task) const {
    task.mutable_replicate()->set_group(group(replicate.group));
    task.mutable_replicate()->set_copies(replicate.copies);
  }

  void write_descriptor(const LocalSum& sum, proto::Task& task) const {
    task.mutable_local_sum()->set_group(group(sum.group));
    task.mutable_local_sum()->set_copies(sum.copies);
  }

  static void write_descriptor(const Elementwise& elementwise, proto::Task& task) {
    task.mutable_elementwise()->set_operation(
        to_proto<proto::Elementwise::Operation>(elementwise.operation));
  }

  static void write_descriptor(const Optimizer& optimizer, proto::Task& task) {
    task.mutable_optimizer()->set_algorithm(
        to_proto<proto::Optimizer::Algorithm>(optimizer.algorithm));
  }

  static void write_descriptor(const HostWait&, proto::Task& task) { task.mutable_host_wait(); }

  const Program& program_;
  proto::Program message_;
};

}  // namespace

std::string program_to_json(const Program& program) {
  return io::to_json(ProgramWriter(program).write());
}

std::string program_to_text(const Program& program) {
  return io::to_text(ProgramWriter(program).write());
}

}  // namespace moesim
