// What nccl-tests prints, and what else stands in its logs. Times are made up: 1 MiB in 100 us is
// 1048576 / 100e-6 / 1e9 = 10.49 GB/s (algbw).
#include "calibration/nccl_log.h"

#include <gmock/gmock.h>

#include "tests/unit/io/error_of.h"

namespace moesim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kHead =
    "# nccl-tests version 2.17.8 nccl-headers=22902 nccl-library=22902\n"
    "# Collective test starting: all_reduce_perf\n"
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 64 step: 2(factor)\n"
    "#\n"
    "# Using devices\n"
    "#  Rank  0 Group  0 Pid 11 on n1 device  0 [0000:43:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  1 Group  0 Pid 12 on n1 device  1 [0000:52:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  2 Group  0 Pid 21 on n2 device  0 [0000:43:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  3 Group  0 Pid 22 on n2 device  1 [0000:52:00] NVIDIA H100 80GB HBM3\n"
    "#\n"
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong     "
    "time "
    "  algbw   busbw  #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)"
    "  (GB/s)  (GB/s)\n";

// Of four ranks: busbw = 2 * 3/4 * algbw.
constexpr const char* kRow =
    "     1048576        262144     float     sum      -1   100.00   10.49   15.73       0   "
    "200.00    5.24    7.86       0\n";

NcclLog parse(const std::string& text, const NcclLogHints& hints = {}) {
  return parse_nccl_log("a.log", text, hints);
}

std::string refusal(const std::string& text, const NcclLogHints& hints = {}) {
  return error_of([&] { parse(text, hints); });
}

// The row of the log, given as hints what its table does not say.
NcclLog parse_rows(const std::string& collective, const Layout& layout, const std::string& rows) {
  return parse(rows, {collective, layout});
}

std::string dropped(const std::string& row) {
  const NcclLog log = parse(kHead + std::string(kRow) + row);
  return log.dropped.empty() ? "" : log.dropped.front().reason;
}

TEST(NcclLogTest, ATest) {
  const NcclLog log = parse(kHead + std::string(kRow));
  ASSERT_THAT(log.runs, SizeIs(1));
  const NcclRun& run = log.runs[0];
  EXPECT_EQ(run.collective, "all_reduce");
  EXPECT_EQ(run.layout, (Layout{2, 2}));
  EXPECT_THAT(run.environment,
              ElementsAre("nccl-tests version 2.17.8 nccl-headers=22902 nccl-library=22902",
                          "nThread 1 nGpus 1 minBytes 8 maxBytes 64 step: 2(factor)",
                          "NVIDIA H100 80GB HBM3"));
  ASSERT_THAT(run.rows, SizeIs(1));
  EXPECT_EQ(run.rows[0].bytes, 1048576);
  EXPECT_EQ(run.rows[0].line, 13);
  EXPECT_DOUBLE_EQ(run.rows[0].out_of_place->seconds, 100e-6);
  EXPECT_DOUBLE_EQ(run.rows[0].in_place->seconds, 200e-6);
  EXPECT_DOUBLE_EQ(run.rows[0].seconds(), 150e-6);  // their mean
  EXPECT_THAT(log.dropped, IsEmpty());
}

TEST(NcclLogTest, SeveralTestsInOneFile) {
  std::string second = kHead;
  second.replace(second.find("all_reduce"), 10, "sendrecv");
  // busbw of sendrecv is algbw.
  const NcclLog log =
      parse(kHead + std::string(kRow) + "# Out of bounds values : 0 OK\n" +
            "# Collective test concluded: all_reduce_perf\n\n" + second +
            "1048576 262144 float sum -1 100.00 10.49 10.49 0 200.00 5.24 5.24 N/A\n");
  ASSERT_THAT(log.runs, SizeIs(2));
  EXPECT_EQ(log.runs[0].collective, "all_reduce");
  EXPECT_EQ(log.runs[1].collective, "sendrecv");
  EXPECT_EQ(log.runs[1].rows[0].in_place, std::nullopt);  // NCCL has none
}

TEST(NcclLogTest, TheLauncherMayNameTheCollective) {
  std::string head = kHead;
  head.erase(head.find("# Collective"), head.find("# nThread") - head.find("# Collective"));
  EXPECT_EQ(parse("--- all_reduce_perf\n" + head + kRow).runs[0].collective, "all_reduce");
  EXPECT_EQ(parse("+ mpiexec -n 4 ./build/all_reduce_perf -b 8\n" + head + kRow).runs[0].collective,
            "all_reduce");
  EXPECT_EQ(parse(head + kRow, {"all_reduce", {}}).runs[0].collective, "all_reduce");
  EXPECT_THAT(refusal(head + kRow),
              HasSubstr("a.log:12: nothing before this row says which collective it is of; give "
                        "COLLECTIVE=FILE, such as all_gather=a.log"));
}

