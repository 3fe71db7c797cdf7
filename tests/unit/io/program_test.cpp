// Programs as they are read, written and read again.
#include "sim/io/program.h"

#include <gmock/gmock.h>

namespace moesim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Program parse(const std::string& text) {
  return parse_program(text, "folder/small.txtpb");
}

// Every field and every descriptor once.
constexpr const char* kFull = R"(
name: "full"
num_ranks: 4
roles { name: "left" ranks: [0, 1] }
roles { name: "right" ranks: [3, 2] }
groups { name: "mp" members { ranks: [0, 1] } members { ranks: [2, 3] } }
groups { name: "ep" members { ranks: [2, 0] } }
tensors { name: "x" rows: 8 columns: 16 input: true seed: 7
          placement { group: "mp" axis: rows } placement { group: "ep" axis: partial } }
tensors { name: "buffer" blocks: 4 rows: 2 columns: 16 dtype: BF16 }
tensors { name: "index" blocks: 4 rows: 2 columns: 1 dtype: INT32 }
tensors { name: "tiny" rows: 1 columns: 1 dtype: FP8_E4M3 placement { group: "mp" axis: blocks } }
routings { name: "skew" tokens { counts: [3, 1] } tokens { counts: [0, 4] }
           tokens { counts: [2, 2] } tokens { counts: [4, 0] } }
rank_scale: [1, 1.1, 0.1, 1e-3]
rank_speed: [1, 0.9, 2, 1]
jitter { relative_deviation: 0.05 distribution: SHIFTED_EXPONENTIAL seed: 18446744073709551615 }
tasks { name: "a" stream: "compute" kind: "warm-up" fixed { time: "1.5 us" } }
tasks { name: "g" stream: "compute" layer: 0 reads { tensor: "x" } writes { tensor: "index" }
        gate { gate: XMOE top_k: 2 experts: [0, 1, 0, 1] routing: "skew"
               no_drop: true domains: 2 } }
tasks { name: "o" stream: "compute" chunk: 0 reads { tensor: "x" } writes { tensor: "buffer" }
        waits: ["g"] order_only: ["a"] order { experts: [0, 1] } }
tasks { name: "u" stream: "compute" unorder { experts: 3 } }
tasks { name: "e" stream: "compute" pass: RECOMPUTE expert { experts: [1] swiglu: true } }
tasks { name: "t" stream: "compute" attention { heads: 4 kv_heads: 2 head_size: 64 causal: true } }
tasks { name: "s" stream: "compute" slice { group: "mp" } }
tasks { name: "r" stream: "compute" replicate { group: "ep" copies: 2 } }
tasks { name: "l" stream: "compute" local_sum { group: "ep" copies: 2 } }
tasks { name: "c" stream: "compute" pass: BACKWARD elementwise { operation: LOSS } }
tasks { name: "w" stream: "compute" pass: UPDATE optimizer { algorithm: ADAM } }
tasks { name: "h" waits: ["w", "a"] host_wait { } }
tasks { name: "x2" stream: "inter" roles: "left"
        collective { operation: ALL_TO_ALL group: "mp" bytes: "3 KB" routing: "skew" } }
tasks { name: "sh" stream: "inter" roles: ["right", "left"]
        reads { tensor: "buffer" first_block: -1 num_blocks: 1 relative_to: "mp" }
        collective { operation: SHIFT group: "mp" distance: -1 wrap: true } }
tasks { name: "b" stream: "inter"
        collective { operation: BROADCAST group: "ep" bytes: "1 B" root: 1 } }
)";

TEST(ProgramTest, FillsInDefaults) {
  const Program program = parse(R"(
    num_ranks: 2
    tensors { name: "x" rows: 8 columns: 16 }
    tasks { name: "a" stream: "s" reads { tensor: "x" first_row: 2 } fixed { time: "1 ms" } })");
  EXPECT_EQ(program.name, "small");
  EXPECT_THAT(program.streams, ElementsAre("s"));
  EXPECT_EQ(program.tensors[0].blocks, 1);
  EXPECT_EQ(program.tensors[0].dtype, DataType::kFp32);
  const Task& task = program.tasks[0];
  EXPECT_EQ(task.kind, "fixed");
  EXPECT_EQ(task.pass, Pass::kForward);
  EXPECT_EQ(task.layer, kNone);
  EXPECT_EQ(task.chunk, kNone);
  EXPECT_THAT(task.roles, IsEmpty());
  const Region& region = task.reads[0];
  EXPECT_EQ(region.num_blocks, 1);
  EXPECT_EQ(region.first_row, 2);
  EXPECT_EQ(region.num_rows, 6);  // the rest of eight
  EXPECT_EQ(region.relative_to, kNone);
}

