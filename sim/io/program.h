#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/base/time.h"

namespace moesim {

// Names are indices in the native structs: no look-up by string after loading.
inline constexpr int kNone = -1;

enum class DataType { kFp32, kBf16, kFp8E4m3, kInt32 };

// Size of one element in bytes.
constexpr int64_t size_of(DataType type) {
  switch (type) {
    case DataType::kFp32:
    case DataType::kInt32:
      return 4;
    case DataType::kBf16:
      return 2;
    case DataType::kFp8E4m3:
      return 1;
  }
  return 0;
}

enum class Pass { kForward, kRecompute, kBackward, kUpdate };
inline constexpr int kNumPasses = 4;

// Ranks that run the same tasks. Roles are disjoint; a task names the roles that run it.
struct Role {
  std::string name;
  std::vector<int> ranks;
};

// A named partition: `members[i]` lists the ranks of instance i in group order. Ranks in no
// instance skip the group's collectives.
struct Group {
  std::string name;
  std::vector<std::vector<int>> members;
};

enum class PlacementAxis { kBlocks, kRows, kPartial };

struct Placement {
  int group = kNone;
  PlacementAxis axis = PlacementAxis::kBlocks;
};

// A rank's logical buffer of blocks x rows x columns elements.
struct Tensor {
  std::string name;
  int blocks = 1;
  int rows = 0;
  int columns = 0;
  DataType dtype = DataType::kFp32;
  bool input = false;  // written before the Program starts
  int seed = 0;
  std::vector<Placement> placement;

  int64_t row_bytes() const { return int64_t{columns} * size_of(dtype); }
  int64_t bytes() const { return int64_t{blocks} * rows * row_bytes(); }
};

// tokens[source rank][expert]
struct Routing {
  std::string name;
  std::vector<std::vector<int>> tokens;
};

// A rectangle of a tensor: blocks [first_block, first_block + num_blocks) and, in each of them,
// rows [first_row, first_row + num_rows). A collective sees it as the list of its rows, block by
// block.
//
// With `relative_to`, a group of n members, the tensor's blocks are a circle of n equal slots, one
// for each member, and `first_block` (which may be negative) counts from the rank's own slot:
//   block k of the region = (own index * blocks / n + first_block + k) mod blocks.
// An ALL_GATHER's output relative to a group is a run of blocks for every member of the gather's
// own group, in their order. Each run is such a circle, with blocks / members in place of blocks,
// and holds num_blocks / members blocks of the region, at the place where *that* member's slot in
// `relative_to` puts them: each member's rows land in its run where they lay in its own buffer.
struct Region {
  int tensor = kNone;
  int first_block = 0;
  int num_blocks = 0;
  int first_row = 0;
  int num_rows = 0;
  int relative_to = kNone;  // group

  int64_t num_list_rows() const { return int64_t{num_blocks} * num_rows; }

