#pragma once

#include <string_view>

// The kinds of the tasks that schedules issue, as they stand in Program files and results.
namespace moesim::task_kind {

// A layer's computation.
inline constexpr std::string_view kAttention = "attention";
inline constexpr std::string_view kGate = "gate";
inline constexpr std::string_view kOrder = "order";
inline constexpr std::string_view kUnorder = "unorder";
inline constexpr std::string_view kExpert = "expert";
inline constexpr std::string_view kLoss = "loss";
inline constexpr std::string_view kOptimizer = "optimizer";

// Rows that a rank moves about by itself.
inline constexpr std::string_view kSlice = "slice";
inline constexpr std::string_view kPad = "pad";
inline constexpr std::string_view kReplicate = "replicate";
inline constexpr std::string_view kLocalSum = "local_sum";
inline constexpr std::string_view kAdd = "add";

// Tokens between ranks.
inline constexpr std::string_view kDispatch = "dispatch";
inline constexpr std::string_view kCombine = "combine";
inline constexpr std::string_view kEspAllGather = "esp_all_gather";
inline constexpr std::string_view kEspReduceScatter = "esp_reduce_scatter";
inline constexpr std::string_view kEspAllReduce = "esp_all_reduce";
inline constexpr std::string_view kMpAllGather = "mp_all_gather";
inline constexpr std::string_view kMpReduceScatter = "mp_reduce_scatter";
inline constexpr std::string_view kMpAllReduce = "mp_all_reduce";

// Between neighbouring stages.
inline constexpr std::string_view kActivationShift = "activation_shift";
inline constexpr std::string_view kGradientShift = "gradient_shift";

// Gradients of parameters.
inline constexpr std::string_view kGradientAllReduce = "gradient_all_reduce";  // dense ones
inline constexpr std::string_view kGateGradientAllReduce = "gate_gradient_all_reduce";
inline constexpr std::string_view kExpertGradientAllReduce = "expert_gradient_all_reduce";

}  // namespace moesim::task_kind
