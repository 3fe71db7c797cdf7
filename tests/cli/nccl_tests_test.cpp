// calibrate --nccl-tests and predict-collective, on logs written here: an all-gather that takes
// 10 us for each other rank and (n-1)/n of its bytes at 10 GB/s.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/cli/moesim_runner.h"

namespace moesim {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::string ranks_of(int nodes, int gpus) {
  std::string text;
  for (int rank = 0; rank < nodes * gpus; ++rank) {
    text += fmt::format(
        "#  Rank {} Group 0 Pid 1 on n{} device {} [0x07] A100\n", rank, rank / gpus, rank % gpus);
  }
  return text;
}

double gather_us(int ranks, double bytes) {
  return 10 * (ranks - 1) + bytes * (ranks - 1) / ranks / 10e3;
}

std::string gather_log(int nodes, int gpus, double slower = 1) {
  const int ranks = nodes * gpus;
  std::string text = "# Collective test starting: all_gather_perf\n" + ranks_of(nodes, gpus);
  for (std::int64_t bytes = 1 << 16; bytes <= 1 << 26; bytes *= 2) {
    const double us = slower * gather_us(ranks, static_cast<double>(bytes));
    const double algbw = static_cast<double>(bytes) / us / 1e3;
    text += fmt::format("{} {} float none -1 {:.3f} {:.2f} {:.2f} 0\n",
                        bytes,
                        bytes / 4 / ranks,
                        us,
                        algbw,
                        algbw * (ranks - 1) / ranks);
  }
  return text;
}

class NcclTestsTest : public testing::Test {
 protected:
  void SetUp() override {
    workspace_.write("cluster.txtpb",
                     "num_nodes: 16 gpus_per_node: 4 gpu_memory: '40 GiB'\n"
                     "intra_node { rate: '300 GB/s' } inter_node { rate: '10 GB/s' }\n");
    workspace_.write("two.log", gather_log(2, 4));
    workspace_.write("eight.log", gather_log(8, 4));
    workspace_.write("sixteen.log", gather_log(16, 4));
  }

  Outcome calibrate(std::vector<std::string> words) const {
    words.insert(words.begin(), {"calibrate", "--cluster", "cluster.txtpb", "--nccl-tests"});
    return workspace_.run(words);
  }

