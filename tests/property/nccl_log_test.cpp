// Damaged nccl-tests logs are read or refused with a location: no crash, no hang, and whatever is
// read could have been measured. MOESIM_MUTATIONS=100000 damages more of them.
#include "calibration/nccl_log.h"

#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "tests/property/mutate_text.h"

namespace moesim {
namespace {

constexpr std::uint64_t kSeed = 20261130;

int num_mutations() {
  const char* given = std::getenv("MOESIM_MUTATIONS");
  return given != nullptr ? std::atoi(given) : 3000;
}

// Times and bandwidths belong together: 1 MiB in 100 us is 10.49 GB/s.
constexpr const char* kNew =
    "# nccl-tests version 2.17.8 nccl-headers=22902 nccl-library=22902\n"
    "# Collective test starting: all_reduce_perf\n"
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 64 step: 2(factor)\n"
    "#  Rank  0 Group  0 Pid 11 on n1 device  0 [0x07] NVIDIA A100\n"
    "#  Rank  1 Group  0 Pid 12 on n2 device  0 [0x0f] NVIDIA A100\n"
    "# Reducing maxBytes to 26549638485 due to memory limitation\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
    "     1048576  262144  float  sum  -1  100.00  10.49  10.49  0  110.00  9.53  9.53  0\n"
    "n1:34:34 [0] NCCL INFO Launch mode Parallel\n"
    "     2097152  524288  float  sum  -1  200.00  10.49  10.49  0  200.00  10.49  10.49  N/A\n"
    "# Out of bounds values : 0 OK\n"
    "# Collective test concluded: all_reduce_perf\n"
    "# Collective test starting: all_gather_perf\n"
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 64 step: 2(factor)\n"
    "#  Rank  0 Group  0 Pid 11 on n1 device  0 [0x07] NVIDIA A100\n"
    "#  Rank  1 Group  0 Pid 12 on n2 device  0 [0x0f] NVIDIA A100\n"
    "           0       0  float none  -1    9.00   0.00   0.00  0    9.00   0.00   0.00  0\n"
    "     1048576  131072  float none  -1  100.00  10.49   5.24  0  100.00  10.49   5.24  0\n";

constexpr const char* kOld =
    "--- alltoall_perf\r\n"
    "#   Rank  0 Pid 112424 on localhost device  0 [0x00] A100-SXM4-40GB\r\n"
    "#   Rank  1 Pid 112424 on localhost device  1 [0x00] A100-SXM4-40GB\r\n"
    "#       size         count    type   redop     time   algbw   busbw  error\r\n"
    "     1048576  131072  float   100.0  10.49  5.24  0e+00   100.0  10.49  5.24  1e+00\r\n"
    "     2097152  262144  float   200.0  10.49  5.24  0e+00   200.0  10.49  5.24  1e+00\r\n";

constexpr const char* kTagged =
    "[1,0]<stdout>:#   time   algbw   busbw #wrong\n"
    "[1,0]<stdout>:     8   2  float  sum  -1  12.90  0.00  0.00  0  12.87  0.00  0.00  0\n"
    "[1,0]<stdout>:    16   4  float  sum  -1  12.88  0.00  0.00  0  12.83  0.00  0.00  0\n";

const std::vector<std::string> kLogs = {kNew, kOld, kTagged};

// What every log that is read satisfies.
void expect_measurable(const NcclLog& log) {
  EXPECT_FALSE(log.runs.empty());
  for (const NcclRun& run : log.runs) {
    EXPECT_FALSE(run.rows.empty());
    EXPECT_NE(find_nccl_collective(run.collective), nullptr);
    EXPECT_GE(run.layout.nodes, 1);
    EXPECT_GE(run.layout.size(), 2);
    for (const NcclRow& row : run.rows) {
      EXPECT_GT(row.bytes, 0);
      EXPECT_GT(row.line, 0);
      for (const double seconds : row.times()) {
        EXPECT_GT(seconds, 0);
        EXPECT_LT(seconds, 1e9);
        EXPECT_LT(static_cast<double>(row.bytes) / seconds, 2e13);  // twice 10,000 GB/s
      }
    }
  }
  for (const DroppedRow& row : log.dropped) {
    EXPECT_GT(row.line, 0);
    EXPECT_FALSE(row.reason.empty());
  }
}

// Whether the text was read.
bool is_read(const std::string& text) {
  try {
    expect_measurable(parse_nccl_log("a.log", text, {"all_reduce", Layout{1, 2}}));
    return true;
  } catch (const Error& error) {
    EXPECT_TRUE(error.location().starts_with("a.log"));
    EXPECT_FALSE(error.text().empty());
    return false;
  }
}

TEST(NcclLogMutationTest, DamagedLogsAreReadOrRefused) {
  int num_read = 0;
  const int count = num_mutations();
  for (int i = 0; i < count; ++i) {
    Random random(kSeed, static_cast<std::uint64_t>(i));
    const std::string text = mutate(kLogs[static_cast<std::size_t>(i) % kLogs.size()], random);
    num_read += is_read(text) ? 1 : 0;
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << kSeed << ", stream " << i << ":\n"
                                              << text;
  }
  // Both happen often, or the damage is too little or too much to show anything.
  EXPECT_GT(num_read, count / 3);
  EXPECT_LT(num_read, count - count / 50);
}

TEST(NcclLogMutationTest, PrefixesAreReadOrRefused) {
  for (const std::string& log : kLogs) {
    EXPECT_TRUE(is_read(log));
    for (std::size_t size = 0; size < log.size(); ++size) {
      is_read(log.substr(0, size));
      ASSERT_FALSE(testing::Test::HasFailure()) << log.substr(0, size);
    }
  }
}

}  // namespace
}  // namespace moesim
