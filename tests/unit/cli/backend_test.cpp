// What a backend refuses, and what it says of itself. That it runs is tested in tests/cli.
#include "sim/cli/backend.h"

#include <gmock/gmock.h>

#include "sim/base/error.h"
#include "sim/program/builder.h"

namespace moesim {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

// A sum of two matrices that no machine holds.
Program far_too_big() {
  ProgramBuilder builder("giant", 1);
  Tensor tensor;
  tensor.rows = 10'000'000;
  tensor.columns = 1'000'000;
  tensor.name = "huge";
  tensor.input = true;
  const int input = builder.add_tensor(tensor);
  tensor.name = "sum";
  tensor.input = false;
  const int output = builder.add_tensor(tensor);
  Task task;
  task.name = "add";
  task.descriptor = Elementwise{ElementwiseOperation::kAdd};
  task.stream = builder.stream("compute");
  task.reads = {builder.all(input), builder.all(input)};
  task.writes = {builder.all(output)};
  builder.add_task(std::move(task));
  return std::move(builder).build();
}

std::string refusal(const BackendOptions& options, const Cluster* cluster, const Profile* profile) {
  try {
    const Backend backend(options, cluster, profile);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(BackendTest, ModelledOperationsNeedAClusterAndAProfile) {
  const Cluster cluster;
  const Profile profile;
  BackendOptions options;
  EXPECT_EQ(refusal(options, nullptr, nullptr), "accepted");
  options.modelled = true;
  EXPECT_EQ(refusal(options, &cluster, &profile), "accepted");
  EXPECT_THAT(refusal(options, nullptr, &profile), StartsWith("--modelled"));
  EXPECT_THAT(refusal(options, &cluster, nullptr), StartsWith("--modelled"));
}

TEST(BackendTest, AScenarioWithoutAProfileHasNone) {
  Inputs inputs;
  BackendOptions options;
  options.modelled = true;
  EXPECT_THROW(Backend(options, inputs), Error);
  inputs.scenario.profile_path = "profile.txtpb";
  EXPECT_NO_THROW(Backend(options, inputs));
}

// Two buffers of 1e7 * 1e6 FP32 numbers: 8e13 B = 72.76 TiB.
TEST(BackendTest, RefusesWhatIsTooBigForThisMachine) {
  try {
    static_cast<void>(Backend({}, nullptr, nullptr).run(far_too_big()));
    FAIL() << "it ran";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                AllOf(StartsWith("giant: one run would take 72.76 TiB of memory"),
                      HasSubstr("this machine has"),
                      HasSubstr(" and about "),
                      HasSubstr(", the 11 runs of 1 Program about "),
                      HasSubstr("execute a smaller scenario")));
  }
}

TEST(BackendTest, ItsEnvironmentNamesSettingsMachineAndTime) {
  BackendOptions options;
  options.clock = HostClock::kAnchored;
  options.dilation = 50;
  EXPECT_THAT(Backend(options, nullptr, nullptr).environment(),
              ElementsAre("backend cpu, clock anchored, dilation 50, 32 hardware queues",
                          MatchesRegex("Linux .* cores.* of memory, moesim .*"),
                          MatchesRegex("20..-..-.. ..:.. UTC")));
  const Cluster cluster;
  const Profile profile;
  options.modelled = true;
  EXPECT_EQ(Backend(options, &cluster, &profile).environment().front(),
            "backend cpu, clock anchored, operations modelled, 32 hardware queues");
}

}  // namespace
}  // namespace moesim
