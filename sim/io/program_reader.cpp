#include <algorithm>

#include <fmt/core.h>

#include "sim/io/files.h"
#include "sim/io/internal/limits.h"
#include "sim/io/internal/name_table.h"
#include "sim/io/internal/task_reader.h"
#include "sim/io/internal/token_table.h"
#include "sim/io/internal/variation_reader.h"
#include "sim/io/program.h"

namespace moesim {
namespace {

using io::Fields;
using io::ProgramNames;

// Ranks inside the world, none of which was taken before.
std::vector<int> read_ranks(const Fields& fields, std::vector<bool>& taken) {
  std::vector<int> ranks = fields.integers("ranks", {0, static_cast<int>(taken.size()) - 1});
  if (ranks.empty()) {
    throw fields.error("ranks", "no \"ranks\"; list at least one");
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto rank = static_cast<std::size_t>(ranks[i]);
    if (taken[rank]) {
      throw fields.error(
          "ranks", static_cast<int>(i), fmt::format("rank {} a second time; remove one", rank));
    }
    taken[rank] = true;
  }
  return ranks;
}

void read_roles(const Fields& root, ProgramNames& names, Program& program) {
  std::vector<bool> taken(static_cast<std::size_t>(program.num_ranks));
  for (const Fields& fields : root.children("roles")) {
    program.roles.push_back({.name = names.roles.add(fields), .ranks = read_ranks(fields, taken)});
  }
}

void read_groups(const Fields& root, ProgramNames& names, Program& program) {
  for (const Fields& fields : root.children("groups")) {
    Group group = {.name = names.groups.add(fields), .members = {}};
    std::vector<bool> taken(static_cast<std::size_t>(program.num_ranks));
    for (const Fields& instance : fields.children("members")) {
      group.members.push_back(read_ranks(instance, taken));
    }
    if (group.members.empty()) {
      throw fields.error("members",
                         fmt::format("group \"{}\" has no members; add them", group.name));
    }
    program.groups.push_back(std::move(group));
  }
}

std::vector<Placement> read_placement(const Fields& tensor, const ProgramNames& names) {
  std::vector<Placement> placement;
  for (const Fields& fields : tensor.children("placement")) {
    const int group = names.groups.find(fields, "group");
    if (std::any_of(placement.begin(), placement.end(), [group](const Placement& other) {
          return other.group == group;
        })) {
      throw fields.error("group",
                         fmt::format("a second placement over group \"{}\"; keep one of them",
                                     names.groups.name(group)));
    }
    placement.push_back({.group = group, .axis = fields.choice<PlacementAxis>("axis")});
  }
  return placement;
}

Tensor read_tensor(const Fields& fields, ProgramNames& names) {
  Tensor tensor;
  tensor.name = names.tensors.add(fields);
  tensor.blocks = fields.integer_or("blocks", 1, io::kAtLeastOne);
  tensor.rows = fields.integer("rows", io::kAtLeastOne);
  tensor.columns = fields.integer("columns", io::kAtLeastOne);
  tensor.dtype = fields.choice_or("dtype", DataType::kFp32);
  tensor.input = fields.flag("input");
  tensor.seed = fields.integer_or("seed", 0, io::kAtLeastZero);
  tensor.placement = read_placement(fields, names);
  if (std::int64_t{tensor.blocks} * tensor.rows > io::kMaxBytes / tensor.row_bytes()) {
    throw fields.error(
        "rows", fmt::format("tensor \"{}\" is larger than 1 TB; make it smaller", tensor.name));
  }
  return tensor;
}

Routing read_routing(const Fields& fields, ProgramNames& names, int num_ranks) {
  Routing routing;
  routing.name = names.routings.add(fields);
  if (!fields.has("tokens")) {
    throw fields.error("tokens", "no \"tokens\"; add a row for each rank");
  }
  routing.tokens = io::read_token_table(fields);
  if (static_cast<int>(routing.tokens.size()) != num_ranks) {
    throw fields.error("tokens",
                       fmt::format("{} rows of tokens for {} ranks; write one for each rank",
                                   routing.tokens.size(),
                                   num_ranks));
  }
  return routing;
}

void read_rank_scale(const Fields& root, Program& program) {
  constexpr double kMaxScale = 1000;  // An hour times this still fits in Time.
  program.rank_scale = root.reals("rank_scale", {0, kMaxScale});
  const auto size = static_cast<int>(program.rank_scale.size());
  if (size != 0 && size != program.num_ranks) {
    throw root.error(
        "rank_scale",
        fmt::format("{} factors for {} ranks; write one for each rank", size, program.num_ranks));
  }
}

// Half of what Time holds: sums of the tasks' times must fit.
void check_total_time(const Fields& root, const Program& program) {
  double seconds = 0;
  for (const Task& task : program.tasks) {
    if (const auto* fixed = std::get_if<Fixed>(&task.descriptor)) {
      seconds += fixed->time.seconds();
    }
  }
  double slowest = 1;
  for (const double scale : program.rank_scale) {
    slowest = std::max(slowest, scale);
  }
  if (seconds * slowest > Time::max().seconds() / 2) {
    throw root.error("tasks", "the tasks take more than 53 days in all; shorten them");
  }
}

}  // namespace

Program load_program(const std::string& path) {
  return parse_program(read_file(path), path);
}

Program parse_program(const std::string& text, const std::string& path) {
  const io::Document document(io::Schema::kProgram, text, path);
  const Fields root = document.root();
  Program program;
  program.name = root.text_or("name", document.stem());
  program.num_ranks = root.integer("num_ranks", io::kRankCount);
  ProgramNames names;
  read_roles(root, names, program);
  read_groups(root, names, program);
  for (const Fields& fields : root.children("tensors")) {
    program.tensors.push_back(read_tensor(fields, names));
  }
  for (const Fields& fields : root.children("routings")) {
    program.routings.push_back(read_routing(fields, names, program.num_ranks));
  }
  read_rank_scale(root, program);
  program.rank_speed = io::read_rank_speed(root, program.num_ranks);
  program.jitter = io::read_jitter(root, 1);
  if (!root.has("tasks")) {
    throw root.error("tasks", "the Program has no tasks; add one");
  }
  io::read_tasks(root, names, program);
  check_total_time(root, program);
  return program;
}

}  // namespace moesim
