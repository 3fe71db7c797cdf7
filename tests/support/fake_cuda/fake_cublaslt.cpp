// The functions of cuBLASLt that the CUDA backend calls. They refuse what cuBLASLt refuses, as its
// header and its documentation say, and as the library itself says without a GPU
// (tests/support/fake_cuda/cublaslt_contract.h).
#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <string>

#include <cublasLt.h>
#include <fmt/format.h>

#include "tests/support/fake_cuda/fake_device.h"
#include "tests/support/fake_cuda/fake_product.h"

namespace {

using namespace moesim::testing;

struct Handle {};

FakeDevice& device() {
  return FakeDevice::current();
}

template <typename Body>
cublasStatus_t call(const char* name, const Body& body) {
  return fake_call<cublasStatus_t>(name, body);
}

bool is_any_null(std::initializer_list<const void*> pointers) {
  return std::ranges::any_of(pointers, [](const void* at) { return at == nullptr; });
}

// The fake behind a handle, which is the fake's address.
template <typename Fake, typename Handle>
Fake& fake(Handle handle) {
  return *reinterpret_cast<Fake*>(handle);
}

// A null handle is no place to put it.
template <typename Fake, typename Handle>
cublasStatus_t make(const char* name, Handle* handle, const Fake& fake) {
  return call(name, [&] {
    if (handle == nullptr) {
      return CUBLAS_STATUS_INVALID_VALUE;
    }
    auto* made = device().make<Fake>();
    *made = fake;
    *handle = reinterpret_cast<Handle>(made);
    return CUBLAS_STATUS_SUCCESS;
  });
}

// Also of null, as cuBLASLt.
cublasStatus_t destroy(void* handle) {
  const std::lock_guard lock(device().mutex());
  device().destroy(handle);
  return CUBLAS_STATUS_SUCCESS;
}

// Where an attribute is kept, and how large it is; null: there is none.
struct Storage {
  void* at = nullptr;
  size_t bytes = 0;

  Storage() = default;
  template <typename Value>
  explicit Storage(Value* value) : at(value), bytes(sizeof(Value)) {}
};

// Values are looked at when they are used, as cuBLASLt does.
cublasStatus_t set(const Storage& storage, const void* value, size_t bytes) {
  if (is_any_null({storage.at, value}) || bytes != storage.bytes) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  std::memcpy(storage.at, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

Storage storage_of(FakeOperation& operation, cublasLtMatmulDescAttributes_t attribute) {
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_POINTER_MODE:
      return Storage(&operation.pointer_mode);
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return Storage(&operation.transposition_of_a);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return Storage(&operation.transposition_of_b);
    case CUBLASLT_MATMUL_DESC_TRANSC:
      return Storage(&operation.transposition_of_c);
    case CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET:
      return Storage(&operation.sm_target);
    default:
      return {};
  }
}

Storage storage_of(FakeLayout& layout, cublasLtMatrixLayoutAttribute_t attribute) {
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_ORDER:
      return Storage(&layout.order);
    case CUBLASLT_MATRIX_LAYOUT_LD:
      return Storage(&layout.stride);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return Storage(&layout.batch);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return Storage(&layout.step);
    default:
      return {};
  }
}

Storage storage_of(FakePreference& preference, cublasLtMatmulPreferenceAttributes_t attribute) {
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return Storage(&preference.workspace_bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
      return Storage(&preference.alignment_of_a);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
      return Storage(&preference.alignment_of_b);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
      return Storage(&preference.alignment_of_c);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return Storage(&preference.alignment_of_d);
    default:
      return {};
  }
}

template <typename Fake, typename Descriptor, typename Attribute>
cublasStatus_t set_attribute(
    const char* name, Descriptor descriptor, Attribute attribute, const void* value, size_t bytes) {
  return call(name, [&] {
    return descriptor == nullptr ? CUBLAS_STATUS_INVALID_VALUE
                                 : set(storage_of(fake<Fake>(descriptor), attribute), value, bytes);
  });
}

FakeProblem problem_of(cublasLtMatmulDesc_t operation,
                       const std::array<cublasLtMatrixLayout_t, 4>& layouts) {
  return {fake<const FakeOperation>(operation),
          fake<const FakeLayout>(layouts[0]),
          fake<const FakeLayout>(layouts[1]),
          fake<const FakeLayout>(layouts[2]),
          fake<const FakeLayout>(layouts[3])};
}

// What a product's memory must be for the algorithm.
cublasStatus_t status_of(const FakeProblem& problem,
                         const FakeAddresses& at,
                         const cublasLtMatmulAlgo_t& algorithm,
                         const void* workspace,
                         size_t workspace_bytes) {
  constexpr uintptr_t kWorkspaceAlignment = 256;
  const auto& [a, b, c, d] = at;
  const uint64_t needed = workspace_of(algorithm);
  const bool has_workspace =
      needed == 0 || (workspace != nullptr && workspace_bytes >= needed &&
                      reinterpret_cast<uintptr_t>(workspace) % kWorkspaceAlignment == 0);
  const bool is_in_place = c == d;
  const bool is_possible =
      !is_any_null({a, b, c, d}) && is_for(algorithm, problem) && has_workspace &&
      (!is_in_place || (problem.c.stride == problem.d.stride && problem.c.step == problem.d.step));
  return is_possible ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

// What an algorithm leaves in its workspace is nobody's: at both ends here.
void spoil(void* workspace, size_t bytes) {
  constexpr size_t kEnd = 256;
  constexpr int kGarbage = 0xA5;
  std::memset(workspace, kGarbage, std::min(bytes, kEnd));
  std::memset(static_cast<std::byte*>(workspace) + bytes - std::min(bytes, kEnd),
              kGarbage,
              std::min(bytes, kEnd));
}

}  // namespace

const char* cublasLtGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    default:
      return "unrecognized status";
  }
}

