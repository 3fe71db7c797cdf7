// Fits of a simulated GPU whose law is known: what is found must be what it was given, although
// every twentieth time is doubled.
#include "calibration/gpu_findings.h"

#include <gtest/gtest.h>

#include "kernels/probe/measure_probes.h"
#include "tests/support/simulated_gpu.h"

namespace moesim {
namespace {

constexpr double kTolerance = 0.01;  // noise is 0.4 %

class GpuFindingsTest : public testing::TestWithParam<std::uint64_t> {
 protected:
  GpuProbes measure(const ProbeMachine& machine, const std::vector<ProbeGroup>& groups) {
    SimulatedGpu gpu(law_, GetParam());
    ProbeRules rules;
    rules.elapsed = [&gpu] { return gpu.elapsed(); };
    GpuProbes probes = measure_probes(groups, rules, gpu);
    probes.num_sms = machine.num_sms;
    return probes;
  }

  GpuProbes measure(const ProbeMachine& machine) {
    return measure(machine, plan_gpu_probes(machine));
  }

  GpuLaw law_;
  ProbeMachine one_gpu_{.num_gpus = 1, .num_sms = 132, .memory_bytes = int64_t{100} << 30U};
  ProbeMachine four_gpus_{.num_gpus = 4, .num_sms = 132, .memory_bytes = int64_t{100} << 30U};
};

void expect_relative(double value, double expected) {
  EXPECT_NEAR(value, expected, kTolerance * expected);
}

// t = 5 us + flops / 700 TFLOP/s, times 1.2 with cold caches.
TEST_P(GpuFindingsTest, GemmLinesAreFound) {
  const GpuFindings findings = gpu_findings({measure(one_gpu_)});
  ASSERT_EQ(findings.gemms.size(), 3U * 2U);  // shapes x caches; the long GEMM has one size
  for (const GemmFinding& gemm : findings.gemms) {
    expect_relative(gemm.line.seconds_per_unit, (gemm.cold ? 1.2 : 1) / 700e12);
    EXPECT_NEAR(gemm.line.startup_seconds, 5e-6, 0.2e-6);
    EXPECT_GT(gemm.line.fit.standard_error, 0);
    EXPECT_LT(gemm.line.fit.standard_error, kTolerance);
  }
}

// The long GEMM has 2 * 8192 * 8192 * 4096 FLOPs: with s of 132 SMs 5 us + 132 / s of 0.785 ms.
TEST_P(GpuFindingsTest, GemmTimeGoesWithTheInverseOfSms) {
  const GpuFindings findings = gpu_findings({measure(one_gpu_)});
  ASSERT_TRUE(findings.gemm_by_sms);
  expect_relative(findings.gemm_by_sms->seconds_per_unit, 132 * 2.0 * 8192 * 8192 * 4096 / 700e12);
}

// k of 132 SMs held: the GEMM takes 132 / (132 - k) as long, but for the start-up's 0.6 %. Copying
// costs 1 % for each SM besides.
TEST_P(GpuFindingsTest, LossOfSmsAndOfMemoryAreToldApart) {
  const GpuFindings findings = gpu_findings({measure(one_gpu_)});
  ASSERT_EQ(findings.contention.size(), 18U);
  for (const ContentionFinding& one : findings.contention) {
    expect_relative(one.sm_loss, 132.0 / (132 - one.held_sms));
    expect_relative(one.memory_loss, 1 + 0.01 * one.held_sms);
    EXPECT_TRUE(one.limit == 0 || one.limit == 132 - one.held_sms);
  }
}

TEST_P(GpuFindingsTest, LateKernelsWaitForAShareOfTheGemm) {
  const GpuFindings findings = gpu_findings({measure(one_gpu_)});
  ASSERT_EQ(findings.late.size(), 2U);
  EXPECT_NEAR(findings.late[0].waited, 0.8, 0.02);
  EXPECT_NEAR(findings.late[1].waited, 0.1, 0.02);
  EXPECT_TRUE(findings.late[1].priority);
}

TEST_P(GpuFindingsTest, OneQueueIsToldFromMany) {
  ProbeMachine one_queue = one_gpu_;
  one_queue.queues = 1;
  const GpuFindings findings =
      gpu_findings({measure(one_gpu_), measure(one_queue, plan_queue_probes(one_queue))});
  ASSERT_EQ(findings.queues.size(), 2U);
  EXPECT_EQ(findings.queues[0].queues, 32);
  EXPECT_NEAR(findings.queues[0].serialized, 0, kTolerance);
  EXPECT_EQ(findings.queues[1].queues, 1);
  EXPECT_NEAR(findings.queues[1].serialized, 1, kTolerance);
}

// 4 TB/s are reached by 100 blocks of 40 GB/s: among powers of two by 128 (64 reach 2.56 TB/s).
TEST_P(GpuFindingsTest, BandwidthLaunchesAndCollectivesAreFound) {
  const GpuFindings findings = gpu_findings({measure(four_gpus_)});
  expect_relative(findings.copy_bytes_per_second, 4e12);
  EXPECT_EQ(findings.copy_blocks, 128);
  ASSERT_TRUE(findings.launch);
  expect_relative(findings.launch->seconds, 2e-6);
  // Groups of 2 and 4: six operations, three limits of CTAs, and packed.
  ASSERT_EQ(findings.collectives.size(), 20U);
  for (const CollectiveFinding& one : findings.collectives) {
    expect_relative(one.line.seconds_per_unit, 1 / 300e9);
    EXPECT_NEAR(one.line.startup_seconds, 20e-6, 0.4e-6);
  }
  ASSERT_EQ(findings.pairs.size(), 8U);
  expect_relative(findings.pairs[0].factor, 1.6);
}

TEST_P(GpuFindingsTest, ProfileHasThemWithUncertainties) {
  const Profile profile = gpu_profile({measure(four_gpus_)});
  ASSERT_TRUE(profile.gemm);
  expect_relative(profile.gemm->seconds_per_flop, 1.2 / 700e12);
  EXPECT_GT(profile.gemm->fit.num_samples, 300);
  EXPECT_GT(profile.gemm->fit.r_squared, 0.9);
  ASSERT_TRUE(profile.memory_bytes_per_second);
  expect_relative(*profile.memory_bytes_per_second, 4e12);
  expect_relative(profile.launch_overhead_seconds, 2e-6);
  ASSERT_EQ(profile.collectives.size(), 12U);  // six operations over two and four GPUs
  EXPECT_EQ(profile.collectives[0].span, Span::kNode);
  EXPECT_GT(profile.collectives[0].fit.standard_error, 0);
  // What it writes is a profile that can be read.
  EXPECT_NO_THROW(parse_profile(profile_to_text(profile), "p.txtpb"));
}

// Collectives with oneself are no costs of a group.
TEST_P(GpuFindingsTest, OneGpuHasNoCollectives) {
  EXPECT_TRUE(gpu_profile({measure(one_gpu_)}).collectives.empty());
}

TEST_P(GpuFindingsTest, RejectedReadingsEnterNothing) {
  GpuProbes probes = measure(one_gpu_);
  for (GpuReading& reading : probes.readings) {
    reading.rejected = true;
  }
  const GpuFindings findings = gpu_findings({probes});
  EXPECT_EQ(findings.num_rejected, findings.num_readings);
  EXPECT_TRUE(findings.gemms.empty());
  EXPECT_FALSE(findings.launch);
  EXPECT_FALSE(gpu_profile({probes}).gemm);
}

INSTANTIATE_TEST_SUITE_P(Seeds, GpuFindingsTest, testing::Values(1, 2, 3));

}  // namespace
}  // namespace moesim
