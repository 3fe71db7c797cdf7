// What makes a Program bad input. Each text changes one thing of a good Program.
#include <gmock/gmock.h>

#include "sim/io/program.h"
#include "tests/unit/io/error_of.h"

namespace moesim {
namespace {

using testing::HasSubstr;

// Lines 1 to 6 of every Program here; what is added starts on line 7.
constexpr const char* kHead = R"(num_ranks: 4
roles { name: "left" ranks: [0, 1] } roles { name: "right" ranks: [2, 3] }
groups { name: "mp" members { ranks: [0, 1] } members { ranks: [2, 3] } }
groups { name: "world" members { ranks: [0, 1, 2, 3] } }
tensors { name: "x" blocks: 2 rows: 8 columns: 16 } tensors { name: "y" rows: 8 columns: 4 }
tasks { name: "first" stream: "compute" roles: "left" fixed { time: "1 ms" } }
)";

std::string error_in(const std::string& text) {
  return error_of([&text] { parse_program(text, "p.txtpb"); });
}

std::string error_after(const std::string& text) {
  return error_in(kHead + text);
}

// Of a task on stream "compute" with the descriptor and more.
std::string error_of_task(const std::string& text) {
  return error_after("tasks { name: \"t\" stream: \"compute\"\n" + text + " }");
}

TEST(ProgramErrorsTest, TheHeadIsGood) {
  EXPECT_EQ(error_after(""), "");
}

TEST(ProgramErrorsTest, Ranks) {
  EXPECT_EQ(error_in("num_ranks: 0"),
            "p.txtpb:1:12: num_ranks is 0; write a number from 1 to 1048576");
  EXPECT_EQ(error_in("num_ranks: 9999999"),
            "p.txtpb:1:12: num_ranks is 9999999; write a number from 1 to 1048576");
  EXPECT_EQ(error_in("num_ranks: 2 roles { name: 'a' ranks: [0, 2] }"),
            "p.txtpb:1:43: ranks is 2; write a number from 0 to 1");
  EXPECT_EQ(error_in("num_ranks: 2 roles { name: 'a' }"),
            "p.txtpb:1:14: no \"ranks\"; list at least one");
  EXPECT_EQ(error_in("num_ranks: 2 roles { name: 'a' ranks: 0 } roles { name: 'b' ranks: [1, 0] }"),
            "p.txtpb:1:72: rank 0 a second time; remove one");
  EXPECT_EQ(error_in("num_ranks: 2 groups { name: 'a' members { ranks: [0, 1] } members { ranks: 1 "
                     "} }"),
            "p.txtpb:1:76: rank 1 a second time; remove one");
  EXPECT_EQ(error_in("num_ranks: 2 groups { name: 'a' }"),
            "p.txtpb:1:14: group \"a\" has no members; add them");
}

TEST(ProgramErrorsTest, Names) {
  EXPECT_EQ(error_after("roles { name: 'left' ranks: 0 }"),
            "p.txtpb:7:15: a second role \"left\"; rename one");
  EXPECT_EQ(error_after("groups { name: 'mp' }"),
            "p.txtpb:7:16: a second group \"mp\"; rename one");
  EXPECT_EQ(error_after("tensors { name: 'y' }"),
            "p.txtpb:7:17: a second tensor \"y\"; rename one");
  EXPECT_EQ(error_after("tasks { name: 'first' }"),
            "p.txtpb:7:15: a second task \"first\"; rename one");
  EXPECT_EQ(error_after("tasks { name: '' }"), "p.txtpb:7:15: Task has no \"name\"; add it");
  EXPECT_EQ(error_after("tasks { stream: 'compute' }"),
            "p.txtpb:7:1: Task has no \"name\"; add it");
}

TEST(ProgramErrorsTest, Tensors) {
  EXPECT_EQ(error_after("tensors { name: 'z' rows: 0 columns: 1 }"),
            "p.txtpb:7:27: rows is 0; write a number from 1 to 2147483647");
  EXPECT_EQ(error_after("tensors { name: 'z' rows: 1 }"),
            "p.txtpb:7:1: Tensor has no \"columns\"; add it");
  // 2^31 - 1 rows of 2^31 - 1 columns of four bytes overflow 64 bits.
  EXPECT_EQ(error_after("tensors { name: 'z' blocks: 2147483647 rows: 2147483647 columns: "
                        "2147483647 }"),
            "p.txtpb:7:46: tensor \"z\" is larger than 1 TB; make it smaller");
  EXPECT_EQ(error_after("tensors { name: 'z' rows: 1 columns: 1 dtype: FP16 }"),
            "p.txtpb:7:47: dtype: FP16 is not among its values; write one of FP32, BF16, FP8_E4M3, "
            "INT32");
  EXPECT_EQ(error_after("tensors { name: 'z' rows: 1 columns: 1 placement { group: 'pp' } }"),
            "p.txtpb:7:59: no group \"pp\"; did you mean \"mp\"?");
  EXPECT_EQ(
      error_after("tensors { name: 'z' rows: 1 columns: 1 placement { group: 'mp' axis: rows }\n"
                  "placement { group: 'mp' axis: blocks } }"),
      "p.txtpb:8:20: a second placement over group \"mp\"; keep one of them");
  EXPECT_EQ(error_after("tensors { name: 'z' rows: 1 columns: 1 placement { group: 'mp' } }"),
            "p.txtpb:7:40: Placement has no \"axis\"; add it");
}

TEST(ProgramErrorsTest, RoutingsAndScales) {
  EXPECT_EQ(error_after("routings { name: 'r' }"),
            "p.txtpb:7:1: no \"tokens\"; add a row for each rank");
  EXPECT_EQ(error_after("routings { name: 'r' tokens { counts: [1, 2] } }"),
            "p.txtpb:7:22: 1 rows of tokens for 4 ranks; write one for each rank");
  EXPECT_EQ(error_after("routings { name: 'r' tokens { counts: [1, 2] } tokens { counts: 1 } }"),
            "p.txtpb:7:48: 1 counts here and 2 in the first row; write one for each expert");
  EXPECT_EQ(error_after("rank_scale: [1, 2]"),
            "p.txtpb:7:1: 2 factors for 4 ranks; write one for each rank");
  EXPECT_EQ(error_after("rank_scale: [1, 1, 1, -1]"),
            "p.txtpb:7:23: rank_scale is -1; write a number from 0 to 1000");
}

TEST(ProgramErrorsTest, Variation) {
  EXPECT_EQ(error_after("rank_speed: [1, 2]"),
            "p.txtpb:7:1: 2 factors for 4 ranks; write one for each rank");
  EXPECT_EQ(error_after("rank_speed: [1, 1, 1, 0]"),
            "p.txtpb:7:23: rank_speed is 0; write a number from 0.001 to 1000");
  EXPECT_EQ(error_after("jitter { relative_deviation: 1.5 }"),
            "p.txtpb:7:30: relative_deviation is 1.5; write a number from 0 to 1");
  EXPECT_EQ(error_after("jitter { seed: 3 }"),
            "p.txtpb:7:1: Jitter has no \"relative_deviation\"; add it");
}

TEST(ProgramErrorsTest, TaskWithoutMeaning) {
  EXPECT_EQ(error_in("num_ranks: 1"), "p.txtpb:1:1: the Program has no tasks; add one");
  EXPECT_THAT(error_of_task(""),
              HasSubstr("p.txtpb:7:1: task \"t\" does not say what to do; add one of fixed,"));
  EXPECT_EQ(error_after("tasks { name: 't' fixed { time: '1 s' } }"),
            "p.txtpb:7:1: Task has no \"stream\"; add it");
  EXPECT_EQ(error_of_task("host_wait { }"),
            "p.txtpb:7:27: a host_wait runs on no stream; remove \"stream\"");
  EXPECT_EQ(error_of_task("fixed { time: '-1 s' }"),
            "p.txtpb:8:15: \"-1 s\": must not be negative; write a time such as \"1.5 us\"");
  EXPECT_EQ(error_of_task("fixed { }"), "p.txtpb:8:1: Fixed has no \"time\"; add it");
  EXPECT_EQ(error_of_task("layer: -1"), "p.txtpb:8:8: layer is -1; write a number from 0 to 9999");
  EXPECT_EQ(error_of_task("roles: 'lefty'"),
            "p.txtpb:8:8: no role \"lefty\"; did you mean \"left\"?");
  EXPECT_EQ(error_of_task("roles: ['left', 'left']"),
            "p.txtpb:8:17: role \"left\" twice; remove one");
}

TEST(ProgramErrorsTest, Waits) {
  EXPECT_EQ(error_of_task("fixed { time: '1 s' } waits: ['first', 'frist']"),
            "p.txtpb:8:40: no task \"frist\"; did you mean \"first\"?");
  EXPECT_EQ(error_of_task("fixed { time: '1 s' } waits: 't'"),
            "p.txtpb:8:30: \"t\" cannot wait for \"t\", which is not launched before it; put that "
            "task first");
  EXPECT_EQ(error_of_task("fixed { time: '1 s' } order_only: ['first', 'first']"),
            "p.txtpb:8:45: \"first\" twice; remove one");
  EXPECT_EQ(error_of_task("roles: 'right' fixed { time: '1 s' } waits: 'first'"),
            "p.txtpb:8:45: no rank runs both \"t\" and \"first\"; wait for a task of the same "
            "ranks");
  EXPECT_EQ(error_after("tasks { name: 'a' stream: 's' fixed { time: '1 s' } waits: 'b' }\n"
                        "tasks { name: 'b' stream: 's' fixed { time: '1 s' } }"),
            "p.txtpb:7:60: \"a\" cannot wait for \"b\", which is not launched before it; put that "
            "task first");
}

TEST(ProgramErrorsTest, Regions) {
  EXPECT_EQ(error_of_task("slice { group: 'mp' } reads { tensor: 'z' }"),
            "p.txtpb:8:39: no tensor \"z\"; use one of x, y");
  EXPECT_EQ(error_of_task("slice { group: 'mp' } reads { tensor: 'x' first_block: -1 }"),
            "p.txtpb:8:56: first_block is negative; count from 0 or add relative_to");
  EXPECT_EQ(error_of_task("slice { group: 'mp' } reads { tensor: 'x' num_rows: -1 }"),
            "p.txtpb:8:53: num_rows is -1; write a number from 0 to 2147483647");
  EXPECT_EQ(error_of_task("slice { group: 'mp' } reads { tensor: 'x' relative_to: 'ep' }"),
            "p.txtpb:8:56: no group \"ep\"; did you mean \"mp\"?");
  // 2^31 - 1 rows in each of as many blocks, 64 bytes each.
  EXPECT_EQ(error_of_task("slice { group: 'mp' } reads { tensor: 'x' num_blocks: 2147483647 "
                          "num_rows: 2147483647 }"),
            "p.txtpb:8:39: more than 1 TB in one region; make it smaller");
}

TEST(ProgramErrorsTest, Collectives) {
  EXPECT_EQ(error_of_task("collective { group: 'mp' bytes: '1 B' }"),
            "p.txtpb:8:1: Collective has no \"operation\"; add it");
  EXPECT_EQ(error_of_task("collective { operation: ALL_REDUCE bytes: '1 B' }"),
            "p.txtpb:8:1: Collective has no \"group\"; add it");
  EXPECT_EQ(error_of_task("collective { operation: ALL_REDUCE group: 'mp' }"),
            "p.txtpb:8:1: no \"bytes\" and no regions that they follow from; add bytes, such as "
            "\"64 MiB\"");
  EXPECT_EQ(error_of_task("collective { operation: ALLREDUCE group: 'mp' bytes: '1 B' }"),
            "p.txtpb:8:25: operation: ALLREDUCE is not among its values; write one of ALL_REDUCE, "
            "ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL, SHIFT, BROADCAST");
  EXPECT_EQ(error_of_task("collective { operation: ALL_REDUCE group: 'mp' bytes: '2 TB' }"),
            "p.txtpb:8:55: more than 1 TB in one collective; make it smaller");
  EXPECT_EQ(error_of_task("collective { operation: ALL_REDUCE group: 'mp' bytes: '1 B' distance: 1 "
                          "}"),
            "p.txtpb:8:71: ALL_REDUCE has no \"distance\", only SHIFT has; remove it");
  EXPECT_EQ(error_of_task("collective { operation: SHIFT group: 'mp' bytes: '1 B' }"),
            "p.txtpb:8:1: Collective has no \"distance\"; add it");
  EXPECT_EQ(error_of_task("collective { operation: BROADCAST group: 'mp' bytes: '1 B' root: 2 }"),
            "p.txtpb:8:66: root is 2; write a number from 0 to 1");
  EXPECT_EQ(error_of_task("collective { operation: BROADCAST group: 'mp' bytes: '1 B' routing: 'r' "
                          "}"),
            "p.txtpb:8:69: no routing \"r\": the Program has none; add it");
}

// Members of a group hold equal runs of the experts: 3 do not lie on the 2 of mp.
TEST(ProgramErrorsTest, ExpertsOfAnExchange) {
  EXPECT_EQ(error_of_task("collective { operation: ALL_TO_ALL group: 'mp' bytes: '1 B' top_k: 1 "
                          "num_experts: 3 }"),
            "p.txtpb:8:83: 3 experts do not lie in equal runs on the 2 members of group \"mp\"; "
            "give a multiple of 2");
  EXPECT_EQ(error_of_task("collective { operation: ALL_TO_ALL group: 'mp' bytes: '1 B' top_k: 1 "
                          "num_experts: 4 }"),
            "");
}

TEST(ProgramErrorsTest, OtherDescriptors) {
  EXPECT_EQ(error_of_task("gate { top_k: 0 }"),
            "p.txtpb:8:15: top_k is 0; write a number from 1 to 2147483647");
  EXPECT_EQ(error_of_task("gate { top_k: 1 }"),
            "p.txtpb:8:1: no \"experts\"; list the expert of each block");
  EXPECT_EQ(error_of_task("order { experts: -1 }"),
            "p.txtpb:8:18: experts is -1; write a number from 0 to 1048576");
  EXPECT_EQ(error_of_task("attention { heads: 4 kv_heads: 3 head_size: 64 }"),
            "p.txtpb:8:32: 4 heads do not share 3 kv_heads evenly; choose a divisor");
  EXPECT_EQ(error_of_task("slice { }"), "p.txtpb:8:1: Slice has no \"group\"; add it");
  EXPECT_EQ(error_of_task("replicate { group: 'mp' copies: 0 }"),
            "p.txtpb:8:33: copies is 0; write a number from 1 to 1048576");
  EXPECT_EQ(error_of_task("optimizer { }"), "p.txtpb:8:1: Optimizer has no \"algorithm\"; add it");
  EXPECT_EQ(error_of_task("elementwise { operation: NOP }"),
            "p.txtpb:8:26: operation: NOP is not among its values; write one of COPY, ADD, LOSS");
}

// 2,000 hours are 83 days; a sum of times must fit in Time, which ends at 106.
TEST(ProgramErrorsTest, TimesMustAddUp) {
  std::string text = "num_ranks: 1\n";
  for (int i = 0; i < 2000; ++i) {
    text += "tasks { name: 't" + std::to_string(i) + "' stream: 's' fixed { time: '3600 s' } }\n";
  }
  EXPECT_EQ(error_in(text), "p.txtpb:2:1: the tasks take more than 53 days in all; shorten them");
  EXPECT_EQ(error_in("num_ranks: 1 rank_scale: 1000 tasks { name: 't' stream: 's' fixed { time: "
                     "'3600 s' } } tasks { name: 'u' stream: 's' fixed { time: '3600 s' } }"),
            "p.txtpb:1:31: the tasks take more than 53 days in all; shorten them");
}

}  // namespace
}  // namespace moesim
