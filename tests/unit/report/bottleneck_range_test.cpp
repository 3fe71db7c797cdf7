#include "sim/report/bottleneck_range.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "sim/report/result.h"

namespace moesim {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kLink = "node:*/nic:* -- switch:0/*";

PlacedIteration iteration(double seconds) {
  return {.seconds = seconds, .forward_degree = 4, .backward_degree = 2};
}

BottleneckPlacement at(const BottleneckChoice& within, const BottleneckChoice& between) {
  return {.spans = {Span::kNode, Span::kFabric}, .choices = {within, between}};
}

// Of two schedules at three placements: the second is 2, 1.5 and 1 times as fast.
BottleneckRange range_of_two() {
  const BottleneckChoice port{BottleneckPlace::kPort};
  BottleneckRange range;
  range.spans = {Span::kNode, Span::kFabric};
  range.schedules = {"base", "fast"};
  range.rows = {{at(port, port), {iteration(0.2), iteration(0.1)}},
                {at(port, {BottleneckPlace::kPrivate}), {iteration(0.15), iteration(0.1)}},
                {at(port, {BottleneckPlace::kLink, kLink}), {iteration(0.3), iteration(0.3)}}};
  add_speedups(range, "base");
  return range;
}

BottleneckRange range_of_one() {
  BottleneckRange range = range_of_two();
  range.schedules.pop_back();
  for (BottleneckRange::Row& row : range.rows) {
    row.of_schedule.pop_back();
    row.of_schedule.front().speedup.reset();
  }
  return range;
}

TEST(BottleneckRangeTest, SpeedUpsAreThoseOfEachPlacement) {
  const BottleneckRange range = range_of_two();
  EXPECT_DOUBLE_EQ(seconds_of(range, 0)->least, 0.15);
  EXPECT_DOUBLE_EQ(seconds_of(range, 0)->most, 0.3);
  EXPECT_DOUBLE_EQ(speedups_of(range, 1)->least, 1);
  EXPECT_DOUBLE_EQ(speedups_of(range, 1)->most, 2);
}

TEST(BottleneckRangeTest, OfOneScheduleEveryRowIsShown) {
  EXPECT_EQ(to_table(range_of_one()), R"(
iteration by where the measured times are spent (bottleneck), 3 ways
  within nodes  between nodes          iteration
  ------------  --------------------  ----------
  PORT          PORT                  200.000 ms
  PORT          PRIVATE               150.000 ms
  PORT          LINK nic -- switch:0  300.000 ms
  ------------  --------------------  ----------
  least                               150.000 ms
  most                                300.000 ms
)");
}

TEST(BottleneckRangeTest, OfSeveralSchedulesTheExtents) {
  BottleneckRange range = range_of_two();
  range.schedules.push_back("same");
  for (BottleneckRange::Row& row : range.rows) {
    row.of_schedule.push_back(iteration(0.4));
  }
  const std::string table = to_table(range);
  EXPECT_THAT(table,
              HasSubstr("base      150.000 ms  PORT, PRIVATE                300.000 ms  "
                        "PORT, LINK nic -- switch:0   1.00x-1.00x\n"));
  EXPECT_THAT(table, HasSubstr("fast      100.000 ms  PORT, PORT "));
  EXPECT_THAT(table, HasSubstr("1.00x-2.00x\n"));
  EXPECT_THAT(table, HasSubstr("same      400.000 ms  wherever "));
}

TEST(BottleneckRangeTest, WhatCannotRunCountsForNothing) {
  BottleneckRange range = range_of_one();
  range.rows[1].of_schedule[0] = {.error = "it puts nothing there"};
  EXPECT_DOUBLE_EQ(seconds_of(range, 0)->least, 0.2);
  EXPECT_THAT(to_table(range), HasSubstr("PORT          PRIVATE               cannot run\n"));
  const json document = json::parse(to_json(range));
  EXPECT_EQ(document["placements"][1]["rows"][0]["error"], "it puts nothing there");
  for (BottleneckRange::Row& row : range.rows) {
    row.of_schedule[0] = {.error = "no"};
  }
  EXPECT_FALSE(seconds_of(range, 0));
  EXPECT_THAT(to_table(range), Not(HasSubstr("least")));
}

TEST(BottleneckRangeTest, TheProfilesOwnPlacesAreARowOfTheirOwn) {
  BottleneckRange range = range_of_one();
  range.rows.front().placement.reset();
  EXPECT_THAT(to_table(range), HasSubstr("as the profile says  as the profile says   200.000 ms"));
  EXPECT_TRUE(json::parse(to_json(range))["placements"][0]["bottlenecks"].is_null());
}

TEST(BottleneckRangeTest, JsonNamesPlacesAsProfilesDo) {
  SimulationResult result;
  result.bottleneck_range = range_of_two();
  const json range = json::parse(to_json(result))["bottleneck_range"];
  EXPECT_EQ(range["schedules"][1]["schedule"], "fast");
  EXPECT_EQ(range["schedules"][1]["least_seconds"], 0.1);
  EXPECT_EQ(range["schedules"][1]["most_speedup"], 2);
  const json& last = range["placements"][2];
  EXPECT_EQ(last["bottlenecks"][0], json({{"span", "NODE"}, {"bottleneck", "PORT"}}));
  EXPECT_EQ(last["bottlenecks"][1]["span"], "FABRIC");
  EXPECT_EQ(last["bottlenecks"][1]["bottleneck_link"], kLink);
  EXPECT_EQ(last["rows"][0]["iteration_seconds"], 0.3);
  EXPECT_EQ(last["rows"][0]["forward_degree"], 4);
}

}  // namespace
}  // namespace moesim
