#include "kernels/cuda/loaded_program.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "kernels/cuda/device_pointer.h"
#include "kernels/cuda/fused_attention_engine.h"
#include "kernels/cuda/task_streams.h"
#include "kernels/device/store_transfer.h"
#include "sim/base/units.h"

namespace moesim {
namespace {

void require_memory(const Program& program,
                    const DeviceLayout& layout,
                    int64_t workspaces,
                    const std::string& parts) {
  size_t free = 0;
  size_t total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  const int64_t needed = layout.bytes() + workspaces;
  if (needed > static_cast<int64_t>(free)) {
    throw Failure(fmt::format(
        "{}: the Program needs {} of device memory and {} of {} are free: {}, workspaces of "
        "products {}; make the model or its batch smaller, or run fewer ranks",
        program.name,
        format_bytes(needed),
        format_bytes(static_cast<int64_t>(free)),
        format_bytes(static_cast<int64_t>(total)),
        parts,
        format_bytes(workspaces)));
  }
}

std::vector<bool> kept_tensors(const Program& program, const CudaOptions& options) {
  return options.keeps_all ? std::vector<bool>(program.tensors.size(), true)
                           : inputs_and_results(program);
}

// One that fits: of the steps without addresses.
DeviceLayout fitting_layout(const DeviceScript& script,
                            const CudaOptions& options,
                            const std::vector<bool>& is_kept,
                            FusedAttentionPlanner* attention) {
  const Program& program = *script.program;
  LoweringSpace sizes(program, options.storage, attention);
  const DeviceProgram steps = lower_program(script, options.rounding, sizes);
  DeviceLayout layout(sizes, script.ranks, is_kept);
  require_memory(program,
                 layout,
                 TaskStreams::workspace_bytes(script, steps),
                 describe(layout, program, options.storage));
  return layout;
}

int64_t largest_buffer(const Program& program, Storage storage) {
  int64_t most = 0;
  for (const Tensor& tensor : program.tensors) {
    most = std::max(most, device_bytes(tensor, storage));
  }
  return most;
}

}  // namespace

void require_device_memory(const DeviceScript& script, const CudaOptions& options) {
  const auto attention = make_fused_attention(options.make_attention);
  fitting_layout(script, options, kept_tensors(*script.program, options), attention.get());
}

LoadedProgram::LoadedProgram(DeviceScript script,
                             const CudaOptions& options,
                             FusedAttentionPlanner* attention)
    : options_(options),
      attention_(attention),
      script_(std::move(script)),
      is_kept_(kept_tensors(*script_.program, options)),
      layout_(fitting_layout(script_, options, is_kept_, attention)) {
  load();
}

void LoadedProgram::load() {
  const Program& program = *script_.program;
  memory_ = make_device_memory(layout_.bytes());
  staging_ = make_pinned_memory(largest_buffer(program, options_.storage));
  bases_ = layout_.bases(device_address(memory_.get()));
  LoweringSpace space(program, options_.storage, bases_, attention_);
  steps_ = lower_program(script_, options_.rounding, space);
  if (!space.tables().empty()) {
    check_cuda(cudaMemcpy(device_pointer(bases_.tables),
                          space.tables().data(),
                          space.tables().size(),
                          cudaMemcpyHostToDevice),
               "cudaMemcpy");
    // From memory that is not pinned it may return before all has arrived, and other streams do not
    // wait for the default one.
    check_cuda(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  }
}

// Each byte of tensors and scratch.
void LoadedProgram::fill(int value, cudaStream_t stream) {
  if (const int64_t bytes = layout_.arena_bytes() + layout_.scratch_bytes(); bytes > 0) {
    check_cuda(cudaMemsetAsync(memory_.get(), value, static_cast<size_t>(bytes), stream),
               "cudaMemsetAsync");
  }
}

void LoadedProgram::clear(cudaStream_t stream) {
  fill(0, stream);
}

void LoadedProgram::upload(const TensorStore& tensors, cudaStream_t stream) {
  const Program& program = *script_.program;
  // All bits set: a NaN of either floating type, and the index of no row.
  constexpr int kUnwritten = 0xFF;
  fill(kUnwritten, stream);
  for (const int rank : tensors.ranks()) {
    for (int tensor = 0; tensor < static_cast<int>(program.tensors.size()); ++tensor) {
      if (!layout_.has(rank, tensor) || !(options_.keeps_all || program.tensors[tensor].input)) {
        continue;
      }
      const auto bytes =
          static_cast<size_t>(device_bytes(program.tensors[tensor], options_.storage));
      encode_buffer(tensors, rank, tensor, options_.storage, staging_.get());
      check_cuda(cudaMemcpyAsync(device_pointer(bases_.tensors[rank][tensor]),
                                 staging_.get(),
                                 bytes,
                                 cudaMemcpyHostToDevice,
                                 stream),
                 "cudaMemcpyAsync");
      check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    }
  }
  check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

void LoadedProgram::download(TensorStore& tensors, cudaStream_t stream) {
  const Program& program = *script_.program;
  for (const int rank : tensors.ranks()) {
    for (int tensor = 0; tensor < static_cast<int>(program.tensors.size()); ++tensor) {
      if (!layout_.has(rank, tensor) || !is_kept_[tensor]) {
        continue;
      }
      const auto bytes =
          static_cast<size_t>(device_bytes(program.tensors[tensor], options_.storage));
      check_cuda(cudaMemcpyAsync(staging_.get(),
                                 device_pointer(bases_.tensors[rank][tensor]),
                                 bytes,
                                 cudaMemcpyDeviceToHost,
                                 stream),
                 "cudaMemcpyAsync");
      check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
      decode_buffer(staging_.get(), options_.storage, rank, tensor, tensors);
    }
  }
}

}  // namespace moesim
