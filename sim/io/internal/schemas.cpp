#include "sim/io/internal/schemas.h"

#include <string_view>

#include <fmt/format.h>

#include "sim/base/check.h"
#include "sim/base/message.h"
#include "sim/io/cluster.h"
#include "sim/io/gpu_check.h"
#include "sim/io/profile.h"
#include "sim/io/program.h"
#include "sim/io/scenario.h"
#include "sim/io/suggestion.h"
#include "sim/proto/cluster.pb.h"
#include "sim/proto/expectation.pb.h"
#include "sim/proto/gpu_check.pb.h"
#include "sim/proto/profile.pb.h"
#include "sim/proto/program.pb.h"
#include "sim/proto/scenario.pb.h"
#include "sim/proto/sweep.pb.h"
#include "sim/proto/trace.pb.h"

namespace moesim::io {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

const google::protobuf::Message& prototype(Schema schema) {
  switch (schema) {
    case Schema::kCluster:
      return proto::Cluster::default_instance();
    case Schema::kExpectation:
      return proto::Expectation::default_instance();
    case Schema::kGpuCheck:
      return proto::GpuCheck::default_instance();
    case Schema::kProfile:
      return proto::Profile::default_instance();
    case Schema::kProgram:
      return proto::Program::default_instance();
    case Schema::kScenario:
      return proto::Scenario::default_instance();
    case Schema::kSweep:
      return proto::Sweep::default_instance();
    case Schema::kTrace:
      return proto::Trace::default_instance();
  }
  CHECK(false, "no such schema");
}

// Enumerators are converted by their number: those of the schemas equal the native ones.
template <typename Proto, typename Native>
constexpr bool same(Proto left, Native right) {
  return static_cast<int>(left) == static_cast<int>(right);
}

static_assert(same(proto::FP32, DataType::kFp32) && same(proto::BF16, DataType::kBf16) &&
              same(proto::FP8_E4M3, DataType::kFp8E4m3) && same(proto::INT32, DataType::kInt32));
static_assert(same(proto::FORWARD, Pass::kForward) && same(proto::RECOMPUTE, Pass::kRecompute) &&
              same(proto::BACKWARD, Pass::kBackward) && same(proto::UPDATE, Pass::kUpdate));
static_assert(same(proto::Placement::blocks, PlacementAxis::kBlocks) &&
              same(proto::Placement::rows, PlacementAxis::kRows) &&
              same(proto::Placement::partial, PlacementAxis::kPartial));
static_assert(same(proto::Collective::ALL_REDUCE, CollectiveOperation::kAllReduce) &&
              same(proto::Collective::ALL_GATHER, CollectiveOperation::kAllGather) &&
              same(proto::Collective::REDUCE_SCATTER, CollectiveOperation::kReduceScatter) &&
              same(proto::Collective::ALL_TO_ALL, CollectiveOperation::kAllToAll) &&
              same(proto::Collective::SHIFT, CollectiveOperation::kShift) &&
              same(proto::Collective::BROADCAST, CollectiveOperation::kBroadcast));
static_assert(same(proto::GSHARD, GateKind::kGshard) && same(proto::SIGMOID, GateKind::kSigmoid) &&
              same(proto::XMOE, GateKind::kXmoe) &&
              same(proto::EXPERT_CHOICE, GateKind::kExpertChoice));
static_assert(same(proto::Elementwise::COPY, ElementwiseOperation::kCopy) &&
              same(proto::Elementwise::ADD, ElementwiseOperation::kAdd) &&
              same(proto::Elementwise::LOSS, ElementwiseOperation::kLoss));
static_assert(same(proto::Optimizer::SGD, OptimizerAlgorithm::kSgd) &&
              same(proto::Optimizer::ADAM, OptimizerAlgorithm::kAdam));
static_assert(same(proto::Jitter::LOG_NORMAL, JitterDistribution::kLogNormal) &&
              same(proto::Jitter::SHIFTED_EXPONENTIAL, JitterDistribution::kShiftedExponential));
static_assert(same(proto::FeedForward::SIMPLE, FeedForward::kSimple) &&
              same(proto::FeedForward::SWIGLU, FeedForward::kSwiglu));
static_assert(same(proto::AttentionMask::FULL, AttentionMask::kFull) &&
              same(proto::AttentionMask::CAUSAL, AttentionMask::kCausal));
static_assert(same(proto::Recompute::NONE, Recompute::kNothing) &&
              same(proto::Recompute::SELECTIVE, Recompute::kSelective) &&
              same(proto::Recompute::FULL, Recompute::kFull));
static_assert(same(proto::StageOrder::ONE_F_ONE_B, StageOrder::kOneForwardOneBackward) &&
              same(proto::StageOrder::GPIPE, StageOrder::kGpipe));
static_assert(same(proto::Span::NODE, Span::kNode) && same(proto::Span::FABRIC, Span::kFabric) &&
              same(proto::Span::BOTH, Span::kBoth));
static_assert(same(proto::CollectiveCost::TASK, StartupPer::kTask) &&
              same(proto::CollectiveCost::PEER, StartupPer::kPeer) &&
              same(proto::CollectiveCost::STEP, StartupPer::kStep) &&
              same(proto::CollectiveCost::PORT, BottleneckPlace::kPort) &&
              same(proto::CollectiveCost::PRIVATE, BottleneckPlace::kPrivate) &&
              same(proto::CollectiveCost::LINK, BottleneckPlace::kLink));
static_assert(same(proto::Algorithm::DEFAULT, Algorithm::kDefault) &&
              same(proto::Algorithm::DIRECT, Algorithm::kDirect) &&
              same(proto::Algorithm::RING, Algorithm::kRing) &&
              same(proto::Algorithm::TREE, Algorithm::kTree) &&
              same(proto::Algorithm::IN_SWITCH, Algorithm::kInSwitch) &&
              same(proto::Algorithm::HIERARCHICAL, Algorithm::kHierarchical) &&
              same(proto::Algorithm::PIPE, Algorithm::kPipe) &&
              same(proto::Algorithm::DEDUPLICATED, Algorithm::kDeduplicated) &&
              same(proto::Algorithm::FASTEST, Algorithm::kFastest));
static_assert(same(proto::NvLink::SWITCH, NvLinkForm::kSwitch) &&
              same(proto::NvLink::PAIRS, NvLinkForm::kPairs) &&
              same(proto::NvLink::MESH, NvLinkForm::kMesh));
static_assert(same(proto::Node::SWITCH, NicPlacement::kSwitch) &&
              same(proto::Node::ROOT_PORT, NicPlacement::kRootPort));
static_assert(same(proto::Transfers::SYSTEM, PeerAccess::kSystem) &&
              same(proto::Transfers::SOCKET, PeerAccess::kSocket) &&
              same(proto::Transfers::PCIE_SWITCH, PeerAccess::kPcieSwitch) &&
              same(proto::Transfers::NEVER, PeerAccess::kNever));
static_assert(same(proto::Fabric::SPRAY, FabricRouting::kSpray) &&
              same(proto::Fabric::DMODK, FabricRouting::kDmodk) &&
              same(proto::Fabric::HASH, FabricRouting::kHash));
static_assert(same(proto::LinkKind::ANY, LinkKind::kAny) &&
              same(proto::LinkKind::NVLINK, LinkKind::kNvLink) &&
              same(proto::LinkKind::PCIE, LinkKind::kPcie) &&
              same(proto::LinkKind::INTERCONNECT, LinkKind::kInterconnect) &&
              same(proto::LinkKind::MEMORY, LinkKind::kMemory) &&
              same(proto::LinkKind::NETWORK, LinkKind::kNetwork));
static_assert(same(proto::GpuProbe::GEMM, GpuProbeKind::kGemm) &&
              same(proto::GpuProbe::GEMM_BESIDE_COPY, GpuProbeKind::kGemmBesideCopy) &&
              same(proto::GpuProbe::GEMM_BESIDE_SPIN, GpuProbeKind::kGemmBesideSpin) &&
              same(proto::GpuProbe::LATE_COPY, GpuProbeKind::kLateCopy) &&
              same(proto::GpuProbe::QUEUES, GpuProbeKind::kQueues) &&
              same(proto::GpuProbe::COPY, GpuProbeKind::kCopy) &&
              same(proto::GpuProbe::LAUNCH, GpuProbeKind::kLaunch) &&
              same(proto::GpuProbe::COLLECTIVE, GpuProbeKind::kCollective) &&
              same(proto::GpuProbe::COLLECTIVE_PAIR, GpuProbeKind::kCollectivePair) &&
              proto::GpuProbe::Kind_ARRAYSIZE == kNumGpuProbeKinds);
static_assert(same(proto::GpuCheckPart::DONE, GpuCheckStatus::kDone) &&
              same(proto::GpuCheckPart::CUT_OFF, GpuCheckStatus::kCutOff) &&
              same(proto::GpuCheckPart::FAILED, GpuCheckStatus::kFailed));

}  // namespace

std::unique_ptr<google::protobuf::Message> make_message(Schema schema) {
  return std::unique_ptr<google::protobuf::Message>(prototype(schema).New());
}

std::vector<std::string> field_names(const Descriptor& schema) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(schema.field_count()));
  for (int i = 0; i < schema.field_count(); ++i) {
    names.push_back(schema.field(i)->name());
  }
  return names;
}

std::string field_problem(Schema schema, const std::vector<Step>& steps) {
  const Descriptor* message = prototype(schema).GetDescriptor();
  std::string_view parent;
  for (const Step& step : steps) {
    if (message == nullptr) {
      return fmt::format(
          "{} has no field {}; end the path before it", in_quotes(parent), in_quotes(step.name));
    }
    const FieldDescriptor* field = message->FindFieldByName(step.name);
    if (field == nullptr) {
      return fmt::format("no field {} in {}; {}",
                         in_quotes(step.name),
                         message->name(),
                         suggestion(step.name, field_names(*message)));
    }
    message = field->message_type();
    parent = step.name;
  }
  return message == nullptr ? ""
                            : fmt::format("\"{}\" is a group of fields; name one of {}",
                                          parent,
                                          fmt::join(field_names(*message), ", "));
}

}  // namespace moesim::io
