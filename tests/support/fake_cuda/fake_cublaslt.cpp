// The functions of cuBLASLt that the CUDA backend calls. Sums are those of kernels/gemm.h.
#include <cstring>
#include <string>
#include <vector>

#include <cublasLt.h>

#include "kernels/core/elements.h"
#include "kernels/gemm.h"
#include "tests/support/fake_cuda/fake_device.h"

namespace {

using moesim::DeviceAddress;
using moesim::Elements;
using moesim::ElementType;
using moesim::MatrixView;
using moesim::testing::FakeDevice;
using moesim::testing::FakeStream;

// Column after column, as cuBLASLt has them.
struct Layout {
  cudaDataType_t type = CUDA_R_32F;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t stride = 0;
  int32_t batch = 1;
  int64_t step = 0;
};

struct Operation {
  int32_t is_left_transposed = 0;
  int32_t is_right_transposed = 0;
};

struct Preference {};
struct Handle {};

FakeDevice& device() {
  return FakeDevice::current();
}

template <typename Body>
cublasStatus_t call(const char* name, const Body& body) {
  return moesim::testing::fake_call<cublasStatus_t>(name, [&] {
    body();
    return CUBLAS_STATUS_SUCCESS;
  });
}

template <typename Fake, typename Handle>
cublasStatus_t make(const char* name, Handle* handle) {
  return call(name, [&] { *handle = reinterpret_cast<Handle>(device().make<Fake>()); });
}

Elements elements(const void* address, const Layout& layout, int batch) {
  const Elements first{reinterpret_cast<DeviceAddress>(address),
                       layout.type == CUDA_R_16BF ? ElementType::kBfloat16 : ElementType::kFloat32};
  return first.from(batch * layout.step);
}

// The columns of the matrix are the rows of its transpose, which is read here.
std::vector<float> read(const Elements& at, const Layout& layout) {
  std::vector<float> values;
  for (int64_t column = 0; column < layout.columns; ++column) {
    for (int64_t row = 0; row < layout.rows; ++row) {
      values.push_back(at.load(column * layout.stride + row));
    }
  }
  return values;
}

MatrixView view(const std::vector<float>& values, const Layout& layout, bool is_transposed) {
  const MatrixView view(values.data(), layout.columns, layout.rows);
  return is_transposed ? view.transposed() : view;
}

struct Multiplication {
  Operation operation;
  Layout a;
  Layout b;
  Layout d;
  const void* a_at = nullptr;
  const void* b_at = nullptr;
  void* d_at = nullptr;
  bool add = false;

  // D = A B for columns is D^T = B^T A^T for rows.
  void run() const {
    for (int batch = 0; batch < d.batch; ++batch) {
      const std::vector<float> left = read(elements(b_at, b, batch), b);
      const std::vector<float> right = read(elements(a_at, a, batch), a);
      const Elements target = elements(d_at, d, batch);
      std::vector<float> sums =
          add ? read(target, d) : std::vector<float>(static_cast<size_t>(d.rows * d.columns));
      moesim::multiply(view(left, b, operation.is_right_transposed != 0),
                       view(right, a, operation.is_left_transposed != 0),
                       {sums.data(), d.rows, add});
      for (int64_t column = 0; column < d.columns; ++column) {
        for (int64_t row = 0; row < d.rows; ++row) {
          target.store(column * d.stride + row, sums[static_cast<size_t>(column * d.rows + row)]);
        }
      }
    }
  }
};

const Layout& layout_of(cublasLtMatrixLayout_t layout) {
  return *reinterpret_cast<const Layout*>(layout);
}

}  // namespace

const char* cublasLtGetStatusName(cublasStatus_t) {
  return "CUBLAS_STATUS_FAKE";
}

size_t cublasLtGetVersion() {
  return CUBLAS_VERSION;
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return make<Handle>("cublasLtCreate", handle);
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  const std::lock_guard lock(device().mutex());
  device().destroy(handle);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* operation,
                                        cublasComputeType_t,
                                        cudaDataType_t) {
  return make<Operation>("cublasLtMatmulDescCreate", operation);
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) {
  const std::lock_guard lock(device().mutex());
  device().destroy(operation);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value,
                                              size_t) {
  return call("cublasLtMatmulDescSetAttribute", [&] {
    auto* fake = reinterpret_cast<Operation*>(operation);
    int32_t number = 0;
    std::memcpy(&number, value, sizeof(number));
    if (attribute == CUBLASLT_MATMUL_DESC_TRANSA) {
      fake->is_left_transposed = number;
    } else if (attribute == CUBLASLT_MATMUL_DESC_TRANSB) {
      fake->is_right_transposed = number;
    }
  });
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout,
                                          cudaDataType_t type,
                                          uint64_t rows,
                                          uint64_t columns,
                                          int64_t stride) {
  return call("cublasLtMatrixLayoutCreate", [&] {
    auto* fake = device().make<Layout>();
    *fake = {type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), stride, 1, 0};
    *layout = reinterpret_cast<cublasLtMatrixLayout_t>(fake);
  });
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  const std::lock_guard lock(device().mutex());
  device().destroy(layout);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value,
                                                size_t size) {
  return call("cublasLtMatrixLayoutSetAttribute", [&] {
    auto* fake = reinterpret_cast<Layout*>(layout);
    if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) {
      std::memcpy(&fake->batch, value, size);
    } else if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET) {
      std::memcpy(&fake->step, value, size);
    }
  });
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return make<Preference>("cublasLtMatmulPreferenceCreate", preference);
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  const std::lock_guard lock(device().mutex());
  device().destroy(preference);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                    cublasLtMatmulPreferenceAttributes_t,
                                                    const void*,
                                                    size_t) {
  return call("cublasLtMatmulPreferenceSetAttribute", [] {});
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t,
                                              cublasLtMatmulDesc_t,
                                              cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t,
                                              int,
                                              cublasLtMatmulHeuristicResult_t* results,
                                              int* num_results) {
  return call("cublasLtMatmulAlgoGetHeuristic", [&] {
    results[0] = {};
    results[0].algo.data[0] = static_cast<uint64_t>(device().next_algorithm());
    *num_results = 1;
  });
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t,
                              cublasLtMatmulDesc_t operation,
                              const void*,
                              const void* a,
                              cublasLtMatrixLayout_t a_layout,
                              const void* b,
                              cublasLtMatrixLayout_t b_layout,
                              const void* beta,
                              const void*,
                              cublasLtMatrixLayout_t,
                              void* d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm,
                              void*,
                              size_t,
                              cudaStream_t stream) {
  const bool is_added = *static_cast<const float*>(beta) != 0;
  const std::string function =
      "product " + std::to_string(algorithm->data[0]) + (is_added ? ", added" : "");
  return moesim::testing::fake_launch<cublasStatus_t>("cublasLtMatmul", function, [&] {
    const Multiplication multiplication{*reinterpret_cast<const Operation*>(operation),
                                        layout_of(a_layout),
                                        layout_of(b_layout),
                                        layout_of(d_layout),
                                        a,
                                        b,
                                        d,
                                        is_added};
    device().add_work(
        reinterpret_cast<FakeStream*>(stream),
        [multiplication] { multiplication.run(); },
        device().options().kernel_time,
        true);
    return CUBLAS_STATUS_SUCCESS;
  });
}
