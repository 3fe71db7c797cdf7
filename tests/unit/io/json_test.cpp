// JSON is read strictly; what is wrong with a value is located by its field.
#include <gmock/gmock.h>

#include "sim/io/cluster.h"
#include "sim/io/program.h"
#include "tests/unit/io/error_of.h"

namespace moesim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error_in(const std::string& text) {
  return error_of([&text] { parse_program(text, "p.json"); });
}

std::string with_tasks(const std::string& tasks) {
  return R"({"num_ranks": 2, "tasks": [)" + tasks + "]}";
}

TEST(JsonTest, IsChosenByContentNotByName) {
  const Program program = parse_program(
      "\n\t " + with_tasks(R"({"name": "a", "stream": "s", "fixed": {"time": "1 ms"}})"),
      "p.txtpb");
  EXPECT_EQ(program.name, "p");
  EXPECT_EQ(program.num_ranks, 2);
}

TEST(JsonTest, MayStartWithAByteOrderMark) {
  const std::string text = with_tasks(R"({"name": "a", "stream": "s", "fixed": {"time": "1 ms"}})");
  EXPECT_EQ(parse_program("\xef\xbb\xbf" + text, "p.json").num_ranks, 2);
}

TEST(JsonTest, ReadsEscapes) {
  const Program program =
      parse_program(R"({"name": "\u00e9\ud83d\ude00\n\"\\\/\t", "num_ranks": 1, "tasks": [)"
                    R"({"name": "a", "stream": "s", "fixed": {"time": "1 ms"}}]})",
                    "p.json");
  EXPECT_EQ(program.name, "é😀\n\"\\/\t");
}