size_t cublasLtGetVersion() {
  return CUBLAS_VERSION;
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (handle != nullptr && device().options().num_devices == 0) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  return make("cublasLtCreate", handle, Handle{});
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return destroy(handle);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* operation,
                                        cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  FakeOperation fake;
  fake.compute = compute;
  fake.scale = scale;
  return make("cublasLtMatmulDescCreate", operation, fake);
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) {
  return destroy(operation);
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value,
                                              size_t bytes) {
  return set_attribute<FakeOperation>(
      "cublasLtMatmulDescSetAttribute", operation, attribute, value, bytes);
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout,
                                          cudaDataType_t type,
                                          uint64_t rows,
                                          uint64_t columns,
                                          int64_t stride) {
  FakeLayout fake;
  fake.type = type;
  fake.rows = rows;
  fake.columns = columns;
  fake.stride = stride;
  return make("cublasLtMatrixLayoutCreate", layout, fake);
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return destroy(layout);
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value,
                                                size_t bytes) {
  return set_attribute<FakeLayout>(
      "cublasLtMatrixLayoutSetAttribute", layout, attribute, value, bytes);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return make("cublasLtMatmulPreferenceCreate", preference, FakePreference{});
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return destroy(preference);
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value,
                                                    size_t bytes) {
  return set_attribute<FakePreference>(
      "cublasLtMatmulPreferenceSetAttribute", preference, attribute, value, bytes);
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle,
                                              cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a,
                                              cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c,
                                              cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference,
                                              int num_wanted,
                                              cublasLtMatmulHeuristicResult_t* results,
                                              int* num_results) {
  return call("cublasLtMatmulAlgoGetHeuristic", [&] {
    if (handle == nullptr) {
      return CUBLAS_STATUS_NOT_INITIALIZED;
    }
    if (is_any_null({operation, a, b, c, d, preference, results, num_results}) || num_wanted <= 0) {
      return CUBLAS_STATUS_INVALID_VALUE;
    }
    *num_results = 0;
    const FakeRefusal refusal = device().options().refusal;
    const FakeProblem problem = problem_of(operation, {a, b, c, d});
    const cublasStatus_t status = moesim::testing::status_of(problem);
    if (status != CUBLAS_STATUS_SUCCESS || refusal == FakeRefusal::kNoResult) {
      return status;
    }
    const auto& wanted = fake<const FakePreference>(preference);
    results[0] = {};
    results[0].algo = algorithm_for(problem, wanted);
    set_number(results[0].algo, static_cast<uint64_t>(device().next_algorithm()));
    results[0].workspaceSize = wanted.workspace_bytes;
    results[0].state =
        refusal == FakeRefusal::kUnfitResult ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
    *num_results = 1;
    return status;
  });
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle,
                              cublasLtMatmulDesc_t operation,
                              const void* alpha,
                              const void* a,
                              cublasLtMatrixLayout_t a_layout,
                              const void* b,
                              cublasLtMatrixLayout_t b_layout,
                              const void* beta,
                              const void* c,
                              cublasLtMatrixLayout_t c_layout,
                              void* d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* given,
                              void* workspace,
                              size_t workspace_bytes,
                              cudaStream_t stream) {
  const bool is_added = beta != nullptr && *static_cast<const float*>(beta) != 0;
  const std::string function = fmt::format(
      "product {}{}", given == nullptr ? 0 : number_of(*given), is_added ? ", added" : "");
  return moesim::testing::fake_launch<cublasStatus_t>("cublasLtMatmul", function, [&] {
    if (handle == nullptr) {
      return CUBLAS_STATUS_NOT_INITIALIZED;
    }
    if (is_any_null({operation, alpha, beta, a_layout, b_layout, c_layout, d_layout})) {
      return CUBLAS_STATUS_INVALID_VALUE;
    }
    const float factor_of_c = *static_cast<const float*>(beta);
    if (*static_cast<const float*>(alpha) != 1 || (factor_of_c != 0 && factor_of_c != 1)) {
      return CUBLAS_STATUS_NOT_SUPPORTED;  // by the fake
    }
    const FakeProblem problem = problem_of(operation, {a_layout, b_layout, c_layout, d_layout});
    // Without an algorithm, the one that default preferences give.
    const cublasLtMatmulAlgo_t algorithm = given == nullptr ? algorithm_for(problem, {}) : *given;
    const FakeAddresses at{a, b, c, d};
    for (const cublasStatus_t status :
         {moesim::testing::status_of(problem),
          status_of(problem, at, algorithm, workspace, workspace_bytes)}) {
      if (status != CUBLAS_STATUS_SUCCESS) {
        return status;
      }
    }
    const auto run = [=] {
      if (!is_aligned_for(algorithm, at)) {
        device().fail(cudaErrorMisalignedAddress);
        return;
      }
      multiply(problem, at, factor_of_c != 0);
      if (workspace_of(algorithm) > 0) {
        spoil(workspace, static_cast<size_t>(workspace_of(algorithm)));
      }
    };
    FakeStream* place =
        stream == nullptr ? &device().default_stream() : reinterpret_cast<FakeStream*>(stream);
    device().add_work(place, run, device().options().kernel_time, true);
    return CUBLAS_STATUS_SUCCESS;
  });
}
