#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/io/algorithm.h"
#include "sim/io/program.h"

namespace moesim {

// How well a fitted line holds.
struct Fit {
  int num_samples = 0;        // 0: not stated
  double r_squared = 0;       // 0: not stated
  double standard_error = 0;  // of the slope, relative; 0: not stated
};

// A measured time; the size is in bytes for a collective, in FLOPs for an operation (in bytes of
// memory where it has none).
struct MeasuredPoint {
  int64_t size = 0;
  double seconds = 0;
};

// What the start-up time of a collective is paid for: once, once for every other member, or once
// for each of the messages that a member sends one after the other.
enum class StartupPer { kTask, kPeer, kStep };

// Where a collective's time is spent: on the GPU's port, which others must share, on something of
// its own, or on links that are full meanwhile.
enum class BottleneckPlace { kPort, kPrivate, kLink };

// t(bytes) = startup + seconds_per_byte * bytes, or the measured points interpolated in log-log, of
// which the startup is then a part. Bytes are per rank as in `Collective`. `group_size` is the size
// it was measured with, on `num_nodes` nodes (0: not stated); another size scales the transfer by
// the share of bytes that cross the port. With `only_startup` nothing else was measured: the bytes
// take what links, or else the ports' rates, take.
struct CollectiveCost {
  CollectiveOperation operation = CollectiveOperation::kAllReduce;
  Span span = Span::kNode;
  int group_size = 0;
  int num_nodes = 0;
  double startup_seconds = 0;
  StartupPer startup_per = StartupPer::kTask;
  double seconds_per_byte = 0;
  std::vector<MeasuredPoint> points{};
  double weight = 1;  // in weighted max-min sharing of a port
  Fit fit{};
  BottleneckPlace bottleneck = BottleneckPlace::kPort;
  Algorithm algorithm = Algorithm::kDefault;  // that it was measured with
  bool only_startup = false;
  double peer_bytes_per_second = 0;   // that no two members' messages exceed; 0: no limit
  double ring_bytes_per_second = 0;   // that the links it was measured on give its ring; 0: unknown
  std::string bottleneck_link{};      // of kLink: which (sim/cluster/link_selector.h)
  std::string bottleneck_location{};  // of it in the profile's file, for messages
};

// t = num_gemms * startup + flops * seconds_per_flop
struct GemmCost {
  double startup_seconds = 0;
  double seconds_per_flop = 0;
  Fit fit;
};

inline constexpr int kMaxHardwareQueues = 32;  // CUDA_DEVICE_MAX_CONNECTIONS goes no further
inline constexpr int kDefaultHardwareQueues = kMaxHardwareQueues;

// t = startup + flops * seconds_per_flop + memory bytes * seconds_per_byte, for one kind of compute
// operation in one pass.
struct OperationCost {
  std::string operation;  // the descriptor's name
  Pass pass = Pass::kForward;
  double startup_seconds = 0;
  double seconds_per_flop = 0;
  double seconds_per_byte = 0;
  Fit fit;
  std::vector<MeasuredPoint> points{};  // instead of a line, ascending
};

// Measured costs and where they come from. An absent part costs nothing and is named among the
// result's assumptions.
struct Profile {
  std::string name;
  std::string source;
  std::vector<std::string> environment;  // settings under which it was measured
  std::string gpu;  // whose costs of computing these are: its product name; empty: not stated
  std::optional<GemmCost> gemm;
  std::optional<double> memory_bytes_per_second;
  std::vector<OperationCost> operations;  // each wins over gemm and memory_bytes_per_second
  std::vector<CollectiveCost> collectives;
  std::vector<AlgorithmChoice> algorithms;  // the first that fits holds
  // Port rates of the cluster that the collectives were measured on, bytes per second.
  std::optional<double> intra_node_rate;
  std::optional<double> inter_node_rate;
  double launch_overhead_seconds = 0;
  int hardware_queues = kDefaultHardwareQueues;  // 1..kMaxHardwareQueues
};

// The cost of a compute task's kind in its pass (a recomputation costs its forward pass), or null.
const OperationCost* operation_cost(const Profile& profile, const Task& task);

// Of the profile; the default without one (null).
int hardware_queues(const Profile* profile);

// Reads a profile in text format or JSON. Of the overrides, those that start with "profile." apply:
// "profile.hardware_queues=1". Throws Error located in the file or at the override.
Profile load_profile(const std::string& path, const std::vector<std::string>& overrides = {});

// The same for text that was read from `path`.
Profile parse_profile(const std::string& text,
                      const std::string& path,
                      const std::vector<std::string>& overrides = {});

// Puts algorithms, each as "OPERATION=NAME", before those of the profile. Throws Error, also where
// an operation is given two.
void prefer(const std::vector<std::string>& algorithms, Profile& profile);

// The profile in text format; reading it gives the same profile, numbers to nine digits.
std::string profile_to_text(const Profile& profile);

}  // namespace moesim
