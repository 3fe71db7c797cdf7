// Barriers between the members of a collective: with each of their waits taken away, a member reads
// under some seed what is not there yet, or no longer.
#include "kernels/cuda/copy_carrier.h"

#include <array>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/fake_cuda/fake_cuda.h"

namespace moesim {
namespace {

using testing::FakeCuda;

constexpr int kMembers = 3;
constexpr int kPhases = 2;
constexpr int64_t kStart = 7;

// What a member has: the value before and after each phase, and what it saw of all members in it.
struct Memory {
  std::array<int64_t, kPhases + 1> value{};
  std::array<std::array<int64_t, kMembers>, kPhases> seen{};
};

DeviceStep copy(const int64_t& from, int64_t& to) {
  return copy_step({reinterpret_cast<DeviceAddress>(&from),
                    reinterpret_cast<DeviceAddress>(&to),
                    static_cast<int64_t>(sizeof(int64_t))});
}

// In each phase a member reads the value of every member, and copies its own to the next place.
DeviceProgram program_of(std::vector<Memory>& memory) {
  DeviceProgram program;
  CollectiveSteps& collective = program.meetings.emplace_back();
  for (size_t phase = 0; phase < kPhases; ++phase) {
    auto& steps = collective.phases.emplace_back(kMembers);
    for (size_t member = 0; member < kMembers; ++member) {
      for (size_t other = 0; other < kMembers; ++other) {
        steps[member].push_back(
            copy(memory[other].value[phase], memory[member].seen[phase][other]));
      }
      steps[member].push_back(copy(memory[member].value[phase], memory[member].value[phase + 1]));
    }
  }
  return program;
}

// Each member's value is there when its stream comes to the collective, and gone when it has left.
std::vector<Memory> run(const testing::FakeCudaOptions& options, int* num_waits = nullptr) {
  const FakeCuda cuda(options);
  std::vector<Memory> memory(kMembers);
  const DeviceProgram program = program_of(memory);
  HostScript script;
  script.meetings.push_back({0, 0, std::vector<int>(kMembers)});
  const StepLauncher launcher(0);
  CopyCarrier carrier(script, program, launcher);
  const int64_t start = kStart;
  std::vector<Stream> streams;
  std::vector<LaunchPlace> places;
  for (Memory& own : memory) {
    streams.push_back(make_stream(StreamPriority::kLow));
    places.push_back({streams.back().get(), nullptr});
    launcher.launch({copy(start, own.value[0])}, places.back());
  }
  carrier.issue(0, places);
  for (size_t member = 0; member < kMembers; ++member) {
    const auto& value = memory[member].value;
    launcher.launch({fill_step({reinterpret_cast<DeviceAddress>(value.data()), sizeof(value), 0})},
                    places[member]);
  }
  for (const Stream& stream : streams) {
    check_cuda(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
  }
  if (num_waits != nullptr) {
    *num_waits = cuda.num_waits();
  }
  return memory;
}

bool saw_all(const std::vector<Memory>& memory) {
  for (const Memory& own : memory) {
    for (const auto& seen : own.seen) {
      for (const int64_t value : seen) {
        if (value != kStart) {
          return false;
        }
      }
    }
  }
  return true;
}

TEST(CopyCarrierTest, PhasesAreKeptApart) {
  int num_waits = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    EXPECT_TRUE(saw_all(run({.seed = seed}, &num_waits))) << "seed " << seed;
  }
  // A barrier before, between and behind: the first member waits for two, and two for it.
  EXPECT_EQ(num_waits, (kPhases + 1) * 2 * (kMembers - 1));
}

TEST(CopyCarrierTest, EveryWaitIsNeeded) {
  constexpr int kNumWaits = (kPhases + 1) * 2 * (kMembers - 1);
  constexpr uint64_t kMostSeeds = 100;
  for (int wait = 1; wait <= kNumWaits; ++wait) {
    uint64_t seed = 1;
    while (seed <= kMostSeeds && saw_all(run({.seed = seed, .ignored_wait = wait}))) {
      ++seed;
    }
    EXPECT_LE(seed, kMostSeeds) << "without wait " << wait;
  }
}

}  // namespace
}  // namespace moesim