// Writers that print every field print empty texts.
TEST(ProgramTest, EmptyTextsAreAbsent) {
  const Program program = parse(
      R"({"name": "", "num_ranks": 1, "tensors": [{"name": "x", "rows": 8, "columns": 1}], "tasks":
          [{"name": "a", "stream": "", "kind": "", "host_wait": {},
            "reads": [{"tensor": "x", "relative_to": ""}]}]})");
  EXPECT_EQ(program.name, "small");
  EXPECT_EQ(program.tasks[0].kind, "host_wait");
  EXPECT_EQ(program.tasks[0].stream, kNone);
  EXPECT_EQ(program.tasks[0].reads[0].relative_to, kNone);
}

TEST(ProgramTest, ReadsEveryField) {
  const Program program = parse(kFull);
  EXPECT_THAT(program.streams, ElementsAre("compute", "inter"));
  EXPECT_THAT(program.roles[1].ranks, ElementsAre(3, 2));
  EXPECT_THAT(program.groups[1].members, ElementsAre(ElementsAre(2, 0)));
  EXPECT_EQ(program.tensors[0].placement[1].axis, PlacementAxis::kPartial);
  EXPECT_EQ(program.tensors[0].seed, 7);
  EXPECT_THAT(program.rank_scale, ElementsAre(1, 1.1, 0.1, 1e-3));
  EXPECT_THAT(program.rank_speed, ElementsAre(1, 0.9, 2, 1));
  ASSERT_TRUE(program.jitter);
  EXPECT_EQ(program.jitter->relative_deviation, 0.05);
  EXPECT_EQ(program.jitter->distribution, JitterDistribution::kShiftedExponential);
  EXPECT_EQ(program.jitter->seed, 18446744073709551615U);
  const auto& gate = std::get<Gate>(program.tasks[1].descriptor);
  EXPECT_EQ(gate.gate, GateKind::kXmoe);
  EXPECT_EQ(gate.domains, 2);
  EXPECT_TRUE(gate.no_drop);
  EXPECT_THAT(program.tasks[2].waits, ElementsAre(1));
  EXPECT_THAT(program.tasks[2].order_only, ElementsAre(0));
  EXPECT_EQ(program.tasks[4].pass, Pass::kRecompute);
  EXPECT_EQ(program.tasks[11].stream, kNone);
  EXPECT_THAT(program.tasks[11].waits, ElementsAre(0, 10));  // ascending
  EXPECT_THAT(program.tasks[13].roles, ElementsAre(1, 0));
  EXPECT_EQ(program.tasks[13].reads[0].first_block, -1);
  EXPECT_EQ(program.tasks[13].reads[0].relative_to, 0);
}

// An out-of-range region is for the verifier to report, also where a bound is left out.
TEST(ProgramTest, KeepsWhatTheVerifierJudges) {
  const Program program = parse(R"(
    num_ranks: 2
    groups { name: "world" members { ranks: [0, 1] } }
    tensors { name: "x" rows: 8 columns: 16 }
    tasks { name: "a" stream: "s" reads { tensor: "x" first_row: 9 }
            writes { tensor: "x" first_block: 3 num_rows: 99 } fixed { time: "1 ms" } }
    tasks { name: "b" stream: "s" reads { tensor: "x" } writes { tensor: "x" }
            collective { operation: ALL_REDUCE group: "world" bytes: "7 B" } })");
  EXPECT_EQ(program.tasks[0].reads[0].num_rows, 0);
  EXPECT_EQ(program.tasks[0].writes[0].num_blocks, 0);
  EXPECT_EQ(program.tasks[0].writes[0].num_rows, 99);
  EXPECT_EQ(std::get<Collective>(program.tasks[1].descriptor).bytes, 7);
}

// x has 8 rows of 16 fp32 elements: 512 B; half of it is 256 B.
TEST(ProgramTest, DerivesBytesFromRegions) {
  const Program program = parse(R"(
    num_ranks: 2
    groups { name: "world" members { ranks: [0, 1] } }
    tensors { name: "x" rows: 8 columns: 16 }
    tensors { name: "half" rows: 4 columns: 16 }
    tasks { name: "ar" stream: "s" reads { tensor: "x" } writes { tensor: "x" }
            collective { operation: ALL_REDUCE group: "world" } }
    tasks { name: "ag" stream: "s" reads { tensor: "half" } writes { tensor: "x" }
            collective { operation: ALL_GATHER group: "world" } }
    tasks { name: "rs" stream: "s" reads { tensor: "x" } writes { tensor: "half" }
            collective { operation: REDUCE_SCATTER group: "world" } }
    tasks { name: "a2a" stream: "s" reads { tensor: "x" first_row: 0 num_rows: 4 }
            writes { tensor: "half" } collective { operation: ALL_TO_ALL group: "world" } })");
  const auto bytes = [&program](int task) {
    return std::get<Collective>(program.tasks[static_cast<std::size_t>(task)].descriptor).bytes;
  };
  EXPECT_EQ(bytes(0), 512);
  EXPECT_EQ(bytes(1), 512);  // the output
  EXPECT_EQ(bytes(2), 512);  // the input
  EXPECT_EQ(bytes(3), 256);
}

