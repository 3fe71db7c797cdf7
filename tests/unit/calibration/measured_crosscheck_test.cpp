#include "calibration/measured_crosscheck.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/unit/io/error_of.h"

namespace moesim {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

Crosscheck two_schedules() {
  Crosscheck crosscheck;
  crosscheck.backend = "cpu";
  crosscheck.baseline = "tutel";
  crosscheck.modelled = true;
  crosscheck.not_run = {"lina: no"};
  crosscheck.assumptions = {"clock free"};
  for (const char* schedule : {"tutel", "fsmoe"}) {
    ScheduleComparison row;
    row.schedule = schedule;
    row.forward_degree = 2;
    row.backward_degree = 3;
    row.predicted_seconds = 0.1;
    row.measured.median_seconds = 0.125;
    row.measured.p25_seconds = 0.12;
    row.measured.accepted = 10;
    row.measured.rejected = 4;
    row.measured.lateness_seconds = 0.001;
    row.measured.delay_seconds = 0.002;
    row.measured.spread = 0.01;
    row.measured.stopped = "steady";
    crosscheck.rows.push_back(row);
  }
  return crosscheck;
}

Json stored() {
  return {{"command", "moesim crosscheck"},
          {"date", "2026-11-30"},
          {"machine", "a laptop"},
          {"bar", {{"median_error", 0.1}, {"ranking", true}}},
          {"crosscheck", Json::parse(to_json(two_schedules()))}};
}

std::string parse_error(const std::string& text) {
  return error_of([&] { parse_measured_crosscheck("a.json", text); });
}

TEST(MeasuredCrosscheckTest, MustBeWhole) {
  Json json = stored();
  json["crosscheck"]["not_measured"] = {{{"schedule", "lina"}}};
  EXPECT_THAT(parse_error(json.dump()), HasSubstr("not all schedules were measured"));
}

TEST(MeasuredCrosscheckTest, IsWhatCrosscheckPrinted) {
  const MeasuredCrosscheck measured = parse_measured_crosscheck("a.json", stored().dump());
  EXPECT_EQ(measured.command, "moesim crosscheck");
  EXPECT_EQ(measured.date, "2026-11-30");
  EXPECT_EQ(measured.machine, "a laptop");
  EXPECT_EQ(measured.bar.median_error, 0.1);
  EXPECT_EQ(measured.bar.error, std::nullopt);
  EXPECT_EQ(measured.bar.speedup_error, std::nullopt);
  EXPECT_TRUE(measured.bar.ranking);
  EXPECT_EQ(to_json(measured.crosscheck), to_json(two_schedules()));
}

TEST(MeasuredCrosscheckTest, NoBarIsNoBar) {
  Json document = stored();
  document["bar"] = Json::object();
  const CrosscheckBar bar = parse_measured_crosscheck("a.json", document.dump()).bar;
  EXPECT_EQ(bar.median_error, std::nullopt);
  EXPECT_FALSE(bar.ranking);
}

TEST(MeasuredCrosscheckTest, ErrorsNameTheField) {
  EXPECT_THAT(parse_error("{"), HasSubstr("a.json: not valid JSON"));
  EXPECT_THAT(parse_error("[]"), HasSubstr("a.json: give an object here"));
  const auto with = [](const char* pointer, const Json& value) {
    Json document = stored();
    document[Json::json_pointer(pointer)] = value;
    return parse_error(document.dump());
  };
  EXPECT_THAT(with("/machine", 3), HasSubstr("a.json: machine: give some text here"));
  EXPECT_THAT(with("/note", "x"), HasSubstr("a.json: unknown field 'note'; give command, date"));
  EXPECT_THAT(with("/bar/medianerror", 0.1),
              HasSubstr("a.json: bar: unknown field 'medianerror'; give error, median_error"));
  EXPECT_THAT(with("/bar/error", "5%"), HasSubstr("a.json: bar.error: give a number"));
  EXPECT_THAT(with("/bar/ranking", 1), HasSubstr("a.json: bar.ranking: give true or false here"));
  EXPECT_THAT(with("/crosscheck/rows/1/measured_seconds", 0),
              HasSubstr("a.json: crosscheck.rows[1].measured_seconds: give a number above 0 here"));
  EXPECT_THAT(with("/crosscheck/rows/0/runs", -1),
              HasSubstr("a.json: crosscheck.rows[0].runs: give a count here"));
  EXPECT_THAT(with("/crosscheck/rows", "none"), HasSubstr("rows: give an array here"));
  EXPECT_THAT(with("/crosscheck/baseline", "lina"),
              HasSubstr("a.json: crosscheck.baseline: no row of this schedule"));
}

TEST(MeasuredCrosscheckTest, NothingMayBeMissing) {
  for (const char* key : {"command", "date", "machine", "bar", "crosscheck"}) {
    Json document = stored();
    document.erase(key);
    EXPECT_EQ(parse_error(document.dump()), std::string("a.json: no field '") + key + "'; add it");
  }
}

}  // namespace
}  // namespace moesim
