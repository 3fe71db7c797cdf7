#include "sim/cluster/link_rates.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace moesim {
namespace {

constexpr double kGiga = 1e9;

struct NvLinkGeneration {
  int compute_capability;
  int generation;
  double rate;
};

// Each way, of one link. NVIDIA's data sheets and white papers: P100 4 links of 20 GB/s; V100 and
// Turing 25 GB/s; A100 12 links, 300 GB/s; A6000, A40 and RTX 3090 4 links, 56.25 GB/s; H100 18
// links, 450 GB/s; B200 18 links, 900 GB/s.
constexpr auto kNvLinks = std::to_array<NvLinkGeneration>({{60, 1, 20e9},
                                                           {70, 2, 25e9},
                                                           {75, 2, 25e9},
                                                           {80, 3, 25e9},
                                                           {86, 3, 14.0625e9},
                                                           {90, 4, 25e9},
                                                           {100, 5, 50e9},
                                                           {103, 5, 50e9}});

struct XgmiArchitecture {
  std::string_view name;
  double rate;
};

// Each way, of one link. AMD's data sheets give both ways together: MI50, MI60, MI100 92 GB/s;
// MI200 100; MI300X 128; MI350X 153.6. RCCL once wrote 910 for gfx90a.
constexpr auto kXgmi = std::to_array<XgmiArchitecture>({{"906", 46e9},
                                                        {"908", 46e9},
                                                        {"90a", 50e9},
                                                        {"910", 50e9},
                                                        {"940", 64e9},
                                                        {"941", 64e9},
                                                        {"942", 64e9},
                                                        {"950", 76.8e9}});

struct ProcessorModels {
  std::string_view vendor;
  int family;
  int model;
  double rate;
  std::string_view what;
};

constexpr std::string_view kIntel = "GenuineIntel";
constexpr std::string_view kAmd = "AuthenticAMD";

// NCCL's own figures (src/graph/topo.h: *_QPI_BW, AMD_ZEN*_BW), which are what transfers reach
// between sockets, not what the wires carry. A row is for its model and later ones.
constexpr auto kInterconnects =
    std::to_array<ProcessorModels>({{kIntel, 6, 0, 6e9, "before Skylake"},
                                    {kIntel, 6, 0x55, 10e9, "Skylake or later"},
                                    {kIntel, 6, 0x8f, 22e9, "Sapphire Rapids or later"},
                                    {kIntel, 6, 0xcf, 40e9, "Emerald Rapids or later"},
                                    {kAmd, 0x8f, 0, 16e9, "Zen 1 or 2"},
                                    {kAmd, 0xaf, 0, 24e9, "Zen 3 or 4"},
                                    {kAmd, 0xbf, 0, 32e9, "Zen 5"}});

// Channels · transfers per second · 8 bytes, from Intel's and AMD's product pages: Xeon from
// Haswell to Granite Rapids, EPYC from Naples to Turin. A row is for its model alone, as there are
// processors of desktops between them.
constexpr auto kMemories =
    std::to_array<ProcessorModels>({{kIntel, 6, 0x3f, 4 * 2133e6 * 8, "4 channels DDR4-2133"},
                                    {kIntel, 6, 0x4f, 4 * 2400e6 * 8, "4 channels DDR4-2400"},
                                    {kIntel, 6, 0x55, 6 * 2666e6 * 8, "6 channels DDR4-2666"},
                                    {kIntel, 6, 0x6a, 8 * 3200e6 * 8, "8 channels DDR4-3200"},
                                    {kIntel, 6, 0x8f, 8 * 4800e6 * 8, "8 channels DDR5-4800"},
                                    {kIntel, 6, 0xad, 12 * 6400e6 * 8, "12 channels DDR5-6400"},
                                    {kIntel, 6, 0xcf, 8 * 5600e6 * 8, "8 channels DDR5-5600"},
                                    {kAmd, 0x8f, 0x01, 8 * 2666e6 * 8, "8 channels DDR4-2666"},
                                    {kAmd, 0x8f, 0x31, 8 * 3200e6 * 8, "8 channels DDR4-3200"},
                                    {kAmd, 0xaf, 0x01, 8 * 3200e6 * 8, "8 channels DDR4-3200"},
                                    {kAmd, 0xaf, 0x11, 12 * 4800e6 * 8, "12 channels DDR5-4800"},
                                    {kAmd, 0xaf, 0xa0, 12 * 4800e6 * 8, "12 channels DDR5-4800"},
                                    {kAmd, 0xbf, 0x02, 12 * 6000e6 * 8, "12 channels DDR5-6000"},
                                    {kAmd, 0xbf, 0x11, 12 * 6000e6 * 8, "12 channels DDR5-6000"}});

bool is_family(const ProcessorModels& row, const Processor& processor) {
  return processor.architecture == "x86_64" && row.vendor == processor.vendor &&
         row.family == processor.family;
}

}  // namespace

