#include <fmt/core.h>

#include "sim/base/units.h"
#include "sim/io/internal/printer.h"
#include "sim/io/profile.h"
#include "sim/proto/profile.pb.h"

namespace moesim {
namespace {

std::string microseconds(double seconds) {
  return fmt::format("{:.9g} us", seconds * 1e6);
}

std::string per_byte(double seconds) {
  return fmt::format("{:.9g} ns/KB", seconds * 1e12);
}

std::string per_flop(double seconds) {
  return fmt::format("{:.9g} ns/MFLOP", seconds * 1e15);
}

std::string rate(double bytes_per_second) {
  return fmt::format("{:.9g} GB/s", bytes_per_second * 1e-9);
}

void write(const Fit& fit, proto::Fit& message) {
  message.set_num_samples(fit.num_samples);
  if (fit.r_squared > 0) {
    message.set_r_squared(fit.r_squared);
  }
  if (fit.standard_error > 0) {
    message.set_standard_error(fit.standard_error);
  }
}

void write(const OperationCost& cost, proto::OperationCost& message) {
  message.set_operation(cost.operation);
  message.set_pass(static_cast<proto::Pass>(cost.pass));
  if (cost.points.empty()) {
    message.set_startup(microseconds(cost.startup_seconds));
  }
  for (const MeasuredPoint& point : cost.points) {
    proto::WorkPoint& written = *message.add_points();
    written.set_work(point.size);
    written.set_time(microseconds(point.seconds));
  }
  if (cost.seconds_per_flop > 0) {
    message.set_per_flop(per_flop(cost.seconds_per_flop));
  }
  if (cost.seconds_per_byte > 0) {
    message.set_per_byte(per_byte(cost.seconds_per_byte));
  }
  if (cost.fit.num_samples > 0) {
    write(cost.fit, *message.mutable_fit());
  }
}

void write(const CollectiveCost& cost, proto::CollectiveCost& message) {
  message.set_operation(static_cast<proto::Collective::Operation>(cost.operation));
  message.set_span(static_cast<proto::Span::Value>(cost.span));
  if (cost.group_size > 0) {
    message.set_group_size(cost.group_size);
  }
  if (cost.num_nodes > 0) {
    message.set_num_nodes(cost.num_nodes);
  }
  if (cost.points.empty() || cost.startup_seconds > 0) {
    message.set_startup(microseconds(cost.startup_seconds));
    message.set_startup_per(static_cast<proto::CollectiveCost::StartupPer>(cost.startup_per));
  }
  if (cost.points.empty() && !cost.only_startup) {
    message.set_per_byte(per_byte(cost.seconds_per_byte));
  }
  for (const MeasuredPoint& point : cost.points) {
    proto::MeasuredPoint& written = *message.add_points();
    written.set_bytes(format_bytes_exact(point.size));
    written.set_time(microseconds(point.seconds));
  }
  if (cost.weight != 1) {
    message.set_weight(cost.weight);
  }
  if (cost.bottleneck != BottleneckPlace::kPort) {
    message.set_bottleneck(
        static_cast<proto::CollectiveCost::Bottleneck>(static_cast<int>(cost.bottleneck)));
  }
  if (!cost.bottleneck_link.empty()) {
    message.set_bottleneck_link(cost.bottleneck_link);
  }
  if (cost.algorithm != Algorithm::kDefault) {
    message.set_algorithm(static_cast<proto::Algorithm::Value>(cost.algorithm));
  }
  if (cost.peer_bytes_per_second > 0) {
    message.set_peer_rate(rate(cost.peer_bytes_per_second));
  }
  if (cost.ring_bytes_per_second > 0) {
    message.set_ring_rate(rate(cost.ring_bytes_per_second));
  }
  if (cost.fit.num_samples > 0) {
    write(cost.fit, *message.mutable_fit());
  }
}

void write(const AlgorithmChoice& choice, proto::AlgorithmChoice& message) {
  message.set_operation(static_cast<proto::Collective::Operation>(choice.operation));
  if (choice.span.has_value()) {
    message.set_span(static_cast<proto::Span::Value>(*choice.span));
  }
  message.set_algorithm(static_cast<proto::Algorithm::Value>(choice.algorithm));
}

}  // namespace

std::string profile_to_text(const Profile& profile) {
  proto::Profile message;
  message.set_name(profile.name);
  message.set_source(profile.source);
  for (const std::string& setting : profile.environment) {
    message.add_environment(setting);
  }
  if (!profile.gpu.empty()) {
    message.set_gpu(profile.gpu);
  }
  if (profile.gemm.has_value()) {
    proto::GemmCost& gemm = *message.mutable_gemm();
    gemm.set_startup(microseconds(profile.gemm->startup_seconds));
    gemm.set_per_flop(per_flop(profile.gemm->seconds_per_flop));
    if (profile.gemm->fit.num_samples > 0) {
      write(profile.gemm->fit, *gemm.mutable_fit());
    }
  }
  if (profile.memory_bytes_per_second.has_value()) {
    message.set_memory_rate(rate(*profile.memory_bytes_per_second));
  }
  for (const OperationCost& cost : profile.operations) {
    write(cost, *message.add_operations());
  }
  for (const CollectiveCost& cost : profile.collectives) {
    write(cost, *message.add_collectives());
  }
  for (const AlgorithmChoice& choice : profile.algorithms) {
    write(choice, *message.add_algorithms());
  }
  message.set_launch_overhead(microseconds(profile.launch_overhead_seconds));
  message.set_hardware_queues(profile.hardware_queues);
  if (profile.intra_node_rate.has_value()) {
    message.set_intra_node_rate(rate(*profile.intra_node_rate));
  }
  if (profile.inter_node_rate.has_value()) {
    message.set_inter_node_rate(rate(*profile.inter_node_rate));
  }
  return io::to_text(message);
}

}  // namespace moesim
