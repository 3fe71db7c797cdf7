// The functions of NCCL that the CUDA backend calls, under their own names: each opens the library
// at its first call and passes it on (docs/decisions/0020-libraries-opened-late.md). Tests link a
// fake in place of this file.
#include <fmt/format.h>
#include <nccl.h>

#include "kernels/cuda/libraries/shared_library.h"

namespace {

const moesim::SharedLibrary& library() {
  static const moesim::SharedLibrary opened(fmt::format("libnccl.so.{}", NCCL_MAJOR),
                                            fmt::format("NCCL {}", NCCL_MAJOR));
  return opened;
}

// The library's function of the same type as one of ours, by its name.
template <typename Function>
Function* find(Function& /*like*/, const char* name) {
  return library().function<Function>(name);
}

}  // namespace

ncclResult_t ncclGetVersion(int* version) {
  static const auto function = find(ncclGetVersion, __func__);
  return function(version);
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static const auto function = find(ncclGetUniqueId, __func__);
  return function(id);
}

const char* ncclGetErrorString(ncclResult_t result) {
  static const auto function = find(ncclGetErrorString, __func__);
  return function(result);
}

const char* ncclGetLastError(ncclComm_t communicator) {
  static const auto function = find(ncclGetLastError, __func__);
  return function(communicator);
}

ncclResult_t ncclCommInitRankConfig(
    ncclComm_t* communicator, int num_ranks, ncclUniqueId id, int rank, ncclConfig_t* config) {
  static const auto function = find(ncclCommInitRankConfig, __func__);
  return function(communicator, num_ranks, id, rank, config);
}

ncclResult_t ncclCommSplit(
    ncclComm_t communicator, int color, int key, ncclComm_t* part, ncclConfig_t* config) {
  static const auto function = find(ncclCommSplit, __func__);
  return function(communicator, color, key, part, config);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t* error) {
  static const auto function = find(ncclCommGetAsyncError, __func__);
  return function(communicator, error);
}

ncclResult_t ncclCommFinalize(ncclComm_t communicator) {
  static const auto function = find(ncclCommFinalize, __func__);
  return function(communicator);
}

ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  static const auto function = find(ncclCommDestroy, __func__);
  return function(communicator);
}

ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  static const auto function = find(ncclCommAbort, __func__);
  return function(communicator);
}

ncclResult_t ncclGroupStart() {
  static const auto function = find(ncclGroupStart, __func__);
  return function();
}

ncclResult_t ncclGroupEnd() {
  static const auto function = find(ncclGroupEnd, __func__);
  return function();
}

ncclResult_t ncclSend(const void* from,
                      size_t count,
                      ncclDataType_t type,
                      int peer,
                      ncclComm_t communicator,
                      cudaStream_t stream) {
  static const auto function = find(ncclSend, __func__);
  return function(from, count, type, peer, communicator, stream);
}

ncclResult_t ncclRecv(void* to,
                      size_t count,
                      ncclDataType_t type,
                      int peer,
                      ncclComm_t communicator,
                      cudaStream_t stream) {
  static const auto function = find(ncclRecv, __func__);
  return function(to, count, type, peer, communicator, stream);
}

#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
ncclResult_t ncclAlltoAll(const void* from,
                          void* to,
                          size_t count,
                          ncclDataType_t type,
                          ncclComm_t communicator,
                          cudaStream_t stream) {
  static const auto function = find(ncclAlltoAll, __func__);
  return function(from, to, count, type, communicator, stream);
}
#endif

ncclResult_t ncclAllGather(const void* from,
                           void* to,
                           size_t count,
                           ncclDataType_t type,
                           ncclComm_t communicator,
                           cudaStream_t stream) {
  static const auto function = find(ncclAllGather, __func__);
  return function(from, to, count, type, communicator, stream);
}

ncclResult_t ncclAllReduce(const void* from,
                           void* to,
                           size_t count,
                           ncclDataType_t type,
                           ncclRedOp_t operation,
                           ncclComm_t communicator,
                           cudaStream_t stream) {
  static const auto function = find(ncclAllReduce, __func__);
  return function(from, to, count, type, operation, communicator, stream);
}

ncclResult_t ncclReduceScatter(const void* from,
                               void* to,
                               size_t count,
                               ncclDataType_t type,
                               ncclRedOp_t operation,
                               ncclComm_t communicator,
                               cudaStream_t stream) {
  static const auto function = find(ncclReduceScatter, __func__);
  return function(from, to, count, type, operation, communicator, stream);
}

ncclResult_t ncclBroadcast(const void* from,
                           void* to,
                           size_t count,
                           ncclDataType_t type,
                           int root,
                           ncclComm_t communicator,
                           cudaStream_t stream) {
  static const auto function = find(ncclBroadcast, __func__);
  return function(from, to, count, type, root, communicator, stream);
}
