#include "sim/cluster/nccl_links.h"

#include <algorithm>
#include <cctype>
#include <map>

#include <fmt/core.h>

#include "sim/cluster/link_rates.h"

namespace moesim {
namespace {

constexpr int kMaxLinks = 256;  // between two parts
constexpr size_t kMaxSwitches = 256;

// "0000:1c:00.0" however its domain and its digits are written.
std::string bus_id(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char character) {
    return static_cast<char>(std::tolower(character));
  });
  const size_t colon = std::min(text.find(':'), text.size());
  return text.substr(std::min(text.find_first_not_of('0'), colon));
}

bool is_link(const XmlElement& element) {
  return element.name == "nvlink" || element.name == "xgmi";
}

KnownRate rate_of_link(const XmlElement& gpu, const XmlElement& link) {
  const auto known = link.name == "xgmi" ? xgmi_rate(gpu.attribute("gcn"))
                                         : nvlink_rate(gpu.integer("sm", 0, 9999).value_or(0));
  return known.value_or(KnownRate());
}

class LinkReader {
 public:
  explicit LinkReader(const std::vector<NcclGpu>& gpus) : gpus_(gpus) {
    for (size_t i = 0; i < gpus.size(); ++i) {
      const std::string id = bus_id(gpus[i].pci->attribute("busid"));
      if (!id.empty() && !by_bus_.emplace(id, static_cast<int>(i)).second) {
        throw gpus[i].pci->error("a second GPU with this busid; dump it again");
      }
    }
  }

  void run(bool said_more, ImportedNode& node) {
    for (int i = 0; i < std::ssize(gpus_); ++i) {
      for (const XmlElement& link : gpus_[i].gpu->children) {
        if (is_link(link)) {
          add(i, link);
        } else if (link.name != "pci") {
          others_.emplace(link.name, link.location);
        }
      }
    }
    join_pairs(node);
    join_switches(node);
    const bool lost_all = num_lost_ > 0 && node.nvlinks.empty();
    node.knows_nvlinks = gpus_.size() == 1 || (said_more && !lost_all);
    add_notes(node);
  }

 private:
  struct Bundle {
    int count = 0;
    KnownRate link;
    const XmlElement* said = nullptr;
  };

  // Of class 0x0680 is an NVSwitch, of 0x068001 the NVLink bridge of a POWER processor.
  void add(int gpu, const XmlElement& link) {
    const int count = link.integer("count", 1, kMaxLinks).value_or(0);
    if (count == 0) {
      throw link.error("no count; dump it again");
    }
    const std::string target = bus_id(link.attribute("target"));
    const std::string target_class = link.attribute("tclass");
    const auto peer = by_bus_.find(target);
    Bundle* bundle = nullptr;
    if (peer != by_bus_.end() && peer->second != gpu) {
      bundle = &pairs_[{gpu, peer->second}];
    } else if (target_class.starts_with("0x0680") && target_class != "0x068001") {
      bundle = &switches_[target][gpu];
      if (switches_.size() > kMaxSwitches) {
        throw link.error(fmt::format("more than {} NVSwitches; dump a node alone", kMaxSwitches));
      }
    } else {
      num_lost_ += count;
      return;
    }
    bundle->count += count;
    bundle->link = rate_of_link(*gpus_[gpu].gpu, link);
    bundle->said = &link;
  }

  void join_pairs(ImportedNode& node) const {
    for (const auto& [ends, bundle] : pairs_) {
      const auto back = pairs_.find({ends.second, ends.first});
      const int count_back = back == pairs_.end() ? 0 : back->second.count;
      if (count_back != bundle.count) {
        throw bundle.said->error(
            fmt::format("{} links, but the GPU at their other end has {}; dump it again",
                        bundle.count,
                        count_back));
      }
      if (ends.first < ends.second) {
        node.nvlinks.push_back({.gpu = ends.first,
                                .to_kind = ElementKind::kGpu,
                                .to = ends.second,
                                .count = bundle.count,
                                .link = bundle.link});
      }
    }
  }

  // Numbered in the order of their places on the bus.
  void join_switches(ImportedNode& node) const {
    int index = 0;
    for (const auto& [target, bundles] : switches_) {
      for (const auto& [gpu, bundle] : bundles) {
        node.nvlinks.push_back({.gpu = gpu,
                                .to_kind = ElementKind::kNvSwitch,
                                .to = index,
                                .count = bundle.count,
                                .link = bundle.link});
      }
      ++index;
    }
  }

  void add_notes(ImportedNode& node) const {
    if (num_lost_ > 0) {
      node.inferred.push_back(
          fmt::format("NVLinks that lead to no other part of the dump, left out: {}", num_lost_));
    }
    for (const auto& [name, location] : others_) {
      node.inferred.push_back(fmt::format("<{}> is left out: {}", name, location));
    }
  }

  const std::vector<NcclGpu>& gpus_;
  std::map<std::string, int> by_bus_;
  std::map<std::pair<int, int>, Bundle> pairs_;            // each way
  std::map<std::string, std::map<int, Bundle>> switches_;  // by GPU
  std::map<std::string, std::string> others_;              // where the first was
  int num_lost_ = 0;
};

}  // namespace

void read_nccl_links(const std::vector<NcclGpu>& gpus, bool said_more, ImportedNode& node) {
  LinkReader(gpus).run(said_more, node);
}

}  // namespace moesim
