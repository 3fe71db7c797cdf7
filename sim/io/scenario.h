#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/io/program.h"

namespace moesim {

enum class FeedForward { kSimple, kSwiglu };
enum class AttentionMask { kFull, kCausal };
enum class Recompute { kNothing, kSelective, kFull };

// A transformer of `layers` layers, each attention followed by a Mixture of Experts.
// Notation of the papers: batch B, sequence L, embedding M, hidden H, experts E, top_k k,
// capacity_factor f.
struct ModelConfig {
  std::string name;
  int layers = 0;
  int batch = 0;  // samples per mp group and iteration, over all micro-batches
  int sequence = 0;
  int embedding = 0;
  int hidden = 0;  // of one expert
  int heads = 0;
  int kv_heads = 0;
  int experts = 0;
  int top_k = 0;
  std::optional<double> capacity_factor;  // absent: no token is dropped
  FeedForward feed_forward = FeedForward::kSimple;
  AttentionMask attention = AttentionMask::kFull;
  GateKind gate = GateKind::kGshard;
  DataType dtype = DataType::kFp32;
  Recompute recompute = Recompute::kNothing;
  std::optional<OptimizerAlgorithm> optimizer;  // absent: the iteration has no update step
  bool pad_capacity = false;  // to a multiple of lcm(r_forward, r_backward), as FSMoE's authors do

  int64_t tokens() const { return int64_t{batch} * sequence; }
  int head_size() const { return embedding / heads; }
};

// Group sizes: mp * dp * pp = world on the dense grid, esp * ep * edp * pp = world on the expert
// grid. A stage is a block of consecutive ranks; all groups but pp stay within one.
struct ParallelConfig {
  int mp = 1;
  int dp = 1;
  int esp = 1;
  int ep = 1;
  int edp = 1;
  int pp = 1;  // stages

  int stage_ranks() const { return mp * dp; }
  int world() const { return stage_ranks() * pp; }
};

// In which order a stage passes through the micro-batches of an iteration.
enum class StageOrder { kOneForwardOneBackward, kGpipe };

struct PipelineConfig {
  int micro_batches = 1;
  StageOrder order = StageOrder::kOneForwardOneBackward;
};

enum class RoutingKind { kBalanced, kZipf, kGiven };

struct RoutingConfig {
  RoutingKind kind = RoutingKind::kBalanced;
  double zipf_exponent = 0;
  std::vector<std::vector<int>> tokens;  // kGiven: [source rank][expert]
};

// The largest degree that may be asked for.
inline constexpr int kMaxGivenDegree = 1024;

// Degrees of a pipelined schedule. An absent value is chosen by the policy.
struct DegreeConfig {
  std::string location;  // of errors about them: "a.txtpb:12:1", "--degree 4,2"
  std::optional<int> forward;
  std::optional<int> backward;
  std::optional<int> non_moe;          // sp_moe: r_n
  std::vector<int> forward_per_layer;  // instead of `forward`: one per layer
  std::vector<int> backward_per_layer;
};

// How GPUs differ. `rank_speed` is empty or holds a factor for each rank.
struct VariationConfig {
  std::vector<double> rank_speed;
  std::optional<Jitter> jitter;
};

struct Scenario {
  std::string path;  // of the file it came from
  std::string name;
  std::string description;
  std::string cluster_path;  // resolved; empty when the scenario names none
  std::string profile_path;
  ModelConfig model;
  ParallelConfig parallel;
  PipelineConfig pipeline;
  RoutingConfig routing;
  std::vector<std::string> schedules;
  std::string baseline;
  DegreeConfig degrees;
  int64_t gradient_chunk_bytes = 30'000'000;  // lina
  uint64_t seed = 1;
  VariationConfig variation;

  // What one stage computes of one micro-batch: a run of the layers on a part of the batch.
  ModelConfig stage_model() const;
};

}  // namespace moesim