  friend bool operator==(const Region&, const Region&) = default;
};

enum class CollectiveOperation {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kShift,
  kBroadcast
};

enum class GateKind { kGshard, kSigmoid, kXmoe, kExpertChoice };
enum class ElementwiseOperation { kCopy, kAdd, kLoss };
enum class OptimizerAlgorithm { kSgd, kAdam };

// The operands of each kind, `reads -> writes` in this order. "Accumulates": a region that is
// written again stands behind the other reads as well; where nothing is there yet, it does not.
//   gate       x, w_gate -> probs (1, rows, E), index (blocks, T, 1; INT32), weight (blocks, T, 1)
//     backward d_weight, probs, index, x, w_gate -> dx, dw_gate; both accumulate
//   order      x, index -> buffer; backward d_buffer, index -> dx
//   unorder    buffer, index, weight -> y; backward dy, buffer, index, weight -> d_buffer, d_weight
//   expert     x, w1, w2[, w3] -> y, hidden; recomputed, it may write hidden alone
//     backward dy, x, hidden, w1, w2[, w3] -> dx, dw1, dw2[, dw3]; dw accumulate
//   attention  x, [qkv rows before the chunk], w -> qkv, context, y; recomputed, y may be left out.
//              Tensors are (samples, positions, columns); w is (1, columns of qkv and context, M)
//     backward dy, x, qkv (up to the chunk's end; all of it when not causal), context, w
//              -> d_qkv (the same rows), dx, dw; d_qkv and dw accumulate
//   slice, replicate, local_sum   the i-th region read becomes the i-th written
//   elementwise inputs -> output
//   optimizer  gradients, weights, state -> weights, state
//   host_wait  what the host needs -> nothing
struct Fixed {
  Time time;
};

// `bytes` is per rank: all-reduce the full buffer; all-gather the output; reduce-scatter the
// input; all-to-all the full send buffer; shift and broadcast what one member sends. A Program
// that was loaded or built always has it: it follows from the regions.
// SHIFT: member m sends to member m + distance. Without `wrap`, a member whose destination lies
// outside the group sends nothing (its read is void) and one whose source does receives nothing
// (its write is void). BROADCAST: the root alone reads, every member writes.
// Ranks outside the group skip the task: it keeps its place in their streams and its waits.
// Collectives of one group on one stream are a communicator: the k-th that a member issues meets
// the k-th of the others, whichever tasks their roles issue there.
struct Collective {
  CollectiveOperation operation = CollectiveOperation::kAllReduce;
  int group = kNone;
  int64_t bytes = 0;
  int routing = kNone;
  int distance = 0;
  bool wrap = false;
  int root = 0;
  int top_k = 0;         // of a dispatch or combine (0: not stated): each token has a row with so
  int num_experts = 0;   // many different experts of these, in equal runs on the members
  bool combine = false;  // the rows go back to their tokens
};

// `experts` names the expert of each block of the index; an expert's slots continue through its
// blocks in that order. With `domains` = D the rows read are cut into D equal ranges, each a
// capacity domain with the D-th part of an expert's slots (without capacity: as many as it has
// tokens), one behind the other. Who chooses:
//   a routing   expert e is listed count_e times, one expert behind the other; entry p of the list
//               is a choice of row p mod rows. Domain d has the counts of member d of the group
//               over which x was gathered (else the rank's own). Scores and weights are computed.
//   EXPERT_CHOICE  every expert takes the rows of highest probability, the lower of equals first
//   no_drop     without routing: choice j of row r is expert (r * k + j) mod E: balanced
//   else        each row its k experts of highest probability, the lower of equals first
// Rows take slots in their order until an expert has none left: later ones are dropped.
struct Gate {
  GateKind gate = GateKind::kGshard;
  int top_k = 1;
  std::vector<int> experts;
  int routing = kNone;
  bool no_drop = false;
  int domains = 1;
};

struct Order {
  std::vector<int> experts;
};

struct Unorder {
  std::vector<int> experts;
};

struct Expert {
  std::vector<int> experts;
  bool swiglu = false;
};

// heads and kv_heads are this rank's share.
struct Attention {
  int heads = 0;
  int kv_heads = 0;
  int head_size = 0;
  bool causal = false;
};

// Keeps the member's own run of the read region; where the written region is the larger one, the
// reverse: the own run among zeros.
struct Slice {
  int group = kNone;
};

struct Replicate {
  int group = kNone;
  int copies = 1;
};

struct LocalSum {
  int group = kNone;
  int copies = 1;
};

struct Elementwise {
  ElementwiseOperation operation = ElementwiseOperation::kCopy;
};

struct Optimizer {
  OptimizerAlgorithm algorithm = OptimizerAlgorithm::kSgd;
};

struct HostWait {};

using Descriptor = std::variant<Fixed,
                                Collective,
                                Gate,
                                Order,
                                Unorder,
                                Expert,
                                Attention,
                                Slice,
                                Replicate,
                                LocalSum,
                                Elementwise,
                                Optimizer,
                                HostWait>;

// `waits` protect data and are derived by ProgramBuilder; `order_only` protect none. Both hold
// indices of earlier tasks, ascending. `roles` empty: every rank runs the task.
struct Task {
  std::string name;
  std::vector<int> roles;
  int stream = kNone;  // index into Program::streams; kNone for host_wait
  std::string kind;
  Pass pass = Pass::kForward;
  int layer = kNone;
  int chunk = kNone;
  int micro_batch = kNone;  // of a Program that has several
  std::vector<Region> reads;
  std::vector<Region> writes;
  std::vector<int> waits;
  std::vector<int> order_only;
  Descriptor descriptor;
};

// How the times of operations vary: a factor of mean 1 for each operation on each rank
// (sim/program/variation.h).
enum class JitterDistribution { kLogNormal, kShiftedExponential };

struct Jitter {
  double relative_deviation = 0;  // above 0, at most 1
  JitterDistribution distribution = JitterDistribution::kLogNormal;
  uint64_t seed = 1;
};

// The tasks of one training iteration, in launch order. `streams` lists stream names in order of
// first use. `rank_scale` is empty or holds one factor per rank for fixed times, `rank_speed` one
// by which the rank's operations are faster than the profile says.
struct Program {
  std::string name;
  int num_ranks = 0;
  std::vector<Role> roles;
  std::vector<Group> groups;
  std::vector<std::string> streams;
  std::vector<Tensor> tensors;
  std::vector<Routing> routings;
  std::vector<double> rank_scale;
  std::vector<double> rank_speed;
  std::optional<Jitter> jitter;
  std::vector<Task> tasks;
};

// The descriptor's name as it stands in files: "fixed", "collective", "gate", …
std::string descriptor_name(const Descriptor& descriptor);

// True where it is an operation: neither fixed nor a collective nor a wait of the host.
bool computes(const Descriptor& descriptor);

// The names of the descriptors that compute: "gate", "order", …
std::vector<std::string> compute_operation_names();

// The collective's name as it stands in files and reports: "ALL_REDUCE", …
const char* to_string(CollectiveOperation operation);
const char* to_string(Pass pass);
const char* to_string(DataType type);
const char* to_string(JitterDistribution distribution);

// Reads a Program in text format or JSON. What the verifier judges is left to it: regions may lie
// outside their tensors and bytes may contradict them. Everything else that is wrong throws Error:
// unknown names, ranks outside the world, groups or roles that overlap, waits for later tasks,
// quantities beyond reason. Absent bounds, bytes and kinds are filled in.
Program load_program(const std::string& path);

// The same for text that was read from `path`.
Program parse_program(const std::string& text, const std::string& path);

// Everything spelt out, zeros too, one task a line. Reading it gives the same Program.
std::string program_to_json(const Program& program);

// The same in text format.
std::string program_to_text(const Program& program);

}  // namespace moesim
