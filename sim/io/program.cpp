#include "sim/io/program.h"

#include <array>

namespace moesim {
namespace {

// By the alternatives of Descriptor: those that compute stand between the first two and the last.
constexpr std::array<const char*, std::variant_size_v<Descriptor>> kDescriptorNames = {
    "fixed",
    "collective",
    "gate",
    "order",
    "unorder",
    "expert",
    "attention",
    "slice",
    "replicate",
    "local_sum",
    "elementwise",
    "optimizer",
    "host_wait"};

}  // namespace

std::string descriptor_name(const Descriptor& descriptor) {
  return kDescriptorNames[descriptor.index()];
}

bool computes(const Descriptor& descriptor) {
  return !std::holds_alternative<Fixed>(descriptor) &&
         !std::holds_alternative<Collective>(descriptor) &&
         !std::holds_alternative<HostWait>(descriptor);
}

std::vector<std::string> compute_operation_names() {
  return {kDescriptorNames.begin() + 2, kDescriptorNames.end() - 1};
}

const char* to_string(CollectiveOperation operation) {
  switch (operation) {
    case CollectiveOperation::kAllReduce:
      return "ALL_REDUCE";
    case CollectiveOperation::kAllGather:
      return "ALL_GATHER";
    case CollectiveOperation::kReduceScatter:
      return "REDUCE_SCATTER";
    case CollectiveOperation::kAllToAll:
      return "ALL_TO_ALL";
    case CollectiveOperation::kShift:
      return "SHIFT";
    case CollectiveOperation::kBroadcast:
      return "BROADCAST";
  }
  return "";
}

const char* to_string(Pass pass) {
  switch (pass) {
    case Pass::kForward:
      return "FORWARD";
    case Pass::kRecompute:
      return "RECOMPUTE";
    case Pass::kBackward:
      return "BACKWARD";
    case Pass::kUpdate:
      return "UPDATE";
  }
  return "";
}

const char* to_string(JitterDistribution distribution) {
  return distribution == JitterDistribution::kLogNormal ? "LOG_NORMAL" : "SHIFTED_EXPONENTIAL";
}

const char* to_string(DataType type) {
  switch (type) {
    case DataType::kFp32:
      return "FP32";
    case DataType::kBf16:
      return "BF16";
    case DataType::kFp8E4m3:
      return "FP8_E4M3";
    case DataType::kInt32:
      return "INT32";
  }
  return "";
}

}  // namespace moesim
