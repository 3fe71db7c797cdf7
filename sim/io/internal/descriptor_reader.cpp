#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/core.h>

#include "sim/base/check.h"
#include "sim/base/message.h"
#include "sim/io/collective_bytes.h"
#include "sim/io/internal/limits.h"
#include "sim/io/internal/task_reader.h"

namespace moesim::io {
namespace {

// What a reader needs besides the descriptor's own fields.
struct Context {
  const ProgramNames& names;
  const Program& program;
  const Task& task;
};

Descriptor read_fixed(const Fields& fields, const Context&) {
  return Fixed{fields.quantity("time", parse_time)};
}

// Throws where a field is set that only `needed` uses.
void check_only_for(const Fields& fields,
                    const char* name,
                    const Collective& collective,
                    CollectiveOperation needed) {
  if (collective.operation != needed) {
    throw fields.error(name,
                       fmt::format("{} has no \"{}\", only {} has; remove it",
                                   to_string(collective.operation),
                                   name,
                                   to_string(needed)));
  }
}

int smallest_size(const Group& group) {
  const auto shorter = [](const auto& left, const auto& right) {
    return left.size() < right.size();
  };
  const auto found = std::min_element(group.members.begin(), group.members.end(), shorter);
  return static_cast<int>(found->size());
}

// Given, or as the regions say; a given value that contradicts them is for the verifier.
std::int64_t read_bytes(const Fields& fields,
                        const Collective& collective,
                        const Context& context) {
  Task task = context.task;
  if (!fields.has("bytes") && task.reads.empty() && task.writes.empty()) {
    throw fields.error("bytes",
                       "no \"bytes\" and no regions that they follow from; add bytes, such as "
                       "\"64 MiB\"");
  }
  task.descriptor = collective;
  const std::int64_t bytes = fields.has("bytes") ? fields.quantity("bytes", parse_bytes)
                                                 : collective_bytes(context.program, task);
  if (bytes > kMaxBytes) {
    throw fields.error("bytes", "more than 1 TB in one collective; make it smaller");
  }
  return bytes;
}

// Members hold equal runs of the experts.
void check_runs(const Fields& fields, int num_experts, const Group& group) {
  for (const std::vector<int>& ranks : group.members) {
    if (num_experts % static_cast<int>(ranks.size()) != 0) {
      throw fields.error("num_experts",
                         fmt::format("{} experts do not lie in equal runs on the {} members of "
                                     "group \"{}\"; give a multiple of {}",
                                     num_experts,
                                     ranks.size(),
                                     visible_in_line(group.name),
                                     ranks.size()));
    }
  }
}

// Of a dispatch or combine: both numbers or none.
void read_choices(const Fields& fields, const Group& group, Collective& collective) {
  bool any = false;
  for (const char* field : {"top_k", "num_experts", "combine"}) {
    if (fields.has(field)) {
      check_only_for(fields, field, collective, CollectiveOperation::kAllToAll);
      any = true;
    }
  }
  if (!any) {
    return;
  }
  collective.combine = fields.flag("combine");
  collective.num_experts = fields.integer("num_experts", {1, kMaxRanks});
  collective.top_k = fields.integer("top_k", {1, collective.num_experts});
  check_runs(fields, collective.num_experts, group);
}

Descriptor read_collective(const Fields& fields, const Context& context) {
  Collective collective;
  collective.operation = fields.choice<CollectiveOperation>("operation");
  collective.group = context.names.groups.find(fields, "group");
  collective.routing = context.names.routings.find_or_none(fields, "routing");
  if (collective.routing != kNone) {
    check_only_for(fields, "routing", collective, CollectiveOperation::kAllToAll);
  }
  const bool shift = collective.operation == CollectiveOperation::kShift;
  const IntegerRange distances = {-kMaxRanks, kMaxRanks};
  collective.distance =
      shift ? fields.integer("distance", distances) : fields.integer_or("distance", 0, distances);
  if (collective.distance != 0) {
    check_only_for(fields, "distance", collective, CollectiveOperation::kShift);
  }
  collective.wrap = fields.flag("wrap");
  if (collective.wrap) {
    check_only_for(fields, "wrap", collective, CollectiveOperation::kShift);
  }
  const Group& group = context.program.groups[static_cast<std::size_t>(collective.group)];
  collective.root = fields.integer_or("root", 0, {0, smallest_size(group) - 1});
  if (collective.root != 0) {
    check_only_for(fields, "root", collective, CollectiveOperation::kBroadcast);
  }
  read_choices(fields, group, collective);
  collective.bytes = read_bytes(fields, collective, context);
  return collective;
}

std::vector<int> read_experts(const Fields& fields) {
  std::vector<int> experts = fields.integers("experts", {0, kMaxRanks});
  if (experts.empty()) {
    throw fields.error("experts", "no \"experts\"; list the expert of each block");
  }
  return experts;
}

Descriptor read_gate(const Fields& fields, const Context& context) {
  return Gate{.gate = fields.choice_or("gate", GateKind::kGshard),
              .top_k = fields.integer("top_k", kAtLeastOne),
              .experts = read_experts(fields),
              .routing = context.names.routings.find_or_none(fields, "routing"),
              .no_drop = fields.flag("no_drop"),
              .domains = fields.integer_or("domains", 1, kAtLeastOne)};
}

Descriptor read_order(const Fields& fields, const Context&) {
  return Order{read_experts(fields)};
}

Descriptor read_unorder(const Fields& fields, const Context&) {
  return Unorder{read_experts(fields)};
}

Descriptor read_expert(const Fields& fields, const Context&) {
  return Expert{.experts = read_experts(fields), .swiglu = fields.flag("swiglu")};
}

Descriptor read_attention(const Fields& fields, const Context&) {
  Attention attention;
  attention.heads = fields.integer("heads", kAtLeastOne);
  attention.kv_heads = fields.integer_or("kv_heads", attention.heads, kAtLeastOne);
  attention.head_size = fields.integer("head_size", kAtLeastOne);
  attention.causal = fields.flag("causal");
  if (attention.heads % attention.kv_heads != 0) {
    throw fields.error("kv_heads",
                       fmt::format("{} heads do not share {} kv_heads evenly; choose a divisor",
                                   attention.heads,
                                   attention.kv_heads));
  }
  return attention;
}

Descriptor read_slice(const Fields& fields, const Context& context) {
  return Slice{context.names.groups.find(fields, "group")};
}

Descriptor read_replicate(const Fields& fields, const Context& context) {
  return Replicate{.group = context.names.groups.find(fields, "group"),
                   .copies = fields.integer("copies", kRankCount)};
}

Descriptor read_local_sum(const Fields& fields, const Context& context) {
  return LocalSum{.group = context.names.groups.find(fields, "group"),
                  .copies = fields.integer("copies", kRankCount)};
}

Descriptor read_elementwise(const Fields& fields, const Context&) {
  return Elementwise{fields.choice<ElementwiseOperation>("operation")};
}

Descriptor read_optimizer(const Fields& fields, const Context&) {
  return Optimizer{fields.choice<OptimizerAlgorithm>("algorithm")};
}

Descriptor read_host_wait(const Fields&, const Context&) {
  return HostWait{};
}

struct Reader {
  std::string_view name;
  Descriptor (*read)(const Fields&, const Context&);
};

constexpr auto kReaders = std::to_array<Reader>({{"fixed", read_fixed},
                                                 {"collective", read_collective},
                                                 {"gate", read_gate},
                                                 {"order", read_order},
                                                 {"unorder", read_unorder},
                                                 {"expert", read_expert},
                                                 {"attention", read_attention},
                                                 {"slice", read_slice},
                                                 {"replicate", read_replicate},
                                                 {"local_sum", read_local_sum},
                                                 {"elementwise", read_elementwise},
                                                 {"optimizer", read_optimizer},
                                                 {"host_wait", read_host_wait}});

}  // namespace

Descriptor read_descriptor(const Fields& fields,
                           const ProgramNames& names,
                           const Program& program,
                           const Task& task) {
  const std::string name = fields.member_of("descriptor");
  if (name.empty()) {
    throw fields.error(
        fmt::format("task \"{}\" does not say what to do; add one of fixed, "
                    "collective, gate, order, unorder, expert, attention, slice, "
                    "replicate, local_sum, elementwise, optimizer, host_wait",
                    task.name));
  }
  const auto has_name = [&name](const Reader& reader) { return reader.name == name; };
  const auto* reader = std::find_if(kReaders.begin(), kReaders.end(), has_name);
  CHECK(reader != kReaders.end(), "nothing reads {}", name);
  return reader->read(fields.child(name.c_str()), {names, program, task});
}

}  // namespace moesim::io
