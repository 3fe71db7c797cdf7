// Damaged files either load or throw Error with a text: they never crash, hang or throw anything
// else. Every example is damaged in many ways, seeded.
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/base/random.h"
#include "sim/io/cluster.h"
#include "sim/io/expectation.h"
#include "sim/io/files.h"
#include "sim/io/inputs.h"
#include "sim/io/profile.h"
#include "sim/io/program.h"
#include "sim/io/sweep.h"
#include "sim/io/trace.h"
#include "tests/property/mutate_text.h"

namespace moesim {
namespace {

constexpr std::uint64_t kSeed = 20240711;
constexpr int kMutationsPerExample = 1000;

constexpr const char* kProgram = R"(name: "small" num_ranks: 4
roles { name: "left" ranks: [0, 1] } roles { name: "right" ranks: [2, 3] }
groups { name: "mp" members { ranks: [0, 1] } members { ranks: [2, 3] } }
tensors { name: "x" blocks: 4 rows: 8 columns: 16 input: true placement { group: "mp" axis: rows } }
routings { name: "r" tokens { counts: [1, 2] } tokens { counts: [1, 2] }
           tokens { counts: [1, 2] } tokens { counts: [1, 2] } }
rank_scale: [1, 1.5, 1, 1]
tasks { name: "a" stream: "compute" roles: "left" fixed { time: "1.5 us" } }
tasks { name: "b" stream: "inter" waits: ["a"] order_only: "a" layer: 0 chunk: 1 pass: BACKWARD
        reads { tensor: "x" first_block: -1 num_blocks: 1 relative_to: "mp" } writes { tensor: "x" }
        collective { operation: SHIFT group: "mp" distance: 1 wrap: true bytes: "512 B" } }
tasks { name: "c" stream: "compute" gate { top_k: 2 experts: [0, 1] routing: "r" no_drop: true } }
tasks { name: "d" waits: "c" host_wait { } }
)";

constexpr const char* kExpectation = R"(scenario: "a.txtpb" relative_tolerance: 0.5
schedules { schedule: "x" iteration_picoseconds: 9 forward_degree: 1 backward_degree: 2 }
)";

constexpr const char* kTrace = R"({"program": "small", "executor": "cpu", "end_picoseconds": 9,
"classes": [{"representative": 0, "ranks": [0, 1]}], "spans": [{"rank": 0, "task": "a",
"launched_picoseconds": 0, "start_picoseconds": 1, "transfer_picoseconds": 2,
"end_picoseconds": 3}], "assumptions": ["é"]})";

struct Example {
  std::string name;
  std::string text;
  std::function<void(const std::string&)> load;
};

std::vector<Example> examples() {
  const auto load_program_text = [](const std::string& text) { parse_program(text, "p"); };
  const auto load_trace_text = [](const std::string& text) {
    parse_trace(text, "t", parse_program(kProgram, "p"));
  };
  // The scenario names its files from its own folder.
  const auto load_scenario_text = [](const std::string& text) {
    const std::string path = testing::TempDir() + "mutated_scenario";
    write_file_atomically(path, text);
    load_inputs(path,
                {.cluster = "topologies/testbed_b.txtpb",
                 .profile = "calibration/profiles/fsmoe_testbed_b.txtpb"});
  };
  return {{"program", kProgram, load_program_text},
          {"program json", program_to_json(parse_program(kProgram, "p")), load_program_text},
          {"expectation", kExpectation, [](const auto& text) { parse_expectation(text, "e"); }},
          {"trace", kTrace, load_trace_text},
          {"cluster",
           read_file("topologies/testbed_a.txtpb"),
           [](const auto& text) { parse_cluster(text, "c"); }},
          {"profile",
           read_file("calibration/profiles/fsmoe_testbed_a.txtpb"),
           [](const auto& text) { parse_profile(text, "p"); }},
          {"sweep",
           read_file("scenarios/sweep_example.txtpb"),
           [](const auto& text) { parse_sweep(text, "s"); }},
          {"scenario", read_file("scenarios/quickstart.txtpb"), load_scenario_text}};
}

TEST(FileMutationTest, LoadsOrSaysWhatIsWrong) {
  int num_loaded = 0;
  int num_refused = 0;
  std::uint64_t stream = 0;
  for (const Example& example : examples()) {
    EXPECT_NO_THROW(example.load(example.text)) << example.name;
    for (int i = 0; i < kMutationsPerExample; ++i) {
      Random random(kSeed, stream++);
      const std::string text = mutate(example.text, random);
      try {
        example.load(text);
        ++num_loaded;
      } catch (const Error& error) {
        EXPECT_FALSE(error.location().empty() || error.text().empty())
            << error.what() << "\nseed " << kSeed << ", stream " << stream - 1 << ":\n"
            << text;
        ++num_refused;
      } catch (const std::exception& other) {
        ADD_FAILURE() << other.what() << "\nseed " << kSeed << ", stream " << stream - 1 << ":\n"
                      << text;
      }
    }
  }
  // Both happen often, or the damage is too little or too much to show anything.
  EXPECT_GT(num_loaded, 500);
  EXPECT_GT(num_refused, 2000);
}

// Every prefix of a file, too.
TEST(FileMutationTest, TruncatedFilesSayWhatIsWrong) {
  for (const Example& example : examples()) {
    for (std::size_t size = 0; size < example.text.size(); size += 7) {
      try {
        example.load(example.text.substr(0, size));
      } catch (const Error& error) {
        EXPECT_FALSE(error.location().empty() || error.text().empty()) << example.name << size;
      }
    }
  }
}

}  // namespace
}  // namespace moesim