TEST(NcclLogTest, CarriageReturnsTagsAndIndentation) {
  const std::string text = kHead + std::string(kRow);
  std::string returned;
  std::string tagged;
  std::string numbered;
  std::string indented;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    returned += line + "\r\n";
    tagged += "[1,0]<stdout>:" + line + "\n";
    numbered += " 0: " + line + "\n";
    indented += "    " + line + "\n";
    at = end + 1;
  }
  for (const std::string& variant : {returned, tagged, numbered, indented}) {
    const NcclLog log = parse(variant);
    ASSERT_THAT(log.runs, SizeIs(1)) << variant;
    EXPECT_EQ(log.runs[0].layout, (Layout{2, 2}));
    EXPECT_EQ(log.runs[0].rows[0].line, 13);
    EXPECT_THAT(log.dropped, IsEmpty()) << log.dropped.front().reason;
  }
}

TEST(NcclLogTest, LinesOfNcclBetweenRows) {
  const NcclLog log =
      parse(kHead +
            std::string("n1:3442:3442 [0] NCCL INFO NCCL_IB_HCA set by environment to "
                        "mlx5_0.\nn1:3442:3442 [0] NCCL INFO Launch mode Parallel\n") +
            kRow + "n1:1:2 [0] NCCL INFO comm 0x5 rank 0 nranks 4\n" + kRow);
  EXPECT_THAT(log.runs[0].rows, SizeIs(2));
  EXPECT_THAT(log.dropped, IsEmpty());
  EXPECT_EQ(log.runs[0].environment[0].substr(0, 10), "nccl-tests");
  EXPECT_EQ(log.runs[0].environment[1], "NCCL_IB_HCA=mlx5_0");
}

TEST(NcclLogTest, OldColumns) {
  const Layout layout{1, 8};  // all_reduce: busbw = 2 * 7/8 * algbw = 18.35 and 9.18
  // No root; `error` instead of `#wrong`.
  NcclLog log = parse_rows(
      "all_reduce", layout, "1048576 262144 float sum 100.0 10.49 18.35 4e-07 200.0 5.24 9.18 N/A");
  EXPECT_DOUBLE_EQ(log.runs[0].rows[0].seconds(), 150e-6);
  // Out of place only.
  log = parse_rows("all_reduce", layout, "1048576 262144 float sum 100.0 10.49 18.35 4e-07");
  EXPECT_DOUBLE_EQ(log.runs[0].rows[0].seconds(), 100e-6);
  // A blank operator; a part's count: 32768 * 4 * 8 = 1048576; busbw = 7/8 * 10.49 = 9.18.
  log = parse_rows("alltoall", layout, "1048576 32768 float 100.0 10.49 9.18 0e+00 1.0 1 1 1e+00");
  EXPECT_DOUBLE_EQ(log.runs[0].rows[0].seconds(), 100e-6);
  EXPECT_THAT(log.dropped, IsEmpty());
}

TEST(NcclLogTest, UnusableRowsAreListed) {
  EXPECT_EQ(dropped("0 0 float sum -1 9.00 0.00 0.00 0 9.02 0.00 0.00 0"),
            "size 0: nothing was sent");
  EXPECT_THAT(dropped("1048576 2621"), HasSubstr("cut off"));
  EXPECT_THAT(dropped("1048576 262144 float sum -1 100.00 10.49"), HasSubstr("7 columns"));
  EXPECT_THAT(dropped("1048576 262144 float sum -1 100.00 10.49 15.73 0 20"),
              HasSubstr("10 columns"));
  // Cut inside a number: "100.00" became "1".
  EXPECT_THAT(dropped("1048576 262144 float sum -1 1 10.49 15.73 0"),
              HasSubstr("algbw is not size over time: 10.49 against 1048.58"));
  EXPECT_THAT(dropped("1048576262144 float sum -1 100.00 10.49 15.73 0 200.00 5.24 7.86 0"),
              HasSubstr("fused or shifted"));
  EXPECT_THAT(dropped("1048576 262143 float sum -1 100.00 10.49 15.73 0 200.00 5.24 7.86 0"),
              HasSubstr("size 1048576 is not 262143 x float of 4 bytes"));
  EXPECT_THAT(dropped("1048576 262144 float sum -1 100.00 10.49 18.35 0 200.00 5.24 9.18 0"),
              HasSubstr("busbw is 18.35 and not the 15.73 of this collective and number of ranks"));
  EXPECT_THAT(dropped("1048576 262144 float sum -1 N/A N/A N/A N/A N/A N/A N/A N/A"),
              HasSubstr("out of place: \"N/A\" is no number"));
  EXPECT_THAT(dropped("1048576 262144 float sum -1 0.00 10.49 15.73 0 0.00 5.24 7.86 0"),
              HasSubstr("no time that a transfer takes (0.00 us)"));
  EXPECT_THAT(dropped("1048576 262144 float sum -1 0.05 20971.5 31457.3 0"),
              HasSubstr("31457.3 GB/s is more than any link carries"));
  EXPECT_THAT(dropped("1048576 262144 float sum -1 100.00 10.49 15.73 12"),
              HasSubstr("its result was wrong (12)"));
  EXPECT_THAT(dropped("1048576 262144 float sum -1 100.00 10.49 15.73 1e+00"),
              HasSubstr("its result was wrong (1e+00)"));
}

