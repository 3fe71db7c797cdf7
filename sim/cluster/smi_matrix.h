#pragma once

#include <optional>
#include <string>
#include <vector>

namespace moesim {

// How far apart two devices are over PCIe: below one switch, below several, at one host bridge, in
// one NUMA domain, across.
enum class SmiDistance { kPix, kPxb, kPhb, kNode, kSys };

// What joins two devices: NVLinks, which hide the distance over PCIe, or a distance.
struct SmiCell {
  int nvlinks = 0;
  SmiDistance distance = SmiDistance::kSys;

  bool operator==(const SmiCell&) const = default;
};

// What `nvidia-smi topo -m` prints.
struct SmiMatrix {
  struct Device {
    std::string name;
    std::string location;  // of its row, or in the header
    bool is_gpu = false;
    std::string cpus;  // affinities, as printed; empty where they are not
    std::string numa;
  };

  std::vector<Device> devices;  // GPUs first
  // Nothing where the output is cut between two NICs; every other pair has one, the same both ways.
  std::vector<std::vector<std::optional<SmiCell>>> cells;

  int num_gpus() const;
};

// Finds the matrix in a text that may hold more (a prompt, the legend). Cells that stand without a
// space between them are told apart, and rows that are cut or a cell short are filled in from the
// columns. Throws Error located where it is another matrix, contradicts itself or lacks a cell.
SmiMatrix read_smi_matrix(const std::string& text, const std::string& path);

}  // namespace moesim
