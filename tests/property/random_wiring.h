#pragma once

#include <string>
#include <vector>

#include "sim/base/random.h"

namespace moesim {

// A cluster file.
struct RandomWiring {
  std::string text;
  bool is_symmetric = true;
};

// A node of each kind, a fabric of each kind; every other cluster has a link of another rate.
inline RandomWiring random_wiring(Random& random, int& num_nodes, int& gpus) {
  num_nodes = static_cast<int>(random.uniform_int(1, 2)) * 2;
  gpus = static_cast<int>(random.uniform_int(1, 2)) * 2;
  const auto pick = [&](std::vector<std::string> texts) {
    return texts[static_cast<size_t>(random.uniform_int(0, std::ssize(texts) - 1))];
  };
  RandomWiring made;
  made.text =
      "num_nodes: " + std::to_string(num_nodes) + " gpus_per_node: " + std::to_string(gpus) +
      " gpu_memory: '1 GiB' nodes { node { pcie_rate: '" + pick({"1 GB/s", "2 GB/s", "8 GB/s"}) +
      "' memory_rate: '" + pick({"1 GB/s", "100 GB/s"}) +
      "' gpus_per_pcie_switch: " + pick({"1", "2"}) +
      pick(
          {"", " nvlink { rate: '4 GB/s' switches: 2 }", " nvlink { form: MESH rate: '3 GB/s' }"}) +
      " nics: " + pick({"1", std::to_string(gpus)}) + " nic_rate: '1 GB/s' } } fabric { " +
      pick({"single_switch {}",
            "fat_tree { down: [2, 8] }",
            "fat_tree { down: [2, 8] oversubscription: 2 }"}) +
      " } transfers { " + pick({"", "no_gpudirect: true", "peer_access: NEVER"}) + " }";
  if (random.uniform() < 0.5) {
    made.is_symmetric = false;
    made.text +=
        " changes { at: 'node:1/nic:0' kind: NETWORK rate_factor: " + pick({"0.5", "0.25"}) + " }";
  }
  return made;
}

}  // namespace moesim
