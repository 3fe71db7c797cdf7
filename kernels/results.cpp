#include "kernels/results.h"

#include <span>

#include <fmt/core.h>

#include "sim/base/hash.h"
#include "sim/base/message.h"

namespace moesim {
namespace {

std::string buffer_hash(const TensorStore& tensors, int rank, int tensor) {
  const std::span<const std::byte> bytes = tensors.contents(rank, tensor);
  return content_hash({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

std::string results_to_text(const TensorStore& tensors) {
  const Program& program = tensors.program();
  std::string text;
  for (int tensor = 0; tensor < static_cast<int>(program.tensors.size()); ++tensor) {
    for (const int rank : tensors.ranks()) {
      text += fmt::format("{} rank {} {}\n",
                          buffer_hash(tensors, rank, tensor),
                          rank,
                          visible_in_line(program.tensors[tensor].name));
    }
  }
  return text;
}

}  // namespace moesim
