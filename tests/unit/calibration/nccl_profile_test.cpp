// Profiles from logs: times made of t = startup + bytes * slope.
#include "calibration/nccl_profile.h"

#include <cmath>

#include <gmock/gmock.h>

#include "calibration/measured_nccl.h"
#include "calibration/nccl_report.h"
#include "sim/collective/layout_model.h"
#include "tests/unit/io/error_of.h"

namespace moesim {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr double kRelative = 1e-6;

NcclRun make_run(const std::string& collective,
                 const Layout& layout,
                 double startup,
                 double slope) {
  NcclRun run{.collective = collective, .layout = layout, .environment = {"float"}, .rows = {}};
  for (std::int64_t bytes = 1024; bytes <= 1 << 20; bytes *= 2) {
    NcclRow row{.line = 1, .bytes = bytes, .out_of_place = {}, .in_place = {}};
    row.out_of_place = NcclHalf{.seconds = startup + slope * static_cast<double>(bytes)};
    run.rows.push_back(row);
  }
  return run;
}

NcclCalibration calibrate_runs(const std::vector<NcclRun>& runs) {
  return calibrate_from_logs({NcclLog{.path = "logs/a.log", .runs = runs, .dropped = {}}});
}

TEST(NcclProfileTest, ATableItsLayoutAndItsStartup) {
  const NcclCalibration result = calibrate_runs({make_run("all_gather", {1, 8}, 7e-5, 1e-9),
                                                 make_run("alltoall", {4, 1}, 3e-5, 1e-9),
                                                 make_run("all_reduce", {2, 4}, 7e-5, 1e-9)});
  EXPECT_EQ(result.profile.source, "nccl-tests logs a.log");
  EXPECT_THAT(result.profile.environment, ElementsAre("float"));
  ASSERT_THAT(result.profile.collectives, SizeIs(3));
  const CollectiveCost& reduce = result.profile.collectives[0];
  EXPECT_EQ(reduce.operation, CollectiveOperation::kAllReduce);
  EXPECT_EQ(reduce.span, Span::kBoth);
  EXPECT_EQ(reduce.group_size, 8);
  EXPECT_EQ(reduce.num_nodes, 2);
  const CollectiveCost& gather = result.profile.collectives[1];
  EXPECT_EQ(gather.span, Span::kNode);
  EXPECT_EQ(gather.startup_per, StartupPer::kPeer);
  EXPECT_NEAR(gather.startup_seconds, 1e-5, 1e-5 * kRelative);  // 70 us over 7 others
  ASSERT_THAT(gather.points, SizeIs(11));
  EXPECT_EQ(gather.points[0].size, 1024);
  EXPECT_NEAR(gather.points[0].seconds, 7e-5 + 1024e-9, 1e-5 * kRelative);
  EXPECT_EQ(gather.fit.num_samples, 11);
  EXPECT_GT(gather.fit.r_squared, 0.999);
  const CollectiveCost& exchange = result.profile.collectives[2];
  EXPECT_EQ(exchange.span, Span::kFabric);
  EXPECT_EQ(exchange.num_nodes, 4);
  EXPECT_TRUE(result.entries[0].line_holds);
  // What is written reads the same.
  Profile profile = result.profile;
  profile.name = "p";
  const std::string text = profile_to_text(profile);
  EXPECT_EQ(profile_to_text(parse_profile(text, "p.txtpb")), text);
}

// From 8 to 32 ranks: 70 us to 310 us is 10 us for each other rank; 70 to 100 us is not: ln(100/70)
// = 0.36 is less than half of ln(31/7) = 1.49.
TEST(NcclProfileTest, SeveralRankCountsTellHowStartupGrows) {
  const auto per = [](double least, double most) {
    const NcclCalibration result = calibrate_runs(
        {make_run("alltoall", {2, 4}, least, 1e-9), make_run("alltoall", {8, 4}, most, 1e-9)});
    return result.profile.collectives[0].startup_per;
  };
  EXPECT_EQ(per(70e-6, 310e-6), StartupPer::kPeer);
  EXPECT_EQ(per(70e-6, 100e-6), StartupPer::kTask);
}

TEST(NcclProfileTest, TestsOfOneLayoutAreOneTable) {
  NcclRun slow = make_run("all_gather", {1, 8}, 7e-5, 1e-9);
  for (NcclRow& row : slow.rows) {
    row.out_of_place->seconds *= 3;
  }
  const NcclRun fast = make_run("all_gather", {1, 8}, 7e-5, 1e-9);
  const NcclCalibration result = calibrate_runs({fast, slow, fast});
  ASSERT_THAT(result.entries, SizeIs(1));
  EXPECT_EQ(result.entries[0].line.fit.num_samples, 33);
  EXPECT_NEAR(result.entries[0].points[0].measured_seconds, 7e-5 + 1024e-9, 1e-9);  // the median
}

TEST(NcclProfileTest, WhatNoLineFitsHasNoFit) {
  NcclRun run = make_run("all_gather", {1, 8}, 7e-5, 1e-9);
  run.rows[5].out_of_place->seconds *= 1.5;
  const NcclCalibration result = calibrate_runs({run});
  EXPECT_FALSE(result.entries[0].line_holds);
  EXPECT_EQ(result.profile.collectives[0].fit.r_squared, 0);
  EXPECT_EQ(result.profile.collectives[0].fit.num_samples, 11);
}

// The others lie on a line, which goes through 4 KiB.
TEST(NcclProfileTest, EachSizeFromTheOthers) {
  const NcclCalibration result = calibrate_runs({make_run("sendrecv", {1, 2}, 1e-5, 1e-8)});
  const std::vector<NcclPoint>& points = result.entries[0].points;
  EXPECT_EQ(points.front().without_seconds, 0);
  EXPECT_EQ(points.back().without_seconds, 0);
  EXPECT_NEAR(
      points[2].without_seconds, points[2].measured_seconds, 1e-9 * points[2].measured_seconds);
}

TEST(NcclProfileTest, WhatMoesimHasNotIsLeftOut) {
  const NcclCalibration result = calibrate_runs({make_run("reduce", {1, 8}, 7e-5, 1e-9)});
  EXPECT_THAT(result.entries, SizeIs(0));
  EXPECT_THAT(result.left_out,
              ElementsAre("a.log: reduce on 1 node x 8 GPUs: moesim has no such collective"));
}

TEST(NcclReportTest, SaysWhatItIsWorthAndWhatWasDropped) {
  NcclLog log{
      .path = "a.log",
      .runs = {make_run("all_gather", {1, 8}, 7e-5, 1e-9), make_run("reduce", {1, 8}, 7e-5, 1e-9)},
      .dropped = {{.line = 7, .reason = "size 0: nothing was sent"}}};
  const std::string report = nccl_report(calibrate_from_logs({log}), {log});
  EXPECT_THAT(report,
              HasSubstr("ALL_GATHER on 1 node x 8 GPUs: n = 11, start-up 10.00 us for each other "
                        "rank, line 1 GB/s, r2 1.000000"));
  EXPECT_THAT(report, HasSubstr("1 KiB    71.02 us  +0.0 %  +0.0 %                 -\n"));
  EXPECT_THAT(report, HasSubstr("Left out: a.log: reduce on 1 node x 8 GPUs"));
  EXPECT_THAT(report, HasSubstr("Dropped: a.log:7: size 0: nothing was sent\n"));
}

constexpr const char* kFigures = R"({"source": "s", "machine": "m", "runs": [
  {"collective": "all_gather", "nodes": 2, "gpus_per_node": 4, "environment": ["e"],
   "rows": [[1048576, 100, 200], [2097152, 200.5, null]]}]})";

