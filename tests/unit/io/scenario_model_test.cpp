// Scenarios: sizes that do not divide, or are beyond reason.
#include <gmock/gmock.h>

#include "tests/unit/io/scenario_fixture.h"

namespace moesim {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using ScenarioModelTest = ScenarioTest;

TEST_F(ScenarioModelTest, GroupsMustDivideTheWorld) {
  EXPECT_EQ(error("parallel.mp=3"),
            "3 ranks of mp * dp do not divide the 8 GPUs of cluster \"c\"; change mp or the "
            "cluster");
  EXPECT_EQ(error("parallel.dp=1"),
            "mp * dp is 4, but cluster \"c\" has 8 GPUs; change one of them or leave one out");
  EXPECT_EQ(error("parallel.edp=4"),
            "16 ranks of esp * ep * edp do not divide the 8 GPUs of cluster \"c\"; change edp or "
            "the cluster");
  EXPECT_EQ(error("parallel.mp=0"), "mp is 0; write a number from 1 to 1048576");
  write_file_atomically(path_,
                        "cluster: 'parts/c.txtpb' profile: 'parts/p.txtpb' model {\n" +
                            std::string("layers: 1 batch: 1 sequence: 8 embedding: 8 hidden: "
                                        "8 heads: 1 experts: 1 top_k: 1 capacity_factor: "
                                        "'*' }\nparallel { esp: 1 edp: 1 }"));
  EXPECT_EQ(error_of([this] { return load(); }),
            path_ +
                ":3:1: both mp and dp are absent; give one of them, the other follows from mp "
                "* dp = 8 GPUs");
}

TEST_F(ScenarioModelTest, TheModelMustDivideAmongItsGroups) {
  EXPECT_EQ(error("model.top_k=5"), "top_k = 5 of 4 experts; choose at most 4");
  EXPECT_EQ(error("model.embedding=1000"),
            "embedding = 1000 does not divide by heads = 16; change one of them");
  EXPECT_EQ(error("model.heads=2"), "heads = 2 does not divide by mp = 4; change one of them");
  EXPECT_EQ(error("model.kv_heads=5"),
            path_ + ":4:10: heads = 16 does not divide by kv_heads = 5; change one of them");
  EXPECT_EQ(error("model.kv_heads=2"),
            "kv_heads = 2 does not divide by mp = 4; change one of them");
  EXPECT_EQ(error("model.experts=3"), "experts = 3 does not divide by ep = 2; change one of them");
  EXPECT_EQ(error("model.hidden=4095"),
            "hidden = 4095 does not divide by esp = 4; change one of them");
  EXPECT_EQ(error("model.sequence=511"),
            "batch * sequence = 1022 tokens do not divide by mp = 4; change one of them");
}

// 3 nodes leave ep = 12 / (4 * 1) = 3; the mistake is not where `experts` stands.
TEST_F(ScenarioModelTest, DerivedGroupSizesAreBlamedOnTheLayout) {
  EXPECT_EQ(error("cluster.num_nodes=3"),
            path_ +
                ":6:1: experts = 4 does not divide by ep = 3, which is what the other sizes "
                "leave of the cluster's GPUs; give ep or change the sizes, the cluster or "
                "experts");
  EXPECT_EQ(error_of([this] {
              return load({"parallel.ep=3", "cluster.num_nodes=3"});
            }),
            path_ + ":4:34: experts = 4 does not divide by ep = 3; change one of them");
}

TEST_F(ScenarioModelTest, RefusesAbsurdModels) {
  EXPECT_EQ(error("model.layers=0"), "layers is 0; write a number from 1 to 10000");
  EXPECT_EQ(error("model.batch=-1"), "batch is -1; write a number from 1 to 16777216");
  EXPECT_EQ(error("model.batch=nan"), "nan is not a whole number; write one such as 4");
  // 16777216 * 512 tokens of four ranks' copies are 3.4e10, more than 2^31 - 1.
  EXPECT_THAT(
      error("model.batch=16777216"),
      HasSubstr(":2:1: the tokens of a group are 3.44e+10, more than 2.15e+09; reduce batch "
                "or sequence"));
  // 2 * 1000 choices of 4 * 2^20 tokens are 8.4e9 rows, also of a few bytes each.
  EXPECT_THAT(error_of([this] {
                return load({"model.capacity_factor=1000",
                             "model.sequence=524288",
                             "model.embedding=16",
                             "model.hidden=4"});
              }),
              HasSubstr("the rows of a dispatch buffer are 8.39e+09, more than 2.15e+09; reduce "
                        "batch, sequence, top_k or capacity_factor"));
  // 2 * 1.25 * 1024 * 4 tokens of 16777216 fp32 elements: 6.9e11 B are fine, four times as much
  // is not.
  EXPECT_EQ(error_of([this] { return load({"model.embedding=16777216", "model.hidden=4"}); }), "");
  EXPECT_THAT(error_of([this] {
                return load({"model.embedding=16777216", "model.hidden=4", "model.batch=8"});
              }),
              HasSubstr("the bytes of a dispatch buffer are 2.75e+12, more than 1e+12"));
  EXPECT_THAT(error_of([this] {
                return load({"model.embedding=16777216", "model.hidden=16777216"});
              }),
              HasSubstr("one layer's experts on a GPU are"));
  EXPECT_EQ(error("model.capacity_factor=0"),
            "\"0\" is no capacity factor; write a number above 0 and up to 1000 such as \"1.2\", "
            "or \"*\" to drop no token");
  EXPECT_THAT(error("model.capacity_factor=nan"), StartsWith("\"nan\" is no capacity factor"));
  EXPECT_THAT(error("model.capacity_factor=1.2x"), StartsWith("\"1.2x\" is no capacity factor"));
  EXPECT_EQ(error("model.dtype=INT32"),
            "INT32 is no type to train in; write FP32, BF16 or FP8_E4M3");
  EXPECT_EQ(error("routing.zipf_exponent=-1"), "zipf_exponent is -1; write a number from 0 to 10");
  EXPECT_EQ(error("gradient_chunk=0 B"), "a chunk of no bytes; write a size such as \"30 MB\"");
  EXPECT_EQ(error("degrees.forward=0"), "forward is 0; write a number from 1 to 1024");
  EXPECT_THAT(error("seed=-1"), StartsWith("-1 is out of range"));
}

}  // namespace
}  // namespace moesim
