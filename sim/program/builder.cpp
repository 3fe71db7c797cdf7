#include "sim/program/builder.h"

#include <algorithm>
#include <utility>

#include "sim/base/check.h"
#include "sim/io/collective_bytes.h"
#include "sim/program/dependences.h"

namespace moesim {
namespace {

template <typename Item>
int append(std::vector<Item>& items, Item item) {
  items.push_back(std::move(item));
  return static_cast<int>(items.size()) - 1;
}

void check_bounds(const Program& program,
                  const GroupTable& groups,
                  const Task& task,
                  const std::vector<Region>& regions,
                  Use use) {
  for (const Region& region : regions) {
    const std::optional<std::string> fault = bounds_fault(program, groups, task, region, use);
    CHECK(!fault,
          "task '{}' uses tensor '{}' out of bounds: {}",
          task.name,
          program.tensors[region.tensor].name,
          *fault);
  }
}

void check_earlier(const Program& program, const Task& task, const std::vector<int>& waits) {
  const auto num_tasks = static_cast<int>(program.tasks.size());
  for (const int wait : waits) {
    CHECK(0 <= wait && wait < num_tasks, "task '{}' waits for task {}", task.name, wait);
  }
}

void check_task(const Program& program, const GroupTable& groups, const Task& task) {
  const auto num_streams = static_cast<int>(program.streams.size());
  const bool has_stream = 0 <= task.stream && task.stream < num_streams;
  const bool is_host_wait = std::holds_alternative<HostWait>(task.descriptor);
  CHECK(is_host_wait ? task.stream == kNone : has_stream,
        "task '{}' is on stream {}",
        task.name,
        task.stream);
  check_bounds(program, groups, task, task.reads, Use::kRead);
  check_bounds(program, groups, task, task.writes, Use::kWrite);
  check_earlier(program, task, task.waits);
  check_earlier(program, task, task.order_only);
}

void sort_unique(std::vector<int>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

void number_streams_by_first_task(Program& program) {
  std::vector<int> number(program.streams.size(), kNone);
  std::vector<std::string> streams;
  for (Task& task : program.tasks) {
    if (task.stream == kNone) {
      continue;
    }
    int& stream = number[task.stream];
    if (stream == kNone) {
      stream = append(streams, program.streams[task.stream]);
    }
    task.stream = stream;
  }
  program.streams = std::move(streams);
}

}  // namespace

ProgramBuilder::ProgramBuilder(std::string name, int num_ranks) {
  CHECK(num_ranks > 0, "a Program of {} ranks", num_ranks);
  program_.name = std::move(name);
  program_.num_ranks = num_ranks;
}

ProgramBuilder::~ProgramBuilder() = default;
ProgramBuilder::ProgramBuilder(ProgramBuilder&&) noexcept = default;
ProgramBuilder& ProgramBuilder::operator=(ProgramBuilder&&) noexcept = default;

int ProgramBuilder::add_group(Group group) {
  return append(program_.groups, std::move(group));
}

int ProgramBuilder::add_role(Role role) {
  CHECK(dependences_ == nullptr, "roles come before tasks");
  return append(program_.roles, std::move(role));
}

int ProgramBuilder::add_tensor(Tensor tensor) {
  CHECK(tensor.blocks >= 0 && tensor.rows >= 0 && tensor.columns >= 0,
        "tensor '{}' has a negative size",
        tensor.name);
  return append(program_.tensors, std::move(tensor));
}

int ProgramBuilder::add_routing(Routing routing) {
  return append(program_.routings, std::move(routing));
}

int ProgramBuilder::stream(std::string_view name) {
  const auto found = std::find(program_.streams.begin(), program_.streams.end(), name);
  return found == program_.streams.end() ? append(program_.streams, std::string(name))
                                         : static_cast<int>(found - program_.streams.begin());
}

int ProgramBuilder::add_task(Task task) {
  if (dependences_ == nullptr) {
    dependences_ = std::make_unique<Dependences>(program_);
  }
  dependences_->update_groups(program_);
  check_task(program_, dependences_->groups(), task);
  if (auto* collective = std::get_if<Collective>(&task.descriptor)) {
    collective->bytes = collective_bytes(program_, task);
  }
  if (task.kind.empty()) {
    task.kind = descriptor_name(task.descriptor);
  }
  sort_unique(task.order_only);
  const std::vector<int> requested = std::exchange(task.waits, {});
  for (const MissingWait& wait : dependences_->add(program_, task, {}, requested)) {
    task.waits.push_back(wait.earlier);
  }
  sort_unique(task.waits);
  return append(program_.tasks, std::move(task));
}

const Group& ProgramBuilder::group(int index) const {
  return program_.groups.at(index);
}

const Tensor& ProgramBuilder::tensor(int index) const {
  return program_.tensors.at(index);
}

const Program& ProgramBuilder::program() const {
  return program_;
}

Region ProgramBuilder::all(int tensor) const {
  const Tensor& whole = program_.tensors.at(tensor);
  return {tensor, 0, whole.blocks, 0, whole.rows, kNone};
}

Region ProgramBuilder::rows(int tensor, int first_row, int num_rows) const {
  const Tensor& whole = program_.tensors.at(tensor);
  return {tensor, 0, whole.blocks, first_row, num_rows, kNone};
}

Program ProgramBuilder::build() && {
  number_streams_by_first_task(program_);
  return std::move(program_);
}

}  // namespace moesim
