#include "sim/cluster/import_node.h"

#include <string_view>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/cluster/imported_node.h"
#include "sim/cluster/nccl_topology.h"
#include "sim/cluster/smi_topology.h"

namespace moesim {
namespace {

constexpr size_t kMaxBytes = size_t{16} << 20;

bool is_xml(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  const size_t start = text.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && text[start] == '<';
}

}  // namespace

NodeGraph import_node(const NodeDump& dump, int num_gpus) {
  if (dump.text.size() > kMaxBytes) {
    throw Error(dump.path, "more than 16 MiB; what a tool prints of one node is far less");
  }
  ImportedNode node = is_xml(dump.text) ? read_nccl_topology(dump.text, dump.path)
                                        : read_smi_topology(dump.text, dump.path);
  const int count = node.count(ElementKind::kGpu);
  if (count != num_gpus) {
    throw Error(
        fmt::format("{} has {} GPUs and gpus_per_node is {}; write gpus_per_node: {}, or "
                    "import another node",
                    dump.path,
                    count,
                    num_gpus,
                    count));
  }
  return make_graph(std::move(node), dump);
}

}  // namespace moesim
