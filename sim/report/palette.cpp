#include "sim/report/palette.h"

#include <algorithm>
#include <set>

namespace moesim {
namespace {

using Colours = std::vector<std::string>;

// For what has no family, and for families that run out.
const Colours& any_colours() {
  static const Colours colours = {"#E69F00",
                                  "#009E73",
                                  "#0072B2",
                                  "#56B4E9",
                                  "#D55E00",
                                  "#CC79A7",
                                  "#F0E442",
                                  "#332288",
                                  "#44AA99",
                                  "#882255",
                                  "#DDCC77",
                                  "#999999"};
  return colours;
}

Colours family(CollectiveOperation operation) {
  switch (operation) {
    case CollectiveOperation::kAllToAll:
      return {"#E69F00", "#D55E00", "#F5C76B", "#A34A00"};
    case CollectiveOperation::kAllGather:
      return {"#56B4E9", "#B3DDF7", "#2F8FC4"};
    case CollectiveOperation::kReduceScatter:
      return {"#0072B2", "#332288", "#6C8EBF"};
    case CollectiveOperation::kAllReduce:
      return {"#CC79A7", "#882255", "#AA4499"};
    case CollectiveOperation::kShift:
      return {"#44AA99", "#117733"};
    case CollectiveOperation::kBroadcast:
      return {"#999933"};
  }
  return {};
}

Colours family(const Descriptor& descriptor) {
  if (const auto* collective = std::get_if<Collective>(&descriptor)) {
    return family(collective->operation);
  }
  if (std::holds_alternative<Fixed>(descriptor)) {
    return {};
  }
  if (std::holds_alternative<Expert>(descriptor)) {
    return {"#009E73", "#66C5AB"};
  }
  if (std::holds_alternative<Attention>(descriptor)) {
    return {"#F0E442", "#F7F0A1"};
  }
  if (std::holds_alternative<Optimizer>(descriptor)) {
    return {"#DDCC77"};
  }
  // Small things between the large ones.
  return {"#BBBBBB", "#888888", "#DDDDDD", "#666666", "#A6A6A6", "#CFCFCF"};
}

// Relative luminance of "#rrggbb" in 0..1, near enough: the weights of ITU-R BT.709.
double luminance(const std::string& colour) {
  const auto channel = [&colour](std::size_t at) {
    return std::stoi(colour.substr(at, 2), nullptr, 16) / 255.0;
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

}  // namespace

Palette::Palette(const Program& program) {
  std::set<std::string> used;
  for (const Task& task : program.tasks) {
    if (colours_.contains(task.kind)) {
      continue;
    }
    Colours candidates = family(task.descriptor);
    candidates.insert(candidates.end(), any_colours().begin(), any_colours().end());
    const auto is_free = [&used](const std::string& colour) { return !used.contains(colour); };
    const auto found = std::find_if(candidates.begin(), candidates.end(), is_free);
    const std::size_t turn = kinds_.size() % candidates.size();
    const std::string& colour = found == candidates.end() ? candidates[turn] : *found;
    used.insert(colour);
    colours_[task.kind] = colour;
    kinds_.push_back(task.kind);
  }
}

std::string_view Palette::text_colour(const std::string& kind) const {
  return luminance(colour(kind)) > 0.45 ? "#111111" : "#ffffff";
}

}  // namespace moesim
