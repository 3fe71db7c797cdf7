#include "sim/cluster/link_rates.h"

#include <gtest/gtest.h>

namespace moesim {
namespace {

TEST(LinkRatesTest, PcieOfEachEncoding) {
  // 2.5 GT/s · 1 lane · 8/10 / 8 = 0.25 GB/s; 5 · 16 · 8/10 / 8 = 8 GB/s.
  EXPECT_DOUBLE_EQ(pcie_rate(2.5, 1).value(), 0.25e9);
  EXPECT_DOUBLE_EQ(pcie_rate(5, 16).value(), 8e9);
  // 8 · 16 · 128/130 / 8 = 2048/130 GB/s; 32 GT/s four times that.
  EXPECT_DOUBLE_EQ(pcie_rate(8, 16).value(), 2048e9 / 130);
  EXPECT_DOUBLE_EQ(pcie_rate(32, 16).value(), 4 * 2048e9 / 130);
  // 64 · 16 · 236/256 / 8 = 118 GB/s.
  EXPECT_DOUBLE_EQ(pcie_rate(64, 16).value(), 118e9);
}

TEST(LinkRatesTest, NoPcieIsSo) {
  EXPECT_FALSE(pcie_rate(3.2, 16).has_value());
  EXPECT_FALSE(pcie_rate(32, 7).has_value());
  EXPECT_FALSE(pcie_rate(32, 0).has_value());
}

TEST(LinkRatesTest, NvLinkOfGenerations) {
  // H100: 18 links, 450 GB/s. A6000: 4 links, 56.25 GB/s.
  EXPECT_DOUBLE_EQ(18 * nvlink_rate(90).value().rate, 450e9);
  EXPECT_DOUBLE_EQ(4 * nvlink_rate(86).value().rate, 56.25e9);
  EXPECT_FALSE(nvlink_rate(89).has_value());  // has none
  EXPECT_FALSE(nvlink_rate(0).has_value());
}

TEST(LinkRatesTest, NvLinkByCountOnlyWhereItIsClear) {
  EXPECT_DOUBLE_EQ(nvlink_rate_by_count(12).value().rate, 25e9);
  EXPECT_FALSE(nvlink_rate_by_count(4).has_value());  // P100 or A6000
}

TEST(LinkRatesTest, XgmiWithAndWithoutPrefix) {
  EXPECT_DOUBLE_EQ(xgmi_rate("gfx942").value().rate, 64e9);
  EXPECT_DOUBLE_EQ(xgmi_rate("90a").value().rate, 50e9);
  EXPECT_FALSE(xgmi_rate("gfx1100").has_value());
  EXPECT_FALSE(xgmi_rate("").has_value());
}

TEST(LinkRatesTest, ProcessorsByModel) {
  const Processor sapphire_rapids = {"x86_64", "GenuineIntel", 6, 143};
  EXPECT_DOUBLE_EQ(interconnect_rate(sapphire_rapids).value().rate, 22e9);
  EXPECT_DOUBLE_EQ(memory_rate(sapphire_rapids).value().rate, 8 * 4800e6 * 8);
  // To NCCL Ice Lake's interconnect is Skylake's.
  const Processor ice_lake = {"x86_64", "GenuineIntel", 6, 106};
  EXPECT_DOUBLE_EQ(interconnect_rate(ice_lake).value().rate, 10e9);
  EXPECT_DOUBLE_EQ(memory_rate(ice_lake).value().rate, 8 * 3200e6 * 8);
  const Processor milan = {"x86_64", "AuthenticAMD", 0xaf, 1};
  EXPECT_DOUBLE_EQ(interconnect_rate(milan).value().rate, 24e9);
  EXPECT_DOUBLE_EQ(interconnect_rate({"ppc64", "", 0, 0}).value().rate, 32e9);
  EXPECT_FALSE(interconnect_rate({"x86_64", "Unknown", 6, 143}).has_value());
  // A desktop's Coffee Lake, between the models of two Xeons.
  EXPECT_FALSE(memory_rate({"x86_64", "GenuineIntel", 6, 0x9e}).has_value());
  EXPECT_FALSE(memory_rate({"arm64", "", 0, 0}).has_value());
}

}  // namespace
}  // namespace moesim