TEST(JsonTest, SyntaxErrorsHaveLineAndColumn) {
  EXPECT_EQ(error_in("{\"num_ranks\": 2,}"),
            "p.json:1:17: a field name in double quotes is missing; write \"name\": value");
  EXPECT_EQ(error_in("{\n  \"num_ranks\" 2}"),
            "p.json:2:15: a colon is missing after \"num_ranks\"; add it");
  EXPECT_EQ(error_in("{\"num_ranks\": 2 \"name\": 3}"),
            "p.json:1:17: a comma or } is missing; add it before this");
  EXPECT_EQ(error_in("{'num_ranks': 2}"),
            "p.json:1:2: a field name in double quotes is missing; write \"name\": value");
  EXPECT_EQ(error_in("{\"num_ranks\": NaN}"),
            "p.json:1:15: no JSON value; write a number, \"text\", true, false, a list or an "
            "object");
  EXPECT_EQ(error_in("{\"num_ranks\": 02}"),
            "p.json:1:17: the number starts with a needless 0; remove it");
  EXPECT_EQ(error_in("{\"num_ranks\": 1.}"),
            "p.json:1:17: a digit of the number is missing; add it");
  EXPECT_EQ(error_in("{\"name\": \"a\nb\"}"),
            "p.json:1:12: the text is not closed on its line; add \" or write \\n");
  EXPECT_EQ(error_in(R"({"name": "\x"})"),
            "p.json:1:12: unknown escape; write \\\\ for a backslash");
  EXPECT_EQ(error_in(R"({"name": "\u12"})"),
            "p.json:1:12: \\u needs four hexadecimal digits; add them");
  EXPECT_THAT(error_in(R"({"name": "\ud800"})"), HasSubstr("half of a surrogate pair"));
  EXPECT_THAT(error_in(R"({"name": "\ud800A"})"), HasSubstr("half of a surrogate pair"));
  EXPECT_EQ(error_in("{} x"), "p.json:1:4: text after the end of the JSON value; remove it");
  EXPECT_EQ(error_in("{"),
            "p.json:1:2: a field name in double quotes is missing; write \"name\": value");
  EXPECT_THAT(error_in(std::string("{\"a\":") + std::string(100'000, '[')),
              HasSubstr("more than 32 levels; nest fewer"));
}

TEST(JsonTest, FieldsAreLocatedByTheirPath) {
  EXPECT_EQ(error_in(with_tasks(R"({"name": "a", "fixed": {"tiem": "1 ms"}})")),
            "p.json: tasks[0].fixed.tiem: no field \"tiem\" in Fixed; did you mean \"time\"?");
  EXPECT_EQ(error_in(with_tasks(R"({"name": "a", "stream": "s", "fixed": {"time": "1 mss"}})")),
            "p.json: tasks[0].fixed.time: \"1 mss\": unknown unit \"mss\"; write a time such as "
            "\"1.5 us\"");
  EXPECT_EQ(error_in(R"({"numRanks": 2})"),
            "p.json: numRanks: no field \"numRanks\" in Program; did you mean \"num_ranks\"?");
  EXPECT_EQ(error_in(R"({"num_ranks": 2, "num_ranks": 2})"),
            "p.json: num_ranks: \"num_ranks\" is given twice; keep one of them");
  EXPECT_EQ(error_in(R"({"tasks": [], "tasks": []})"),
            "p.json: tasks: \"tasks\" is given twice; keep one of them");
  EXPECT_EQ(error_in(R"({"num_ranks": "2"})"),
            "p.json: num_ranks: \"2\" is not a whole number; write one such as 4");
  EXPECT_EQ(error_in(R"({"num_ranks": null})"),
            "p.json: num_ranks: null is no value; leave the field out");
  EXPECT_EQ(error_in(R"({"tasks": {}})"), "p.json: tasks: \"tasks\" must be a list; write [ ]");
  EXPECT_EQ(error_in(R"({"roles": [{"ranks": [0, 1.5]}]})"),
            "p.json: roles[0].ranks[1]: 1.5 is not a whole number; write one such as 4");
  EXPECT_EQ(error_in(R"({"rank_scale": [1, "x"]})"),
            "p.json: rank_scale[1]: \"x\" is not a number; write one such as 1.2");
  EXPECT_EQ(error_in(R"({"rank_scale": [1e999]})"),
            "p.json: rank_scale[0]: 1e999 is not finite; write a number such as 1.2");
  EXPECT_EQ(error_in(with_tasks(R"({"name": "a", "pass": "FORWARDS"})")),
            "p.json: tasks[0].pass: \"FORWARDS\" is not among its values; write one of "
            "FORWARD, RECOMPUTE, BACKWARD, UPDATE");
  EXPECT_EQ(error_in(with_tasks(R"({"name": "a", "pass": 2})")),
            "p.json: tasks[0].pass: 2 is not among its values; write one of FORWARD, "
            "RECOMPUTE, BACKWARD, UPDATE");
  EXPECT_EQ(error_in(with_tasks(R"({"fixed": {}, "host_wait": {}})")),
            "p.json: tasks[0].host_wait: both \"fixed\" and \"host_wait\"; keep one of them");
  EXPECT_EQ(error_in(R"({"tensors": [{"input": 1}]})"),
            "p.json: tensors[0].input: 1 is neither true nor false; write one of them");
  EXPECT_EQ(error_in(R"({"name": "x"})"),
            "p.json: num_ranks: Program has no \"num_ranks\"; add it");
}

TEST(JsonTest, TokensAreListsOfLists) {
  const Program program = parse_program(
      R"({"num_ranks": 2, "routings": [{"name": "r", "tokens": [[3, 1, 0], [0, 4, 2]]}],)"
      R"( "tasks": [)"
      R"({"name": "a", "stream": "s", "fixed": {"time": "1 ms"}}]})",
      "p.json");
  EXPECT_THAT(program.routings[0].tokens, ElementsAre(ElementsAre(3, 1, 0), ElementsAre(0, 4, 2)));
  EXPECT_EQ(error_in(R"({"routings": [{"tokens": [3]}]})"),
            "p.json: routings[0].tokens[0]: \"counts\" must be a list; write [ ]");
  EXPECT_EQ(error_in(R"({"num_ranks": 1, "routings": [{"name": "r", "tokens": [[3, -1]]}]})"),
            "p.json: routings[0].tokens[0]: a count of tokens is negative; write 0 or more");
}

TEST(JsonTest, QuantitiesNeedTheirUnits) {
  EXPECT_EQ(error_of([] {
              parse_cluster(R"({"num_nodes": 1, "gpus_per_node": 1, "gpu_memory": 5})", "c.json");
            }),
            "c.json: gpu_memory: \"5\": the unit is missing; write a size such as \"64 MiB\"");
}

}  // namespace
}  // namespace moesim