  Workspace workspace_;
};

TEST_F(NcclTestsTest, LogsBecomeAProfileThatPredictsALayout) {
  const Outcome made = calibrate({"two.log", "eight.log", "--out", "p.txtpb"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("ALL_GATHER on 2 nodes x 4 GPUs: n = 11, start-up 10.0"));
  EXPECT_THAT(made.out, HasSubstr("p.txtpb: 2 collectives\n"));
  EXPECT_THAT(workspace_.read("p.txtpb"), HasSubstr("num_nodes: 8"));
  const Outcome predicted = workspace_.run({"predict-collective",
                                            "--profile",
                                            "p.txtpb",
                                            "--operation",
                                            "all_gather",
                                            "--against",
                                            "sixteen.log"});
  EXPECT_EQ(predicted.exit_code, 0) << predicted.err;
  EXPECT_THAT(predicted.out,
              StartsWith("# moesim predict-collective: ALL_GATHER on 16 nodes x 4 GPUs, profile "
                         "cluster_nccl_tests\n# Basis: from 8 nodes x 4 GPUs by more steps\n"));
  // The logs follow the law: 64 MiB, 63 * 10 us + 63/64 * 67108864 / 10e3 us = 7236.03 us.
  EXPECT_THAT(predicted.out, HasSubstr("67108864        262144     float    7236.0"));
  EXPECT_THAT(predicted.out, HasSubstr("# Absolute error over 11 sizes: median 0."));
}

// The laws know no NICs. On 16 nodes of 4 GPUs 64 MiB take 7236 us (above): 9.27 GB/s, of which
// 63/64/4 pass each NIC, 2.28 GB/s; 1 MiB takes 630 + 103 us, 0.35 GB/s.
TEST_F(NcclTestsTest, AWireRateThatNoNicCarriesIsSaid) {
  calibrate({"two.log", "eight.log", "--out", "p.txtpb"});
  const auto predicted = [this](const std::string& rate) {
    workspace_.write("slow.txtpb",
                     "num_nodes: 16 gpus_per_node: 4 gpu_memory: '40 GiB'\n"
                     "intra_node { rate: '300 GB/s' } inter_node { rate: '" +
                         rate + "' }\n");
    return workspace_
        .run({"predict-collective",
              "--profile",
              "p.txtpb",
              "--cluster",
              "slow.txtpb",
              "--operation",
              "all_gather",
              "--sizes",
              "1MiB,64MiB"})
        .out;
  };
  EXPECT_THAT(predicted("2 GB/s"),
              HasSubstr("# More than the NICs carry, 2 GB/s a GPU: the wire rate at 1 size, 2.28 "
                        "GB/s at most; these times are too short\n"));
  EXPECT_THAT(predicted("3 GB/s"), testing::Not(HasSubstr("More than the NICs carry")));
}

// 64 MiB on 2 nodes of 4 GPUs take 70 us and 7/8 of the bytes at 10 GB/s: 11.3 GB/s of the buffer.
// Of each byte 7/32 pass a port between nodes: at 2 GB/s these allow 9.1 GB/s, at 5 GB/s 22.9, at
// 20 GB/s 91.4.
TEST_F(NcclTestsTest, RatesThatAreNotTheClustersAreWarnedOf) {
  const auto report = [this](const std::string& rate) {
    return calibrate({"two.log", "--out", "p.txtpb", "--set", "cluster.inter_node.rate=" + rate})
        .out;
  };
  EXPECT_THAT(
      report("2 GB/s"),
      HasSubstr("Warning: ALL_GATHER on 2 nodes x 4 GPUs reached 11.29 GB/s, 123.5 % of what "
                "links of cluster 'cluster' allow; give the cluster that it ran on"));
  EXPECT_THAT(report("5 GB/s"), testing::Not(HasSubstr("Warning")));
  EXPECT_THAT(report("20 GB/s"), HasSubstr("12.4 % of what links of cluster 'cluster' allow; if"));
}

TEST_F(NcclTestsTest, LogsThatAreNotOfTheClusterAreWarnedOf) {
  EXPECT_THAT(calibrate({"two.log", "sixteen.log", "--out", "p.txtpb"}).out,
              testing::Not(HasSubstr("has 16 nodes")));
  EXPECT_THAT(
      calibrate({"sixteen.log", "--out", "p.txtpb", "--set", "cluster.num_nodes=8"}).out,
      HasSubstr("Warning: all_gather on 16 nodes x 4 GPUs in sixteen.log, but cluster 'cluster' "
                "has 8 nodes; give the cluster that it ran on\n"));
}

// All times of the one are 1.05, 1.9 or 2.5 times those of the other. Sizes follow the 8 ranks'
// lines and the test's name: 64 KiB on line 10. The profile has the shorter: 70 us + 7/8 of 64 KiB
// at 10 GB/s are 75.734 us.
TEST_F(NcclTestsTest, LogsThatContradictEachOtherAreWarnedOf) {
  workspace_.write("steady.log", gather_log(2, 4, 1.05));
  workspace_.write("slow.log", gather_log(2, 4, 1.9));
  workspace_.write("slower.log", gather_log(2, 4, 2.5));
  EXPECT_THAT(calibrate({"two.log", "steady.log", "--out", "p.txtpb"}).out,
              testing::Not(HasSubstr("times as long")));
  EXPECT_THAT(
      calibrate({"slow.log", "two.log", "--out", "p.txtpb"}).out,
      testing::ContainsRegex(
          "Warning: all_gather on 2 nodes x 4 GPUs: [0-9]+ bytes took 1.90 times as long at "
          "slow.log:([0-9]+) as at two.log:[0-9]+; the profile takes the median of all, of two "
          "the shorter time\n"));
  EXPECT_THAT(workspace_.read("p.txtpb"), testing::ContainsRegex("time: \"75.73[0-9]* us\""));
  EXPECT_THAT(
      calibrate({"two.log", "eight.log", "slower.log", "--out", "p.txtpb"}).out,
      testing::ContainsRegex("took 2.50 times as long at slower.log:[0-9]+ as at two.log:[0-9]+; "
                             ".*; leave out the log that is not of this machine\n"));
}

// The interval of twice the nodes is the profile's, a factor of 1.3 for each four times the ranks,
// so its root here; of what it has not measured there is none.
TEST_F(NcclTestsTest, AnAlgorithmHasTheIntervalThatTheProfileTells) {
  calibrate({"two.log", "--out", "p.txtpb"});
  const auto predicted = [this](const std::string& algorithm) {
    return workspace_
        .run({"predict-collective",
              "--profile",
              "p.txtpb",
              "--cluster",
              "cluster.txtpb",
              "--nodes",
              "4",
              "--operation",
              "ALL_GATHER",
              "--sizes",
              "1MiB",
              "--algorithm",
              algorithm})
        .out;
  };
  EXPECT_THAT(predicted("RING"), testing::ContainsRegex(" +[0-9.]+ +[0-9.]+ \\*"));
  EXPECT_THAT(predicted("IN_SWITCH"), HasSubstr("          -          - *"));
}

TEST_F(NcclTestsTest, TheProfileGoesToStandardOutput) {
  const Outcome made = calibrate({"two.log"});
  EXPECT_EQ(made.exit_code, 0);
  EXPECT_THAT(made.out, StartsWith("name: \"cluster_nccl_tests\"\n"));
  EXPECT_THAT(made.out, HasSubstr("source: \"nccl-tests logs two.log\""));
  EXPECT_THAT(made.err, HasSubstr("from other sizes"));
}

TEST_F(NcclTestsTest, SizesAndLayoutsAreChosen) {
  calibrate({"two.log", "eight.log", "--out", "p.txtpb"});
  const Outcome predicted = workspace_.run({"predict-collective",
                                            "--profile",
                                            "p.txtpb",
                                            "--operation",
                                            "ALL_GATHER",
                                            "--cluster",
                                            "cluster.txtpb",
                                            "--nodes",
                                            "2",
                                            "--sizes",
                                            "1MiB..4MiB"});
  EXPECT_EQ(predicted.exit_code, 0) << predicted.err;
  EXPECT_THAT(predicted.out, HasSubstr("# Basis: measured\n"));
  // 1 MiB on 8 ranks: 70 us + 7/8 * 1048576 / 10e3 us = 161.75 us; algbw 6.48, busbw 5.67 GB/s, and
  // a quarter of that over each NIC.
  EXPECT_THAT(predicted.out,
              HasSubstr("     1048576         32768     float     161.75    6.48    5.67    1.42"));
  EXPECT_THAT(predicted.out, HasSubstr("\n     4194304"));
  EXPECT_THAT(predicted.out, testing::Not(HasSubstr("\n     8388608")));
}

// Logs are read and nothing is run: what says how to run is refused, not ignored.
TEST_F(NcclTestsTest, OptionsWithoutEffectAreRefused) {
  const auto refusal = [this](std::vector<std::string> words) {
    const Outcome outcome = calibrate(std::move(words));
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.out, IsEmpty());
    return outcome.err;
  };
  for (const std::vector<std::string>& option :
       std::vector<std::vector<std::string>>{{"--gpu-probes", "probes.json"},
                                             {"--gpus", "each"},
                                             {"--backend", "cpu", "--storage", "fp32"},
                                             {"--graph"},
                                             {"--ctas", "4"},
                                             {"--gemm-sms", "4"},
                                             {"--runs", "3"},
                                             {"--spread", "5%"},
                                             {"--backend", "cuda"}}) {
    std::vector<std::string> words = {"two.log"};
    words.insert(words.end(), option.begin(), option.end());
    EXPECT_THAT(refusal(words), HasSubstr("has no effect on logs, which are read")) << option[0];
  }
  EXPECT_THAT(refusal({"two.log", "--algorithm", "ALL_GATHER=RING"}),
              HasSubstr("--algorithm ALL_GATHER=RING chooses among collectives of a profile"));
  for (const char* field : {"model.layers=2", "profile.gemm.startup=1us"}) {
    EXPECT_THAT(refusal({"two.log", "--set", field}), HasSubstr("has no effect on logs"));
  }
}

TEST_F(NcclTestsTest, MistakesAreNamed) {
  workspace_.write("bad.log", "launch failed\n");
  const auto refusal = [&](std::vector<std::string> words) {
    const Outcome outcome = workspace_.run(words);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.out, IsEmpty());
    return outcome.err;
  };
  EXPECT_THAT(refusal({"calibrate", "--cluster", "cluster.txtpb", "--nccl-tests", "bad.log"}),
              StartsWith("bad.log: no output of nccl-tests: it says \"launch failed\""));
  EXPECT_THAT(refusal({"calibrate", "--nccl-tests", "two.log"}), HasSubstr("give --cluster FILE"));
  EXPECT_THAT(refusal({"calibrate", "s.txtpb", "--cluster", "c", "--nccl-tests", "two.log"}),
              HasSubstr("probes or logs; leave one out"));
  EXPECT_THAT(refusal({"calibrate", "s.txtpb", "--layout", "2x4"}), HasSubstr("--nccl-tests FILE"));
  EXPECT_THAT(refusal({"calibrate", "--cluster", "cluster.txtpb", "--nccl-tests", "all=two.log"}),
              HasSubstr("there is no collective \"all\""));
  EXPECT_THAT(refusal({"calibrate",
                       "--cluster",
                       "cluster.txtpb",
                       "--nccl-tests",
                       "two.log",
                       "--layout",
                       "0x4"}),
              HasSubstr("--layout '0x4' is not understood; give nodes x GPUs"));
  const auto calibrating = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"calibrate", "--cluster", "cluster.txtpb", "--nccl-tests"});
    return refusal(words);
  };
  EXPECT_THAT(calibrating({"all_reduce=two.log"}),
              HasSubstr("two.log: it says itself that it is of all_gather, not of all_reduce"));
  EXPECT_THAT(
      calibrating({"two.log", "--layout", "4x2"}),
      HasSubstr("two.log: the ranks that it lists are on 2 nodes x 4 GPUs, not on 4 nodes x "
                "2 GPUs; leave out --layout"));
  workspace_.write("wide.log", gather_log(2, 8));
  EXPECT_THAT(refusal({"calibrate", "--cluster", "cluster.txtpb", "--nccl-tests", "wide.log"}),
              HasSubstr("nodes of cluster 'cluster' have 4 GPUs"));
  calibrate({"two.log", "--out", "p.txtpb"});
  const std::vector<std::string> predict = {"predict-collective", "--profile", "p.txtpb"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = predict;
    words.insert(words.end(), more.begin(), more.end());
    return refusal(words);
  };
  EXPECT_THAT(with({}), HasSubstr("no operation is given"));
  EXPECT_THAT(with({"--operation", "ALL_GATHER"}), HasSubstr("give --nodes N --gpus G"));
  EXPECT_THAT(with({"--operation", "ALL_GATHR"}), HasSubstr("did you mean \"ALL_GATHER\"?"));
  EXPECT_THAT(with({"--operation", "ALL_REDUCE", "--nodes", "2", "--gpus", "4"}),
              HasSubstr("does not tell what ALL_REDUCE takes on 2 nodes x 4 GPUs"));
  EXPECT_THAT(with({"--operation", "ALL_REDUCE", "--against", "two.log"}),
              StartsWith("two.log: no all_reduce; it has all_gather on 2 nodes x 4 GPUs"));
  EXPECT_THAT(with({"--operation", "ALL_GATHER", "--nodes", "2", "--gpus", "4", "--sizes", "4"}),
              HasSubstr("--sizes '4' is not understood"));
}

}  // namespace
}  // namespace moesim
