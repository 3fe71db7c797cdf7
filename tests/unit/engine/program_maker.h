#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/io/cluster.h"
#include "sim/io/profile.h"
#include "sim/io/program.h"

namespace moesim {

inline Time ps(std::int64_t picoseconds) {
  return Time::from_picoseconds(picoseconds);
}

// Writes Programs by hand, with times in picoseconds. Streams are made on first use.
class ProgramMaker {
 public:
  explicit ProgramMaker(int num_ranks) {
    program_.name = "test";
    program_.num_ranks = num_ranks;
  }

  int group(std::string name, std::vector<std::vector<int>> members) {
    program_.groups.push_back({.name = std::move(name), .members = std::move(members)});
    return static_cast<int>(program_.groups.size()) - 1;
  }

  int role(std::string name, std::vector<int> ranks) {
    program_.roles.push_back({.name = std::move(name), .ranks = std::move(ranks)});
    return static_cast<int>(program_.roles.size()) - 1;
  }

  int fixed(const std::string& stream, std::int64_t picoseconds, std::vector<int> waits = {}) {
    return add(stream, Fixed{ps(picoseconds)}, std::move(waits));
  }

  int collective(const std::string& stream,
                 const Collective& descriptor,
                 std::vector<int> waits = {}) {
    return add(stream, descriptor, std::move(waits));
  }

  int host_wait(std::vector<int> waits) {
    Task& task = append(HostWait{});
    task.waits = std::move(waits);
    return last();
  }

  Task& task(int index) { return program_.tasks[index]; }
  Program& program() { return program_; }
  const Program& program() const { return program_; }

 private:
  int add(const std::string& stream, const Descriptor& descriptor, std::vector<int> waits) {
    Task& task = append(descriptor);
    task.stream = stream_index(stream);
    task.waits = std::move(waits);
    return last();
  }

  Task& append(const Descriptor& descriptor) {
    Task& task = program_.tasks.emplace_back();
    task.name = "t" + std::to_string(last());
    task.descriptor = descriptor;
    return task;
  }

  int last() const { return static_cast<int>(program_.tasks.size()) - 1; }

  int stream_index(const std::string& name) {
    for (std::size_t i = 0; i < program_.streams.size(); ++i) {
      if (program_.streams[i] == name) {
        return static_cast<int>(i);
      }
    }
    program_.streams.push_back(name);
    return static_cast<int>(program_.streams.size()) - 1;
  }

  Program program_;
};

// `nodes` x `gpus_per_node` GPUs. One byte takes 1 ps on every port, latencies are zero.
inline Cluster make_cluster(int nodes, int gpus_per_node) {
  Cluster cluster;
  cluster.name = "cluster";
  cluster.num_nodes = nodes;
  cluster.gpus_per_node = gpus_per_node;
  cluster.intra_node.bytes_per_second = 1e12;
  cluster.inter_node.bytes_per_second = 1e12;
  return cluster;
}

// A measured collective of `startup` + `per_byte` * bytes picoseconds.
inline CollectiveCost make_cost(CollectiveOperation operation,
                                Span span,
                                double startup,
                                double per_byte) {
  CollectiveCost cost;
  cost.operation = operation;
  cost.span = span;
  cost.startup_seconds = startup * 1e-12;
  cost.seconds_per_byte = per_byte * 1e-12;
  return cost;
}

}  // namespace moesim
