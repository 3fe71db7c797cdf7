#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "calibration/nccl_log.h"
#include "calibration/robust_fit.h"
#include "sim/base/error.h"
#include "sim/cli/algorithm_estimate.h"
#include "sim/cli/commands.h"
#include "sim/cli/output.h"
#include "sim/cluster/wired_cluster.h"
#include "sim/collective/layout_model.h"
#include "sim/collective/tariff.h"
#include "sim/io/cluster.h"
#include "sim/io/files.h"
#include "sim/io/profile.h"
#include "sim/report/text.h"

namespace moesim {
namespace {

constexpr std::int64_t kLeastSize = 64 * 1024;
constexpr std::int64_t kLargestSize = 1024 * 1024 * 1024;

// Measured times of a layout by size.
using Measured = std::map<std::int64_t, double>;

struct Question {
  CollectiveOperation operation = CollectiveOperation::kAllReduce;
  Layout layout;
  std::optional<Algorithm> algorithm;
  std::vector<std::int64_t> sizes;
  Measured measured;
};

using Estimate = std::function<LayoutEstimate(std::int64_t bytes)>;

// What the command line says of the layout; nothing where it leaves it to the log.
std::optional<Layout> given_layout(const PredictCollectiveOptions& options) {
  if (options.nodes > 0 && options.gpus > 0) {
    return Layout{options.nodes, options.gpus};
  }
  if (options.cluster.empty()) {
    return std::nullopt;
  }
  const Cluster cluster = load_cluster(options.cluster);
  return Layout{options.nodes > 0 ? options.nodes : cluster.num_nodes,
                options.gpus > 0 ? options.gpus : cluster.gpus_per_node};
}

// The tests of the log that answer: of the collective, on the layout.
Measured read_measured(const PredictCollectiveOptions& options, std::optional<Layout>& layout) {
  const std::string collective(nccl_collective(*options.operation).name);
  const NcclLog log = parse_nccl_log(
      options.against, read_file(options.against), {.collective = collective, .layout = layout});
  std::map<std::int64_t, std::vector<double>> times;
  std::string others;
  for (const NcclRun& run : log.runs) {
    if (run.collective != collective || (layout && run.layout != *layout)) {
      others += fmt::format(
          "{}{} on {}", others.empty() ? "" : ", ", run.collective, to_string(run.layout));
      continue;
    }
    layout = run.layout;
    for (const NcclRow& row : run.rows) {
      times[row.bytes].push_back(row.seconds());
    }
  }
  if (times.empty()) {
    throw Error(
        options.against,
        fmt::format(
            "no {}{}; it has {}", collective, layout ? " on " + to_string(*layout) : "", others));
  }
  Measured measured;
  for (const auto& [bytes, samples] : times) {
    measured[bytes] = median(samples);
  }
  return measured;
}

std::vector<std::int64_t> default_sizes(const Measured& measured) {
  std::vector<std::int64_t> sizes;
  for (const auto& [bytes, seconds] : measured) {
    sizes.push_back(bytes);
  }
  for (std::int64_t size = kLeastSize; measured.empty() && size <= kLargestSize; size *= 2) {
    sizes.push_back(size);
  }
  return sizes;
}

Question make_question(const PredictCollectiveOptions& options) {
  Question question{.operation = *options.operation,
                    .layout = {},
                    .algorithm = {},
                    .sizes = options.sizes,
                    .measured = {}};
  if (options.algorithm) {
    const std::string choice = std::string(to_string(question.operation)) + "=";
    question.algorithm = parse_algorithm_choice(choice + *options.algorithm).algorithm;
    if (options.cluster.empty()) {
      throw Error("--algorithm " + *options.algorithm,
                  "an algorithm needs links or ports to send over; give --cluster FILE");
    }
  }
  std::optional<Layout> layout = given_layout(options);
  if (!options.against.empty()) {
    question.measured = read_measured(options, layout);
  }
  question.layout = layout.value();
  if (question.layout.size() < 2) {
    throw Error("a collective of one rank takes no time; give --nodes and --gpus of two or more");
  }
  if (question.sizes.empty()) {
    question.sizes = default_sizes(question.measured);
  }
  return question;
}

std::string microseconds(double seconds) {
  const double us = 1e6 * seconds;
  return us < 1e5 ? fmt::format("{:.2f}", us) : fmt::format("{:.0f}", us);
}

std::string heading(bool has_measured) {
  return fmt::format(
      "#\n"
      "#{:>11} {:>13} {:>9} {:>10} {:>7} {:>7} {:>7} {:>10} {:>10}{}\n"
      "#{:>11} {:>13} {:>9} {:>10} {:>7} {:>7} {:>7} {:>10} {:>10}{}\n",
      "size",
      "count",
      "type",
      "time",
      "algbw",
      "busbw",
      "wire",
      "low",
      "high",
      has_measured ? "   measured   error" : "",
      "(B)",
      "(elements)",
      "",
      "(us)",
      "(GB/s)",
      "(GB/s)",
      "(GB/s)",
      "(us)",
      "(us)",
      has_measured ? "       (us)     (%)" : "");
}

// In GB/s. What an algorithm puts on the wire is not what the layouts' formulas say.
std::optional<double> wire_rate(const Question& question, std::int64_t bytes, double seconds) {
  if (question.algorithm) {
    return std::nullopt;
  }
  const double share = wire_share(question.operation, question.layout);
  return share * static_cast<double>(bytes) / seconds * 1e-9;
}

std::string row(const Question& question, std::int64_t bytes, const LayoutEstimate& estimate) {
  const NcclCollective& collective = nccl_collective(question.operation);
  const double algbw = static_cast<double>(bytes) / estimate.seconds * 1e-9;
  const std::optional<double> wire = wire_rate(question, bytes, estimate.seconds);
  const std::int64_t unit = 4 * (collective.counts_parts ? question.layout.size() : 1);
  std::string text = fmt::format("{:>12} {:>13} {:>9} {:>10} {:>7.2f} {:>7.2f} {:>7} {:>10} {:>10}",
                                 bytes,
                                 bytes / unit,
                                 "float",
                                 microseconds(estimate.seconds),
                                 algbw,
                                 algbw * busbw_factor(collective, question.layout.size()),
                                 wire ? fmt::format("{:.2f}", *wire) : "-",
                                 estimate.has_interval ? microseconds(estimate.low) : "-",
                                 estimate.has_interval ? microseconds(estimate.high) : "-");
  if (!question.measured.empty()) {
    const auto measured = question.measured.find(bytes);
    text += measured == question.measured.end()
                ? fmt::format(" {:>10} {:>7}", "-", "-")
                : fmt::format(" {:>10} {:>+7.1f}",
                              microseconds(measured->second),
                              100 * (estimate.seconds / measured->second - 1));
  }
  return text + (estimate.extrapolated ? " *\n" : "\n");
}

std::string summary(const std::vector<double>& errors) {
  return errors.empty()
             ? std::string()
             : fmt::format("# Absolute error over {} sizes: median {:.1f} %, largest {:.1f} %\n",
                           errors.size(),
                           100 * median(errors),
                           100 * *std::max_element(errors.begin(), errors.end()));
}

// What passes a GPU's NICs, in GB/s: of the cluster that is asked for, else of the one that was
// measured; 0 where that is not known or nothing passes them.
double nic_rate(const PredictCollectiveOptions& options,
                const Question& question,
                const Profile& profile) {
  if (question.layout.nodes == 1) {
    return 0;
  }
  return 1e-9 * (options.cluster.empty()
                     ? profile.inter_node_rate.value_or(0)
                     : wired(load_cluster(options.cluster)).inter_node.bytes_per_second);
}

// Of rates that no log has: the laws know no links (docs/model.md).
class WireCheck {
 public:
  explicit WireCheck(double nics) : nics_(nics) {}

