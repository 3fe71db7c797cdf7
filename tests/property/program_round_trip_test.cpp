// A random Program, written and read, is the same Program: through JSON and through text format.
#include <string>

#include <gtest/gtest.h>

#include "sim/base/random.h"
#include "sim/io/program.h"

namespace moesim {
namespace {

constexpr std::uint64_t kSeed = 7;
constexpr int kNumPrograms = 200;

class Generator {
 public:
  explicit Generator(std::uint64_t stream) : random_(kSeed, stream) {}

  Program generate() {
    program_.name = "random";
    program_.num_ranks = number(1, 8);
    add_ranks();
    for (int i = 0; i < 3; ++i) {
      program_.tensors.push_back({.name = "tensor" + std::to_string(i),
                                  .blocks = number(1, 4),
                                  .rows = number(1, 1 << 20),
                                  .columns = number(1, 4096),
                                  .dtype = static_cast<DataType>(number(0, 3)),
                                  .input = coin(),
                                  .seed = number(0, 99),
                                  .placement = {}});
    }
    const int num_tasks = number(1, 20);
    for (int i = 0; i < num_tasks; ++i) {
      add_task(i);
    }
    return program_;
  }

 private:
  int number(int first, int last) { return static_cast<int>(random_.uniform_int(first, last)); }
  bool coin() { return number(0, 1) == 1; }

  void add_ranks() {
    Group world = {.name = "world", .members = {{}}};
    for (int rank = 0; rank < program_.num_ranks; ++rank) {
      world.members[0].push_back(rank);
      program_.rank_scale.push_back(random_.uniform(0, 10));
      program_.rank_speed.push_back(random_.uniform(0.001, 10));
    }
    program_.jitter = Jitter{random_.uniform(1e-6, 1),
                             static_cast<JitterDistribution>(random_.uniform_int(0, 1)),
                             random_.next()};
    random_.shuffle(world.members[0]);
    program_.groups.push_back(world);
    program_.roles.push_back({.name = "all", .ranks = world.members[0]});
  }

  Region region() {
    return {.tensor = number(0, 2),
            .first_block = number(0, 5),
            .num_blocks = number(0, 5),
            .first_row = number(0, 9),
            .num_rows = number(0, 9),
            .relative_to = coin() ? 0 : kNone};
  }

  Descriptor descriptor() {
    switch (number(0, 3)) {
      case 0:
        return Fixed{Time::from_picoseconds(random_.uniform_int(0, 3'600'000'000'000'000))};
      case 1:
        return Collective{.operation = static_cast<CollectiveOperation>(number(0, 3)),
                          .group = 0,
                          .bytes = random_.uniform_int(0, 1'000'000'000'000)};
      case 2:
        return Gate{.gate = static_cast<GateKind>(number(0, 3)),
                    .top_k = number(1, 4),
                    .experts = {number(0, 9), number(0, 9)},
                    .routing = kNone,
                    .no_drop = coin(),
                    .domains = number(1, 4)};
      default:
        return Attention{.heads = 4, .kv_heads = 2, .head_size = number(1, 128), .causal = coin()};
    }
  }

  void add_task(int index) {
    Task task;
    task.name = "task" + std::to_string(index);
    task.roles = coin() ? std::vector<int>{0} : std::vector<int>{};
    task.descriptor = descriptor();
    task.kind = coin() ? "label" : descriptor_name(task.descriptor);
    task.pass = static_cast<Pass>(number(0, 3));
    task.layer = number(kNone, 9);
    task.chunk = number(kNone, 9);
    task.stream = number(0, static_cast<int>(program_.streams.size()));
    if (task.stream == static_cast<int>(program_.streams.size())) {
      program_.streams.push_back("stream" + std::to_string(task.stream));
    }
    for (int i = number(0, 2); i > 0; --i) {
      task.reads.push_back(region());
      task.writes.push_back(region());
    }
    for (int wait = 0; wait < index; ++wait) {
      if (number(0, 4) == 0) {
        (coin() ? task.waits : task.order_only).push_back(wait);
      }
    }
    program_.tasks.push_back(task);
  }

  Random random_;
  Program program_;
};

// The structs have no equality of their own: everything that a task holds is compared here.
void expect_same(const Task& left, const Task& right) {
  EXPECT_EQ(left.name, right.name);
  EXPECT_EQ(left.roles, right.roles);
  EXPECT_EQ(left.stream, right.stream);
  EXPECT_EQ(left.kind, right.kind);
  EXPECT_EQ(left.pass, right.pass);
  EXPECT_EQ(left.layer, right.layer);
  EXPECT_EQ(left.chunk, right.chunk);
  EXPECT_EQ(left.waits, right.waits);
  EXPECT_EQ(left.order_only, right.order_only);
  ASSERT_EQ(left.reads.size(), right.reads.size());
  for (std::size_t i = 0; i < left.reads.size(); ++i) {
    EXPECT_EQ(left.reads[i].tensor, right.reads[i].tensor);
    EXPECT_EQ(left.reads[i].first_block, right.reads[i].first_block);
    EXPECT_EQ(left.reads[i].num_rows, right.reads[i].num_rows);
    EXPECT_EQ(left.reads[i].relative_to, right.reads[i].relative_to);
  }
  ASSERT_EQ(left.descriptor.index(), right.descriptor.index());
  if (const auto* fixed = std::get_if<Fixed>(&left.descriptor)) {
    EXPECT_EQ(fixed->time, std::get<Fixed>(right.descriptor).time);
  }
  if (const auto* collective = std::get_if<Collective>(&left.descriptor)) {
    EXPECT_EQ(collective->bytes, std::get<Collective>(right.descriptor).bytes);
    EXPECT_EQ(collective->operation, std::get<Collective>(right.descriptor).operation);
  }
}

TEST(ProgramRoundTripTest, JsonAndTextKeepEverything) {
  for (int i = 0; i < kNumPrograms; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", stream " + std::to_string(i));
    const Program program = Generator(static_cast<std::uint64_t>(i)).generate();
    const std::string json = program_to_json(program);
    const Program from_json = parse_program(json, "a.json");
    const Program from_text = parse_program(program_to_text(program), "a.txtpb");
    EXPECT_EQ(program_to_json(from_json), json);
    EXPECT_EQ(program_to_json(from_text), json);
    EXPECT_EQ(from_json.rank_scale, program.rank_scale);
    EXPECT_EQ(from_json.rank_speed, program.rank_speed);
    ASSERT_TRUE(from_json.jitter);
    EXPECT_EQ(from_json.jitter->seed, program.jitter->seed);
    EXPECT_EQ(from_json.streams, program.streams);
    ASSERT_EQ(from_json.tasks.size(), program.tasks.size());
    for (std::size_t task = 0; task < program.tasks.size(); ++task) {
      expect_same(from_json.tasks[task], program.tasks[task]);
    }
  }
}

}  // namespace
}  // namespace moesim
