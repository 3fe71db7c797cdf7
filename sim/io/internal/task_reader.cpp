#include "sim/io/internal/task_reader.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "sim/io/internal/limits.h"

namespace moesim::io {
namespace {

const Tensor& tensor_of(const Program& program, const Region& region) {
  return program.tensors[static_cast<std::size_t>(region.tensor)];
}

// Bounds outside the tensor are for the verifier to report; an absent length then becomes zero.
Region read_region(const Fields& fields, const ProgramNames& names, const Program& program) {
  Region region;
  region.tensor = names.tensors.find(fields, "tensor");
  region.relative_to = names.groups.find_or_none(fields, "relative_to");
  const Tensor& tensor = tensor_of(program, region);
  const bool relative = region.relative_to != kNone;
  region.first_block = fields.integer_or("first_block", 0, {-kMaxInt, kMaxInt});
  if (region.first_block < 0 && !relative) {
    throw fields.error("first_block", "first_block is negative; count from 0 or add relative_to");
  }
  const int rest = relative ? tensor.blocks : tensor.blocks - region.first_block;
  region.num_blocks = fields.integer_or("num_blocks", std::max(0, rest), kAtLeastZero);
  region.first_row = fields.integer_or("first_row", 0, kAtLeastZero);
  region.num_rows =
      fields.integer_or("num_rows", std::max(0, tensor.rows - region.first_row), kAtLeastZero);
  if (region.num_list_rows() > kMaxBytes / tensor.row_bytes()) {
    throw fields.error("tensor", "more than 1 TB in one region; make it smaller");
  }
  return region;
}

std::vector<Region> read_regions(const Fields& task,
                                 const char* field,
                                 const ProgramNames& names,
                                 const Program& program) {
  std::vector<Region> regions;
  for (const Fields& fields : task.children(field)) {
    regions.push_back(read_region(fields, names, program));
  }
  return regions;
}

std::vector<int> read_roles(const Fields& fields, const ProgramNames& names) {
  std::vector<int> roles;
  for (int i = 0; i < fields.count("roles"); ++i) {
    const int role = names.roles.find(fields, "roles", i);
    if (std::find(roles.begin(), roles.end(), role) != roles.end()) {
      throw fields.error(
          "roles", i, fmt::format("role \"{}\" twice; remove one", names.roles.name(role)));
    }
    roles.push_back(role);
  }
  return roles;
}

bool share_a_rank(const Task& left, const Task& right) {
  return left.roles.empty() || right.roles.empty() ||
         std::find_first_of(
             left.roles.begin(), left.roles.end(), right.roles.begin(), right.roles.end()) !=
             left.roles.end();
}

// Indices of the tasks that `field` names, ascending. `program.tasks` holds the earlier tasks.
std::vector<int> read_waits(const Fields& fields,
                            const char* field,
                            const ProgramNames& names,
                            const Program& program,
                            const Task& task) {
  std::vector<int> waits;
  for (int i = 0; i < fields.count(field); ++i) {
    const int wait = names.tasks.find(fields, field, i);
    const std::string& name = names.tasks.name(wait);
    if (wait >= static_cast<int>(program.tasks.size())) {
      throw fields.error(field,
                         i,
                         fmt::format("\"{}\" cannot wait for \"{}\", which is not launched before "
                                     "it; put that task first",
                                     task.name,
                                     name));
    }
    if (!share_a_rank(task, program.tasks[static_cast<std::size_t>(wait)])) {
      throw fields.error(field,
                         i,
                         fmt::format("no rank runs both \"{}\" and \"{}\"; wait for a task of the "
                                     "same ranks",
                                     task.name,
                                     name));
    }
    if (std::find(waits.begin(), waits.end(), wait) != waits.end()) {
      throw fields.error(field, i, fmt::format("\"{}\" twice; remove one", name));
    }
    waits.push_back(wait);
  }
  std::sort(waits.begin(), waits.end());
  return waits;
}

class TaskReader {
 public:
  TaskReader(const ProgramNames& names, Program& program) : names_(names), program_(program) {}

  void read(const Fields& fields) {
    Task task;
    task.name = fields.text("name");
    task.roles = read_roles(fields, names_);
    task.pass = fields.choice_or("pass", Pass::kForward);
    task.layer = fields.integer_or("layer", kNone, {0, kMaxLayers - 1});
    task.chunk = fields.integer_or("chunk", kNone, kAtLeastZero);
    task.micro_batch = fields.integer_or("micro_batch", kNone, kAtLeastZero);
    task.reads = read_regions(fields, "reads", names_, program_);
    task.writes = read_regions(fields, "writes", names_, program_);
    task.waits = read_waits(fields, "waits", names_, program_, task);
    task.order_only = read_waits(fields, "order_only", names_, program_, task);
    task.descriptor = read_descriptor(fields, names_, program_, task);
    task.stream = read_stream(fields, task);
    task.kind = fields.text_or("kind", descriptor_name(task.descriptor));
    program_.tasks.push_back(std::move(task));
  }

 private:
  int read_stream(const Fields& fields, const Task& task) {
    if (std::holds_alternative<HostWait>(task.descriptor)) {
      if (fields.has("stream")) {
        throw fields.error("stream", "a host_wait runs on no stream; remove \"stream\"");
      }
      return kNone;
    }
    const auto next = static_cast<int>(program_.streams.size());
    const auto [found, is_new] = streams_.emplace(fields.text("stream"), next);
    if (is_new) {
      program_.streams.push_back(found->first);
    }
    return found->second;
  }

  const ProgramNames& names_;
  Program& program_;
  std::map<std::string, int> streams_;
};

}  // namespace

void read_tasks(const Fields& root, ProgramNames& names, Program& program) {
  const std::vector<Fields> tasks = root.children("tasks");
  for (const Fields& fields : tasks) {
    names.tasks.add(fields);
  }
  program.tasks.reserve(tasks.size());
  TaskReader reader(names, program);
  for (const Fields& fields : tasks) {
    reader.read(fields);
  }
}

}  // namespace moesim::io
