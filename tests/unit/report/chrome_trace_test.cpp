#include <algorithm>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "sim/report/timeline.h"
#include "tests/support/hand_program.h"
#include "tests/support/recurrence.h"

namespace moesim {
namespace {

using nlohmann::json;
using test::all_to_all;
using test::HandProgram;
using test::ps;
using test::run_recurrence;
using ::testing::ElementsAre;

// Rank 1 computes twice as long. compute: a [0,4) and [0,8) us; inter: x waits on rank 0 from 4 to
// 8, moves [8,11); compute: b [11,12) and [11,13).
class ChromeTraceTest : public ::testing::Test {
 protected:
  ChromeTraceTest() {
    const int world = hand_.add_group("world", {{0, 1}});
    const int a = hand_.add_fixed("a", 0, ps(4'000'000));
    const int x = hand_.add_collective("x", 1, all_to_all(world), ps(3'000'000), {a});
    hand_.add_host_wait({x});
    hand_.add_fixed("b", 0, ps(1'000'000), {x});
    hand_.task(x).layer = 3;
    hand_.task(x).chunk = 1;
    const Trace trace = run_recurrence(hand_.program(), hand_.durations(), {.rank_scale = {1, 2}});
    trace_ = json::parse(to_chrome_trace(hand_.program(), trace));
  }

  std::vector<json> events(const std::string& phase) const {
    std::vector<json> found;
    for (const json& event : trace_["traceEvents"]) {
      if (event["ph"] == phase) {
        found.push_back(event);
      }
    }
    return found;
  }

  json slice(const std::string& name, int process) const {
    for (const json& event : events("X")) {
      if (event["name"] == name && event["pid"] == process) {
        return event;
      }
    }
    return {};
  }

  HandProgram hand_{2, {"compute", "inter"}};
  json trace_;
};

TEST_F(ChromeTraceTest, ProcessesAndThreadsHaveNames) {
  std::vector<std::string> names;
  for (const json& event : events("M")) {
    if (event["name"] == "process_name" || event["name"] == "thread_name") {
      names.push_back(event["args"]["name"]);
    }
  }
  EXPECT_THAT(
      names,
      ElementsAre("rank 0", "compute", "inter", "host", "rank 1", "compute", "inter", "host"));
}

TEST_F(ChromeTraceTest, ProcessesAndThreadsKeepTheirOrder) {
  for (const json& event : events("M")) {
    if (event["name"] == "process_sort_index") {
      EXPECT_EQ(event["args"]["sort_index"], event["pid"]);
    } else if (event["name"] == "thread_sort_index") {
      EXPECT_EQ(event["args"]["sort_index"], event["tid"]);
    }
  }
}

TEST_F(ChromeTraceTest, TasksAreSlicesInMicroseconds) {
  EXPECT_EQ(events("X").size(), 8U);
  const json x = slice("x1", 0);
  EXPECT_DOUBLE_EQ(x["ts"].get<double>(), 4);
  EXPECT_DOUBLE_EQ(x["dur"].get<double>(), 7);
  EXPECT_EQ(x["tid"], 1);
  EXPECT_EQ(x["cat"], "x");
  EXPECT_EQ(x["args"]["layer"], 3);
  EXPECT_EQ(x["args"]["chunk"], 1);
  EXPECT_EQ(x["args"]["pass"], "FORWARD");
  EXPECT_EQ(x["args"]["group"], "world");
  EXPECT_EQ(x["args"]["operation"], "ALL_TO_ALL");
  EXPECT_DOUBLE_EQ(x["args"]["wait_us"].get<double>(), 4);
  EXPECT_DOUBLE_EQ(slice("x1", 1)["args"]["wait_us"].get<double>(), 0);
  EXPECT_FALSE(slice("a0", 0)["args"].contains("layer"));
}

// Per rank: a to x, x to the host's wait, x to b. They start inside their cause and end at the
// start of what waited.
TEST_F(ChromeTraceTest, WaitsAcrossStreamsAreArrows) {
  const std::vector<json> starts = events("s");
  const std::vector<json> ends = events("f");
  ASSERT_EQ(starts.size(), 6U);
  ASSERT_EQ(ends.size(), 6U);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    EXPECT_EQ(starts[i]["id"], ends[i]["id"]);
    EXPECT_EQ(ends[i]["bp"], "e");
  }
  EXPECT_DOUBLE_EQ(starts[0]["ts"].get<double>(), 3.999);
  EXPECT_EQ(starts[0]["tid"], 0);
  EXPECT_DOUBLE_EQ(ends[0]["ts"].get<double>(), 4);
  EXPECT_EQ(ends[0]["tid"], 1);
}

TEST_F(ChromeTraceTest, ActiveCollectivesAreCounted) {
  const std::vector<json> counters = events("C");
  ASSERT_EQ(counters.size(), 4U);  // up and down on each rank
  EXPECT_DOUBLE_EQ(counters[0]["ts"].get<double>(), 8);
  EXPECT_EQ(counters[0]["args"], json({{"inter", 1}}));
  EXPECT_DOUBLE_EQ(counters[1]["ts"].get<double>(), 11);
  EXPECT_EQ(counters[1]["args"], json({{"inter", 0}}));
}

TEST(ChromeTraceTextTest, PicosecondsSurviveAndNamesAreEscaped) {
  HandProgram hand(1, {"\"quoted\""});
  hand.add_fixed("a\nb", 0, ps(1'234'567));
  const std::string text =
      to_chrome_trace(hand.program(), run_recurrence(hand.program(), hand.durations()));
  EXPECT_THAT(text, ::testing::HasSubstr("\"dur\": 1.234567"));
  EXPECT_EQ(json::parse(text)["displayTimeUnit"], "ms");
}

}  // namespace
}  // namespace moesim
