#include "sim/cli/option_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include <fmt/core.h>

#include "calibration/nccl_collective.h"
#include "sim/base/error.h"
#include "sim/base/message.h"
#include "sim/base/units.h"
#include "sim/io/scenario.h"
#include "sim/io/suggestion.h"

namespace moesim {
namespace {

[[noreturn]] void refuse(std::string_view option, std::string_view value, std::string_view rather) {
  throw Error(
      fmt::format("{} '{}' is not understood; give {}", option, abbreviated(value), rather));
}

std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = failure == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

// The two halves around `separator`, or the whole text twice.
std::pair<std::string_view, std::string_view> halves(std::string_view text,
                                                     std::string_view separator) {
  const std::size_t at = text.find(separator);
  if (at == std::string_view::npos) {
    return {text, text};
  }
  return {text.substr(0, at), text.substr(at + separator.size())};
}

bool is_degree(const std::optional<int>& number) {
  return number && *number >= 1 && *number <= kMaxGivenDegree;
}

}  // namespace

DegreeOption parse_degree(const std::string& text) {
  DegreeOption degree;
  degree.text = text;
  if (text == "auto") {
    return degree;
  }
  const auto [first, second] = halves(text, ",");
  degree.forward = whole_number(first);
  degree.backward = whole_number(second);
  if (!is_degree(degree.forward) || !is_degree(degree.backward)) {
    refuse("--degree",
           text,
           fmt::format("auto, a number of chunks from 1 to {} (4), or one for the forward and one "
                       "for the backward pass (4,2)",
                       kMaxGivenDegree));
  }
  return degree;
}

std::vector<std::string> parse_names(const std::string& text) {
  std::vector<std::string> names(1);
  for (const char character : text) {
    if (character == ',') {
      names.emplace_back();
    } else {
      names.back() += character;
    }
  }
  return names;
}

Policy parse_policy(const std::string& text) {
  if (text != "search" && text != "paper") {
    refuse("--policy", text, "search or paper");
  }
  return text == "search" ? Policy::kSearch : Policy::kPaper;
}

Resolution parse_resolution(const std::string& text) {
  using enum Resolution;
  for (const Resolution resolution : {kAuto, kFold, kPorts, kFlows}) {
    if (text == name(resolution)) {
      return resolution;
    }
  }
  refuse("--resolution", text, "auto, fold, ports or flows");
}

LayerRange parse_layers(const std::string& text) {
  const auto [first, last] = halves(text, "..");
  const LayerRange range{whole_number(first).value_or(-1), whole_number(last).value_or(-1)};
  if (range.first < 0 || range.last < range.first) {
    refuse("--layers", text, "the first and the last layer to draw, counted from 0: 0..3");
  }
  return range;
}

std::string parse_link_load(const std::string& text) {
  if (!text.ends_with(".svg") && !text.ends_with(".csv") && !text.ends_with(".json")) {
    refuse("--link-load", text, "a file that ends in .svg (a picture), .csv or .json (a table)");
  }
  return text;
}

bool parse_gpus(const std::string& text) {
  if (text != "one" && text != "each") {
    refuse("--gpus", text, "one or each");
  }
  return text == "each";
}

Storage parse_storage(const std::string& text) {
  if (text != "fp32" && text != "bf16") {
    refuse("--storage", text, "fp32 or bf16");
  }
  return text == "fp32" ? Storage::kFloat32 : Storage::kOwnType;
}

bool parse_attention(const std::string& text) {
  if (text != "products" && text != "fused") {
    refuse("--attention", text, "products or fused");
  }
  return text == "fused";
}

HostClock parse_clock(const std::string& text) {
  if (text == "free") {
    return HostClock::kFree;
  }
  if (text != "anchored" && text != "raw") {
    refuse("--clock", text, "free, anchored or raw");
  }
  return text == "anchored" ? HostClock::kAnchored : HostClock::kRaw;
}

const char* name(HostClock clock) {
  switch (clock) {
    case HostClock::kFree:
      return "free";
    case HostClock::kAnchored:
      return "anchored";
    case HostClock::kRaw:
      return "raw";
  }
  return "";
}

bool parse_transport(const std::string& text) {
  if (text != "threads" && text != "mpi") {
    refuse("--transport", text, "threads or mpi");
  }
  return text == "mpi";
}

CollectiveOperation parse_operation(const std::string& text) {
  using enum CollectiveOperation;
  std::vector<std::string> names;
  for (const CollectiveOperation operation :
       {kAllReduce, kAllGather, kReduceScatter, kAllToAll, kShift, kBroadcast}) {
    names.emplace_back(to_string(operation));
    if (text == to_string(operation) || text == nccl_collective(operation).name) {
      return operation;
    }
  }
  throw Error(
      fmt::format("there is no operation {}; {}", in_quotes(text), suggestion(text, names)));
}

Layout parse_layout(const std::string& text) {
  const auto [nodes, gpus] = halves(text, "x");
  const Layout layout{whole_number(nodes).value_or(0), whole_number(gpus).value_or(0)};
  constexpr int kMost = 1 << 15;  // a product that fits
  const bool fits = text.find('x') != std::string::npos && layout.nodes >= 1 &&
                    layout.gpus_per_node >= 1 && layout.nodes <= kMost &&
                    layout.gpus_per_node <= kMost && layout.size() >= 2;
  if (!fits) {
    refuse("--layout", text, "nodes x GPUs on each, two ranks or more: 10x4");
  }
  return layout;
}

NcclLogOption parse_nccl_log_option(const std::string& text) {
  const std::size_t at = text.find('=');
  const std::string name = text.substr(0, at);
  if (at == std::string::npos || name.find('/') != std::string::npos) {
    return {.path = text, .collective = ""};
  }
  if (find_nccl_collective(name) == nullptr) {
    throw Error(fmt::format("--nccl-tests {}: there is no collective {}; {}",
                            in_quotes(text),
                            in_quotes(name),
                            suggestion(name, nccl_collective_names())));
  }
  return {.path = text.substr(at + 1), .collective = name};
}

std::vector<std::int64_t> parse_sizes(const std::string& text) {
  constexpr std::string_view kGive = "a range that doubles (64KiB..1GiB) or sizes (1MiB,3MiB)";
  std::vector<std::int64_t> sizes;
  try {
    if (text.find("..") == std::string::npos) {
      for (const std::string& size : parse_names(text)) {
        sizes.push_back(parse_bytes(size));
      }
    } else {
      const auto [first, last] = halves(text, "..");
      const std::int64_t end = parse_bytes(last);
      for (std::int64_t size = parse_bytes(first); size > 0 && size <= end; size *= 2) {
        sizes.push_back(size);
      }
    }
  } catch (const UnitError&) {
    refuse("--sizes", text, kGive);
  }
  if (sizes.empty() || *std::min_element(sizes.begin(), sizes.end()) <= 0) {
    refuse("--sizes", text, kGive);
  }
  return sizes;
}

TopologyAction parse_topology_action(const std::string& text) {
  if (text != "show" && text != "check" && text != "export") {
    refuse("action", text, "show, check or export");
  }
  return text == "show"    ? TopologyAction::kShow
         : text == "check" ? TopologyAction::kCheck
                           : TopologyAction::kExport;
}

GraphFormat parse_graph_format(const std::string& text) {
  if (text != "dot" && text != "svg") {
    refuse("--format", text, "dot or svg");
  }
  return text == "dot" ? GraphFormat::kDot : GraphFormat::kSvg;
}

RouteOption parse_route(const std::string& text) {
  const auto [first, second] = halves(text, ",");
  const std::optional<int> from = whole_number(first);
  const std::optional<int> to = whole_number(second);
  if (!from || !to || *from < 0 || *to < 0 || *from == *to) {
    refuse("--route", text, "two different ranks: 0,9");
  }
  return {*from, *to};
}

double parse_share(const std::string& option, const std::string& text) {
  std::string_view number = text;
  const bool is_percent = number.ends_with("%");
  if (is_percent) {
    number.remove_suffix(1);
  }
  double value = 0;
  const auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (failure != std::errc() || end != number.data() + number.size() || !(value >= 0) ||
      !std::isfinite(value)) {
    refuse(option, text, "a share such as 5% or 0.05");
  }
  return is_percent ? value / 100 : value;
}

}  // namespace moesim
