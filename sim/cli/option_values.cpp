#include "sim/cli/option_values.h"

#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/base/message.h"
#include "sim/io/scenario.h"

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
  if (text == "auto") {
    return Resolution::kAuto;
  }
  if (text != "fold" && text != "ports") {
    refuse("--resolution", text, "auto, fold or ports");
  }
  return text == "fold" ? Resolution::kFold : Resolution::kPorts;
}

LayerRange parse_layers(const std::string& text) {
  const auto [first, last] = halves(text, "..");
  const LayerRange range{whole_number(first).value_or(-1), whole_number(last).value_or(-1)};
  if (range.first < 0 || range.last < range.first) {
    refuse("--layers", text, "the first and the last layer to draw, counted from 0: 0..3");
  }
  return range;
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

double parse_share(const std::string& option, const std::string& text) {
  std::string_view number = text;
  const bool is_percent = number.ends_with("%");
  if (is_percent) {
    number.remove_suffix(1);
  }
  double value = 0;
  const auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (failure != std::errc() || end != number.data() + number.size() || !(value >= 0)) {
    refuse(option, text, "a share such as 5% or 0.05");
  }
  return is_percent ? value / 100 : value;
}

}  // namespace moesim