// What is wrong with one half leaves the other.
TEST(NcclLogTest, ABadHalfIsListed) {
  const auto only = [](const std::string& row) {
    const NcclLog log = parse(kHead + row);
    EXPECT_THAT(log.dropped, SizeIs(1));
    return log.runs[0].rows[0].seconds();
  };
  EXPECT_DOUBLE_EQ(only("1048576 262144 float sum -1 100.00 10.49 15.73 0 N/A N/A N/A N/A"), 1e-4);
  EXPECT_DOUBLE_EQ(only("1048576 262144 float sum -1 100.00 10.49 15.73 7 200.00 5.24 7.86 0"),
                   2e-4);
  // 5.24 us beside 100: 200 GB/s in place.
  EXPECT_DOUBLE_EQ(only("1048576 262144 float sum -1 100.00 10.49 15.73 0 5.24 200.1 300.2 0"),
                   1e-4);
}

TEST(NcclLogTest, ALogWithoutRowsSaysWhatItIs) {
  EXPECT_EQ(refusal(""), "a.log: it is empty; give what a test of nccl-tests printed");
  EXPECT_EQ(refusal("launch failed on x: no port\n"),
            "a.log: no output of nccl-tests: it says \"launch failed on x: no port\"; give what a "
            "test such as all_reduce_perf printed");
  EXPECT_EQ(refusal(kHead + std::string("n1: Test NCCL failure common.cu:1012\n")),
            "a.log: an nccl-tests log of 4 ranks without any row; run the test again: it failed "
            "with \"n1: Test NCCL failure common.cu:1012\"");
  EXPECT_EQ(refusal(kHead + std::string("0 0 float sum -1 9.0 0.0 0.0 0\n")),
            "a.log:13: none of 1 rows is usable; this one: size 0: nothing was sent");
}

TEST(NcclLogTest, RanksMustBeKnownAndEven) {
  EXPECT_THAT(refusal(kRow, {"all_reduce", {}}), HasSubstr("a.log:1: no line before this row"));
  EXPECT_THAT(refusal(kRow, {"all_reduce", Layout{1, 1}}), HasSubstr("moves nothing"));
  std::string uneven = kHead;
  uneven.replace(uneven.find("on n2"), 5, "on n1");
  EXPECT_THAT(refusal(uneven + kRow),
              HasSubstr("a.log:13: 3 ranks on n1 and 1 on n2: nodes with different numbers"));
}

TEST(NcclCollectiveTest, BusbwFactors) {
  // nccl-tests, doc/PERFORMANCE.md, for 8 ranks.
  EXPECT_DOUBLE_EQ(busbw_factor(*find_nccl_collective("all_reduce_perf"), 8), 1.75);
  for (const char* name : {"all_gather", "reduce_scatter", "alltoall", "gather", "scatter"}) {
    EXPECT_DOUBLE_EQ(busbw_factor(*find_nccl_collective(name), 8), 0.875) << name;
  }
  for (const char* name : {"broadcast", "reduce", "sendrecv"}) {
    EXPECT_DOUBLE_EQ(busbw_factor(*find_nccl_collective(name), 8), 1) << name;
  }
  EXPECT_EQ(find_nccl_collective("all_redu"), nullptr);
  EXPECT_EQ(nccl_collective(CollectiveOperation::kShift).name, "sendrecv");
}

}  // namespace
}  // namespace moesim
