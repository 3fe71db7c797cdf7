#include "sim/cluster/smi_topology.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/cluster/link_rates.h"
#include "sim/cluster/smi_matrix.h"

namespace moesim {
namespace {

constexpr int kMaxNvLinksOfGpu = 18;

using Distances = std::vector<std::vector<int>>;  // SmiDistance as int

constexpr int kUnknown = static_cast<int>(SmiDistance::kSys) + 1;

bool shares_domain(const SmiMatrix::Device& a, const SmiMatrix::Device& b) {
  return a.numa.empty() || b.numa.empty() ? !a.cpus.empty() && a.cpus == b.cpus : a.numa == b.numa;
}

// What the matrix says; of GPUs that NVLink joins, whether they share a NUMA domain.
Distances given_distances(const SmiMatrix& matrix) {
  const size_t size = matrix.devices.size();
  Distances distances(size, std::vector<int>(size, kUnknown));
  for (size_t i = 0; i < size; ++i) {
    distances[i][i] = 0;
    for (size_t j = 0; j < size; ++j) {
      if (i == j || !matrix.cells[i][j].has_value()) {
        continue;
      }
      if (matrix.cells[i][j]->nvlinks == 0) {
        distances[i][j] = static_cast<int>(matrix.cells[i][j]->distance);
      } else if (shares_domain(matrix.devices[i], matrix.devices[j])) {
        distances[i][j] = static_cast<int>(SmiDistance::kNode);
      }
    }
  }
  return distances;
}

// PCIe is a tree, so no two devices are farther apart than the farther of them from a third. Those
// that are joined by nothing known are in one NUMA domain if nothing speaks of several.
Distances tree_distances(const SmiMatrix& matrix) {
  Distances distances = given_distances(matrix);
  const size_t size = distances.size();
  for (size_t via = 0; via < size; ++via) {
    for (size_t i = 0; i < size; ++i) {
      for (size_t j = 0; j < size; ++j) {
        distances[i][j] = std::min(distances[i][j], std::max(distances[i][via], distances[via][j]));
      }
    }
  }
  bool knows_domains = false;
  for (size_t i = 0; i < size; ++i) {
    knows_domains |= !matrix.devices[i].cpus.empty() || !matrix.devices[i].numa.empty() ||
                     std::ranges::count(distances[i], static_cast<int>(SmiDistance::kSys)) > 0;
  }
  for (std::vector<int>& row : distances) {
    std::ranges::replace(
        row, kUnknown, static_cast<int>(knows_domains ? SmiDistance::kSys : SmiDistance::kNode));
  }
  return distances;
}

void check_agreement(const SmiMatrix& matrix, const Distances& distances) {
  for (size_t i = 0; i < distances.size(); ++i) {
    for (size_t j = 0; j < distances.size(); ++j) {
      const auto& cell = matrix.cells[i][j];
      if (i != j && cell.has_value() && cell->nvlinks == 0 &&
          static_cast<int>(cell->distance) != distances[i][j]) {
        throw Error(matrix.devices[i].location,
                    fmt::format("{} and {} are farther apart than a third device between them "
                                "allows; print nvidia-smi topo -m again",
                                matrix.devices[i].name,
                                matrix.devices[j].name));
      }
    }
  }
}

// Puts devices that are at most so far apart into one group: for each the first of its own.
std::vector<int> groups(const Distances& distances, SmiDistance most) {
  std::vector<int> first;
  for (const std::vector<int>& row : distances) {
    const auto found =
        std::ranges::find_if(row, [&](int distance) { return distance <= static_cast<int>(most); });
    first.push_back(static_cast<int>(found - row.begin()));
  }
  return first;
}

// Hangs devices below switches, root ports and sockets.
class Tree {
 public:
  Tree(const SmiMatrix& matrix, const Distances& distances, ImportedNode& node)
      : node_(node),
        socket_(groups(distances, SmiDistance::kNode)),
        port_(groups(distances, SmiDistance::kPxb)),
        switch_(groups(distances, SmiDistance::kPix)) {
    const std::set<int> sockets(socket_.begin(), socket_.end());
    node.sockets.resize(sockets.size());
    for (size_t i = 0; i < matrix.devices.size(); ++i) {
      node.devices.push_back(
          {.kind = matrix.devices[i].is_gpu ? ElementKind::kGpu : ElementKind::kNic,
           .socket = static_cast<int>(std::distance(sockets.begin(), sockets.find(socket_[i]))),
           .parent = kNone});
    }
  }

  void hang() {
    const int count = static_cast<int>(port_.size());
    for (int i = 0; i < count; ++i) {
      if (port_[i] == i && std::ranges::count(port_, i) > 1) {
        hang_below(i);
      }
    }
  }

 private:
  // One switch, or a switch for each group and one above them.
  void hang_below(int port) {
    const int socket = node_.devices[port].socket;
    const bool is_one = std::ranges::count(port_, port) == std::ranges::count(switch_, port);
    const int top = add_switch(socket, kNone);
    for (int i = 0; i < std::ssize(port_); ++i) {
      if (port_[i] == port && switch_[i] == i) {
        const int parent = is_one ? top : add_switch(socket, top);
        for (int j = i; j < std::ssize(port_); ++j) {
          if (switch_[j] == i) {
            node_.devices[j].parent = parent;
          }
        }
      }
    }
  }

