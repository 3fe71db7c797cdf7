// What text format may look like, and where its mistakes are said to be. The schema is the
// cluster's, the smallest.
#include <gmock/gmock.h>

#include "sim/io/cluster.h"
#include "tests/unit/io/error_of.h"

namespace moesim {
namespace {

using testing::HasSubstr;

constexpr const char* kPorts = "intra_node { rate: '8 GB/s' } inter_node { rate: '8 Gb/s' }";

std::string error_in(const std::string& text) {
  return error_of([&text] { parse_cluster(text, "c.txtpb"); });
}

TEST(TextFormatTest, TakesCommentsSeparatorsAndJoinedStrings) {
  const Cluster cluster = parse_cluster(std::string("# a comment\n"
                                                    "name: \"two\"  # another\n"
                                                    "      ' words',\n"
                                                    "num_nodes: 2; gpus_per_node: 4\n"
                                                    "gpu_memory: \"1 GiB\"\n") +
                                            kPorts,
                                        "c.txtpb");
  EXPECT_EQ(cluster.name, "two words");
  EXPECT_EQ(cluster.num_gpus(), 8);
}

// As some editors write it. It takes no column: mistakes are where the editor shows them.
TEST(TextFormatTest, MayStartWithAByteOrderMark) {
  const std::string text =
      std::string("\xef\xbb\xbfnum_nodes: 2 gpus_per_node: 4 ") + "gpu_memory: '1 GiB' " + kPorts;
  EXPECT_EQ(parse_cluster(text, "c.txtpb").num_gpus(), 8);
  EXPECT_THAT(error_in("\xef\xbb\xbfnum_node: 3"), HasSubstr("c.txtpb:1:1: no field"));
}

TEST(TextFormatTest, UnknownFieldIsLocatedAtItsName) {
  EXPECT_EQ(error_in("num_nodes: 2\n  num_node: 3\n"),
            "c.txtpb:2:3: no field \"num_node\" in Cluster; did you mean \"num_nodes\"?");
  EXPECT_EQ(error_in("intra_node { latency_us: 3 }"),
            "c.txtpb:1:14: no field \"latency_us\" in Port; did you mean \"latency\"?");
  EXPECT_EQ(error_in("intra_node { colour: 3 }"),
            "c.txtpb:1:14: no field \"colour\" in Port; use one of rate, latency");
}

// Protobuf's own parser lets the first pass, whose value is zero, and puts the second on line 3.
TEST(TextFormatTest, FieldGivenTwiceIsLocatedAtTheSecond) {
  EXPECT_EQ(error_in("num_nodes: 0 num_nodes: 3"),
            "c.txtpb:1:14: \"num_nodes\" is given twice; keep one of them");
  EXPECT_EQ(error_in("num_nodes: 2\n num_nodes\n: 3"),
            "c.txtpb:2:2: \"num_nodes\" is given twice; keep one of them");
  EXPECT_EQ(error_in("intra_node { } intra_node { }"),
            "c.txtpb:1:16: \"intra_node\" is given twice; keep one of them");
}

TEST(TextFormatTest, WrongTypeIsLocatedAtTheValue) {
  EXPECT_EQ(error_in("num_nodes: \"2\""),
            "c.txtpb:1:12: num_nodes: \"2\" is not a whole number; write one such as 4");
  EXPECT_EQ(error_in("num_nodes: 2.5"),
            "c.txtpb:1:12: num_nodes: 2.5 is not a whole number; write one such as 4");
  EXPECT_EQ(error_in("num_nodes: 010"),
            "c.txtpb:1:12: num_nodes: 010 is not a whole number; write one such as 4");
  EXPECT_EQ(error_in("num_nodes: 0x10"),
            "c.txtpb:1:12: num_nodes: 0x10 is not a whole number; write one such as 4");
  EXPECT_EQ(error_in("num_nodes: -99999999999"),
            "c.txtpb:1:12: num_nodes: -99999999999 is out of range; write a number from "
            "-2147483648 to 2147483647");
  EXPECT_EQ(error_in("num_nodes: [1, 2]"),
            "c.txtpb:1:1: num_nodes: a list where one value belongs; write the value alone");
  EXPECT_EQ(error_in("num_nodes { }"),
            "c.txtpb:1:1: num_nodes: a group of fields where one value belongs; write the value "
            "alone");
  EXPECT_EQ(error_in("name: two"), "c.txtpb:1:7: name: two is not quoted; write \"two\"");
  EXPECT_EQ(error_in("intra_node: 3"),
            "c.txtpb:1:13: \"intra_node\" is a group of fields; write intra_node { } with its "
            "fields, such as rate");
}

TEST(TextFormatTest, SyntaxErrorsSayWhatIsMissing) {
  EXPECT_EQ(error_in("num_nodes 2"),
            "c.txtpb:1:11: a colon is missing after \"num_nodes\"; write num_nodes: value or "
            "num_nodes { fields }");
  EXPECT_EQ(error_in("num_nodes: }"),
            "c.txtpb:1:12: \"}\" is no value; write a number, a word or \"text\"");
  EXPECT_EQ(error_in("num_nodes:"),
            "c.txtpb:1:11: the end of the file is no value; write a number, a word or \"text\"");
  EXPECT_EQ(error_in("3: 4"), "c.txtpb:1:1: \"3\" is no field name; write name: value");
  EXPECT_EQ(error_in("\nintra_node {\n rate: '1 B/s'\n"),
            "c.txtpb:2:12: this bracket is never closed; add }");
  EXPECT_EQ(error_in("name: [1"),
            "c.txtpb:1:9: the end of the file within a list; put a comma or "
            "] before it");
  EXPECT_EQ(error_in("name: [1, ]"),
            "c.txtpb:1:11: a value is missing after the comma; add it or remove the comma");
  EXPECT_THAT(error_in("name: \"x\n"), HasSubstr("c.txtpb:1:9: String literals cannot cross"));
  EXPECT_THAT(error_in("name: \"\\q\""), HasSubstr("c.txtpb:1:"));
}

TEST(TextFormatTest, RefusesDeepNesting) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) {
    text += "intra_node {";
  }
  EXPECT_THAT(error_in(text), HasSubstr("more than 32 levels; nest fewer"));
}

TEST(TextFormatTest, RefusesTextThatIsNoUtf8) {
  EXPECT_EQ(error_in("name: \"\xff\""),
            "c.txtpb:1:7: name: the text is not valid UTF-8; save the file as UTF-8");
  EXPECT_EQ(error_in("name: \"\\355\\240\\200\""),  // a lone surrogate
            "c.txtpb:1:7: name: the text is not valid UTF-8; save the file as UTF-8");
}

TEST(TextFormatTest, MissingFieldIsLocatedAtTheMessage) {
  EXPECT_EQ(error_in(""), "c.txtpb:1:1: Cluster has no \"num_nodes\"; add it");
  EXPECT_EQ(error_in("num_nodes: 2 gpus_per_node: 4 gpu_memory: '1 GiB'\n  intra_node { }"),
            "c.txtpb:2:3: Port has no \"rate\"; add it");
}

}  // namespace
}  // namespace moesim