// Rate = transfers per second · lanes · code / 8, a bit a transfer and lane. The code is 8b/10b up
// to 5 GT/s and 128b/130b up to 32 GT/s; at 64 GT/s 236 of a flit's 256 bytes carry packets (PCI
// Express Base Specification 6.0, 4.2). Headers of packets are not deducted.
std::optional<double> pcie_rate(double gigatransfers, int lanes) {
  constexpr auto kSpeeds = std::to_array<double>({2.5, 5, 8, 16, 32, 64});
  constexpr auto kWidths = std::to_array<int>({1, 2, 4, 8, 12, 16, 32});
  if (std::ranges::find(kSpeeds, gigatransfers) == kSpeeds.end() ||
      std::ranges::find(kWidths, lanes) == kWidths.end()) {
    return std::nullopt;
  }
  const double code = gigatransfers <= 5    ? 8.0 / 10
                      : gigatransfers <= 32 ? 128.0 / 130
                                            : 236.0 / 256;
  return gigatransfers * kGiga * lanes * code / 8;
}

std::optional<KnownRate> nvlink_rate(int compute_capability) {
  for (const NvLinkGeneration& row : kNvLinks) {
    if (row.compute_capability == compute_capability) {
      return KnownRate{row.rate,
                       fmt::format("NVLink {} (sm {})", row.generation, row.compute_capability)};
    }
  }
  return std::nullopt;
}

// 6: V100; 8: A800 and H800; 12: A100 and H100 NVL; 18: H100, H200, and B200 at twice the rate.
// With 4 links there are P100 and A6000, with 2 Turing GPUs: no single answer.
std::optional<KnownRate> nvlink_rate_by_count(int links_of_gpu) {
  switch (links_of_gpu) {
    case 6:
      return KnownRate{25e9, "NVLink 2, as V100 has 6 links"};
    case 8:
      return KnownRate{25e9, "NVLink 3 or 4, as A800 and H800 have 8 links"};
    case 12:
      return KnownRate{25e9, "NVLink 3, as A100 has 12 links"};
    case 18:
      return KnownRate{25e9,
                       "NVLink 4, as H100 and H200 have 18 links (B200 too, of 50 GB/s: then "
                       "write nvlink_link_rate)"};
    default:
      return std::nullopt;
  }
}

std::optional<KnownRate> xgmi_rate(std::string_view architecture) {
  if (architecture.starts_with("gfx")) {
    architecture.remove_prefix(3);
  }
  for (const XgmiArchitecture& row : kXgmi) {
    if (row.name == architecture) {
      return KnownRate{row.rate, fmt::format("xGMI (gfx{})", architecture)};
    }
  }
  return std::nullopt;
}

std::optional<KnownRate> interconnect_rate(const Processor& processor) {
  std::optional<KnownRate> known;
  for (const ProcessorModels& row : kInterconnects) {
    if (is_family(row, processor) && row.model <= processor.model) {
      known = {row.rate, std::string(row.what)};
    }
  }
  if (processor.architecture == "ppc64") {
    known = {32e9, "POWER9"};
  } else if (processor.architecture == "arm64") {
    known = {6e9, "ARM"};
  }
  if (known.has_value()) {
    known->what = "what NCCL counts on for " + known->what;
  }
  return known;
}

std::optional<KnownRate> memory_rate(const Processor& processor) {
  for (const ProcessorModels& row : kMemories) {
    if (is_family(row, processor) && row.model == processor.model) {
      return KnownRate{row.rate, std::string(row.what)};
    }
  }
  return std::nullopt;
}

}  // namespace moesim