  int add_switch(int socket, int parent) {
    node_.devices.push_back({.kind = ElementKind::kPcieSwitch, .socket = socket, .parent = parent});
    return static_cast<int>(node_.devices.size()) - 1;
  }

  ImportedNode& node_;
  std::vector<int> socket_;  // by device: the first one that shares it, as in the next two
  std::vector<int> port_;
  std::vector<int> switch_;
};

// NVLinks of GPUs that reach each other over some.
class NvLinkIsland {
 public:
  NvLinkIsland(const SmiMatrix& matrix, std::vector<int> gpus)
      : matrix_(matrix), gpus_(std::move(gpus)) {}

  void join(int& num_switches, ImportedNode& node) const {
    const int each = count(gpus_[0], gpus_[1]);
    if (is_uniform(each) && each * (std::ssize(gpus_) - 1) > kMaxNvLinksOfGpu) {
      join_by_switch(each, num_switches++, node);
    } else {
      join_directly(node);
    }
  }

 private:
  int count(int a, int b) const { return matrix_.cells[a][b]->nvlinks; }

  bool is_uniform(int each) const {
    return std::ranges::all_of(gpus_, [&](int a) {
      return std::ranges::all_of(gpus_, [&](int b) { return a == b || count(a, b) == each; });
    });
  }

  int total(int gpu) const {
    int total = 0;
    for (const int other : gpus_) {
      total += other == gpu ? 0 : count(gpu, other);
    }
    return total;
  }

  static KnownRate rate(int links_of_gpu) {
    return nvlink_rate_by_count(links_of_gpu).value_or(KnownRate());
  }

  // Each cell is what a GPU has in all.
  void join_by_switch(int each, int nvswitch, ImportedNode& node) const {
    if (each > kMaxNvLinksOfGpu) {
      throw too_many(gpus_[0], each);
    }
    for (const int gpu : gpus_) {
      node.nvlinks.push_back({.gpu = gpu, .to = nvswitch, .count = each, .link = rate(each)});
    }
    node.inferred.push_back(fmt::format(
        "NV{} between all of {} GPUs are more links than a GPU has: joined by NVSwitches, shown as "
        "one",
        each,
        gpus_.size()));
  }

  void join_directly(ImportedNode& node) const {
    const bool are_equal =
        std::ranges::all_of(gpus_, [&](int gpu) { return total(gpu) == total(gpus_[0]); });
    for (const int a : gpus_) {
      if (total(a) > kMaxNvLinksOfGpu) {
        throw too_many(a, total(a));
      }
      for (const int b : gpus_) {
        if (a < b && count(a, b) > 0) {
          node.nvlinks.push_back({.gpu = a,
                                  .to_kind = ElementKind::kGpu,
                                  .to = b,
                                  .count = count(a, b),
                                  .link = are_equal ? rate(total(a)) : KnownRate()});
        }
      }
    }
    node.inferred.push_back(fmt::format(
        "NVLinks of {} GPUs are no more than a GPU has: direct, without NVSwitch", gpus_.size()));
  }

  Error too_many(int gpu, int links) const {
    return {matrix_.devices[gpu].location,
            fmt::format("{} NVLinks of {}, where no GPU has more than {}; print nvidia-smi topo "
                        "-m again",
                        links,
                        matrix_.devices[gpu].name,
                        kMaxNvLinksOfGpu)};
  }

  const SmiMatrix& matrix_;
  std::vector<int> gpus_;
};

void join_gpus(const SmiMatrix& matrix, ImportedNode& node) {
  const int count = matrix.num_gpus();
  std::vector<bool> seen(count);
  int num_switches = 0;
  for (int start = 0; start < count; ++start) {
    std::vector<int> island = {start};
    for (size_t i = 0; i < island.size() && !seen[start]; ++i) {
      for (int gpu = start + 1; gpu < count; ++gpu) {
        const auto& cell = matrix.cells[island[i]][gpu];
        if (cell.has_value() && cell->nvlinks > 0 && std::ranges::count(island, gpu) == 0) {
          island.push_back(gpu);
        }
      }
    }
    for (const int gpu : island) {
      seen[gpu] = true;
    }
    if (island.size() > 1) {
      std::ranges::sort(island);
      NvLinkIsland(matrix, island).join(num_switches, node);
    }
  }
}

void add_notes(const SmiMatrix& matrix, ImportedNode& node) {
  bool hides = false;
  bool is_cut = false;
  for (size_t i = 0; i < matrix.cells.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      is_cut |= !matrix.cells[i][j].has_value();
      hides |= matrix.cells[i][j].has_value() && matrix.cells[i][j]->nvlinks > 0;
    }
  }
  node.inferred.push_back(
      fmt::format("NUMA domains, taken for sockets, with as few switches as the distances need: {}",
                  node.sockets.size()));
  if (hides) {
    node.inferred.emplace_back(
        "how near GPUs with NVLinks are over PCIe is not printed: as far apart as NICs and "
        "affinities allow");
  }
  if (is_cut) {
    node.inferred.emplace_back(
        "the output is cut: NICs whose cells are missing are as far apart as the others allow");
  }
}

}  // namespace

ImportedNode read_smi_topology(const std::string& text, const std::string& path) {
  const SmiMatrix matrix = read_smi_matrix(text, path);
  const Distances distances = tree_distances(matrix);
  check_agreement(matrix, distances);
  ImportedNode node;
  Tree(matrix, distances, node).hang();
  add_notes(matrix, node);
  join_gpus(matrix, node);
  return node;
}

}  // namespace moesim