TEST(MeasuredNcclTest, AreRunsOfALog) {
  const MeasuredNccl measured = parse_measured_nccl("f.json", kFigures);
  EXPECT_EQ(measured.source, "s");
  EXPECT_EQ(measured.machine, "m");
  ASSERT_THAT(measured.log.runs, SizeIs(1));
  const NcclRun& run = measured.log.runs[0];
  EXPECT_EQ(run.layout, (Layout{2, 4}));
  EXPECT_DOUBLE_EQ(run.rows[0].seconds(), 150e-6);
  EXPECT_DOUBLE_EQ(run.rows[1].seconds(), 200.5e-6);
  EXPECT_NEAR(run.rows[0].out_of_place->algbw, 10.48576, 1e-9);
  EXPECT_NEAR(run.rows[0].out_of_place->busbw, 10.48576 * 7 / 8, 1e-9);
}

TEST(MeasuredNcclTest, ErrorsNameTheField) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = kFigures;
    text.replace(text.find(from), from.size(), to);
    return error_of([&] { parse_measured_nccl("f.json", text); });
  };
  EXPECT_THAT(with("\"s\"", "s"), HasSubstr("f.json: not valid JSON"));
  EXPECT_THAT(with("all_gather", "all_gathe"),
              HasSubstr("f.json: runs[0].collective: no collective of nccl-tests; give one of"));
  EXPECT_THAT(with("\"nodes\": 2", "\"nodes\": 0"), HasSubstr("less than two ranks"));
  EXPECT_THAT(with("[1048576, 100, 200]", "[1048576, 100]"),
              HasSubstr("f.json: runs[0].rows[0]: give bytes, the time out of place"));
  EXPECT_THAT(with("200.5", "null"), HasSubstr("f.json: runs[0].rows[1]: both times are null"));
  EXPECT_THAT(with("\"machine\"", "\"machin\""), HasSubstr("unknown field 'machin'"));
}

}  // namespace
}  // namespace moesim