  void add(const LayoutEstimate& estimate, std::optional<double> wire) {
    if (nics_ > 0 && estimate.extrapolated && wire.value_or(0) > nics_ * (1 + kEqualRates)) {
      ++num_sizes_;
      most_ = std::max(most_, *wire);
    }
  }

  [[nodiscard]] std::string text() const {
    return num_sizes_ == 0 ? ""
                           : fmt::format(
                                 "# More than the NICs carry, {:g} GB/s a GPU: the wire rate at "
                                 "{}, {:.2f} GB/s at most; these times are too short\n",
                                 nics_,
                                 counted(num_sizes_, "size"),
                                 most_);
  }

 private:
  double nics_;
  std::size_t num_sizes_ = 0;
  double most_ = 0;
};

// By the algorithm that is asked for, else from what was measured on layouts. Keeps a reference to
// the profile.
Estimate make_estimate(const PredictCollectiveOptions& options,
                       const Question& question,
                       const Profile& profile) {
  if (question.algorithm) {
    const AlgorithmQuestion asked{question.operation, *question.algorithm, question.layout};
    return [asked, &profile, cluster = wired(load_cluster(options.cluster))](std::int64_t bytes) {
      return estimate_by_algorithm(asked, cluster, profile, bytes);
    };
  }
  return [layout = question.layout, model = LayoutModel(profile, question.operation)](
             std::int64_t bytes) { return model.estimate(layout, static_cast<double>(bytes)); };
}

}  // namespace

int run_predict_collective(const PredictCollectiveOptions& options) {
  const Profile profile = load_profile(options.profile);
  const Question question = make_question(options);
  const Estimate estimate_size = make_estimate(options, question, profile);
  std::string rows;
  std::vector<std::string> bases;
  std::vector<double> errors;
  WireCheck wire(nic_rate(options, question, profile));
  for (const std::int64_t bytes : question.sizes) {
    const LayoutEstimate estimate = estimate_size(bytes);
    wire.add(estimate, wire_rate(question, bytes, estimate.seconds));
    rows += row(question, bytes, estimate);
    if (std::find(bases.begin(), bases.end(), estimate.basis) == bases.end()) {
      bases.push_back(estimate.basis);
    }
    if (const auto measured = question.measured.find(bytes); measured != question.measured.end()) {
      errors.push_back(std::abs(estimate.seconds / measured->second - 1));
    }
  }
  std::string text = fmt::format("# moesim predict-collective: {} on {}, profile {}\n",
                                 to_string(question.operation),
                                 to_string(question.layout),
                                 profile.name);
  if (!options.cluster.empty() && !question.algorithm) {
    text +=
        "# Rates are those of the machine that was measured, whatever the cluster's: --algorithm "
        "takes these\n";
  }
  for (const std::string& basis : bases) {
    text += fmt::format("# Basis: {}\n", basis);
  }
  text += wire.text();
  print_out(text + heading(!question.measured.empty()) + rows + summary(errors));
  return kExitOk;
}

}  // namespace moesim