TEST(ProgramTest, SameThroughJsonAndText) {
  const Program program = parse(kFull);
  const std::string json = program_to_json(program);
  const std::string text = program_to_text(program);
  EXPECT_EQ(program_to_json(parse_program(json, "a.json")), json);
  EXPECT_EQ(program_to_json(parse_program(text, "b.txtpb")), json);
  EXPECT_EQ(program_to_text(parse_program(json, "c.json")), text);
}

// Joins lines that end in a backslash with the next.
std::string joined(std::string text) {
  for (std::size_t at = text.find("\\\n"); at != std::string::npos; at = text.find("\\\n")) {
    text.erase(at, 2);
  }
  return text;
}

// The names are the contract: zeros and empty lists are printed, numbers are numbers, the items of
// the outer lists stand on lines of their own.
TEST(ProgramTest, JsonIsTheContract) {
  const Program program = parse(R"(
    name: "tiny" num_ranks: 2
    groups { name: "world" members { ranks: [0, 1] } }
    tensors { name: "x" rows: 8 columns: 16 }
    routings { name: "even" tokens { counts: [1, 2] } tokens { counts: [3, 4] } }
    rank_scale: [1, 0.1]
    tasks { name: "a" stream: "compute" fixed { time: "1500 ns" } }
    tasks { name: "b" stream: "inter" reads { tensor: "x" } writes { tensor: "x" } waits: "a"
            layer: 0 collective { operation: ALL_REDUCE group: "world" } })");
  EXPECT_EQ(program_to_json(program), joined(R"({
  "name": "tiny",
  "num_ranks": 2,
  "roles": [],
  "groups": [
    {"name": "world", "members": [{"ranks": [0, 1]}]}
  ],
  "tensors": [
    {"name": "x", "blocks": 1, "rows": 8, "columns": 16, "dtype": "FP32", \
"input": false, "seed": 0, "placement": []}
  ],
  "routings": [
    {"name": "even", "tokens": [[1, 2], [3, 4]]}
  ],
  "rank_scale": [1, 0.1],
  "rank_speed": [],
  "tasks": [
    {"name": "a", "roles": [], "stream": "compute", "kind": "fixed", "pass": "FORWARD", \
"reads": [], "writes": [], "waits": [], "order_only": [], "fixed": {"time": "1500 ns"}},
    {"name": "b", "roles": [], "stream": "inter", "kind": "collective", "pass": "FORWARD", \
"layer": 0, \
"reads": [{"tensor": "x", "first_block": 0, "num_blocks": 1, "first_row": 0, "num_rows": 8}], \
"writes": [{"tensor": "x", "first_block": 0, "num_blocks": 1, "first_row": 0, "num_rows": 8}], \
"waits": ["a"], "order_only": [], \
"collective": {"operation": "ALL_REDUCE", "group": "world", "bytes": "512 B", "distance": 0, \
"wrap": false, "root": 0}}
  ]
}
)"));
}

TEST(ProgramTest, TextOfAnyKindSurvives) {
  Program program = parse(R"(num_ranks: 1 tasks { name: "a" stream: "s" fixed { time: "1 ps" } })");
  program.name = "quote \" backslash \\ line\nbell \x07 é";
  EXPECT_EQ(parse_program(program_to_json(program), "a.json").name, program.name);
  EXPECT_EQ(parse_program(program_to_text(program), "a.txtpb").name, program.name);
  EXPECT_THAT(program_to_json(program), HasSubstr("\\u0007"));
}

TEST(ProgramTest, NamesOfKinds) {
  EXPECT_EQ(descriptor_name(Fixed{}), "fixed");
  EXPECT_EQ(descriptor_name(LocalSum{}), "local_sum");
  EXPECT_EQ(descriptor_name(HostWait{}), "host_wait");
  EXPECT_STREQ(to_string(CollectiveOperation::kReduceScatter), "REDUCE_SCATTER");
  EXPECT_STREQ(to_string(Pass::kUpdate), "UPDATE");
  EXPECT_STREQ(to_string(DataType::kFp8E4m3), "FP8_E4M3");
}

}  // namespace
}  // namespace moesim
