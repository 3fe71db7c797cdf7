#include "kernels/reference/equality.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include <fmt/core.h>

#include "kernels/inputs.h"
#include "kernels/sequential_executor.h"

namespace moesim {
namespace {

// 0 and -0 are not the same.
bool same_bits(float left, float right) {
  return std::bit_cast<std::uint32_t>(left) == std::bit_cast<std::uint32_t>(right);
}

class Difference {
 public:
  explicit Difference(double tolerance) : tolerance_(tolerance) {}

  std::string text() && { return std::move(text_); }

  void compare(const std::string& name, const Matrix& actual, const Matrix& expected) {
    if (!text_.empty()) {
      return;
    }
    if (actual.values.size() != expected.values.size()) {
      text_ = name + " has another size";
      return;
    }
    double difference = 0;
    double norm = 0;
    for (size_t i = 0; i < actual.values.size(); ++i) {
      const double error = double{actual.values[i]} - expected.values[i];
      if (std::isnan(error) ||
          (tolerance_ == 0 && !same_bits(actual.values[i], expected.values[i]))) {
        text_ = fmt::format(
            "{}: element {} is {}, not {}", name, i, actual.values[i], expected.values[i]);
        return;
      }
      difference += error * error;
      norm += double{expected.values[i]} * expected.values[i];
    }
    if (std::sqrt(difference) > tolerance_ * std::sqrt(norm)) {
      text_ = fmt::format("{}: relative error {}", name, std::sqrt(difference / norm));
    }
  }

  void compare(const std::string& name,
               const std::vector<LayerWeights>& actual,
               const std::vector<LayerWeights>& expected) {
    for (size_t layer = 0; layer < expected.size(); ++layer) {
      const std::string prefix = fmt::format("{} of layer {}: ", name, layer);
      compare(prefix + "qkv", actual[layer].qkv, expected[layer].qkv);
      compare(prefix + "projection", actual[layer].projection, expected[layer].projection);
      compare(prefix + "gate", actual[layer].gate, expected[layer].gate);
      compare(prefix + "w1", actual[layer].w1, expected[layer].w1);
      compare(prefix + "w2", actual[layer].w2, expected[layer].w2);
      compare(prefix + "w3", actual[layer].w3, expected[layer].w3);
    }
  }

 private:
  void compare(const std::string& name,
               const std::vector<Matrix>& actual,
               const std::vector<Matrix>& expected) {
    for (size_t expert = 0; expert < expected.size(); ++expert) {
      compare(fmt::format("{} of expert {}", name, expert), actual[expert], expected[expert]);
    }
  }

  double tolerance_;
  std::string text_;
};

}  // namespace

ComparedRun run_beside_reference(const Program& program,
                                 const Program& domains_of,
                                 const Scenario& scenario,
                                 Rounding rounding) {
  TensorStore tensors(program, all_ranks(program));
  fill_inputs(rounding == Rounding::kExact ? InputData::kInteger : InputData::kReal, tensors);
  const RowMap map(program);
  ReferenceInputs inputs = reference_inputs(map, scenario.model, scenario.parallel, tensors);
  if (&domains_of != &program) {
    inputs.domains = capacity_domains(RowMap(domains_of));
  }
  run_in_launch_order(map, rounding, tensors);
  return {gather_results(map, scenario.model, scenario.parallel, tensors),
          run_reference(scenario.model, inputs, rounding)};
}

std::string first_difference(const ReferenceResults& actual,
                             const ReferenceResults& expected,
                             double tolerance) {
  for (size_t layer = 0; layer < expected.assignments.size(); ++layer) {
    if (actual.assignments[layer] != expected.assignments[layer]) {
      return fmt::format("layer {} drops other tokens", layer);
    }
  }
  Difference difference(tolerance);
  difference.compare("output", actual.output, expected.output);
  difference.compare("d_input", actual.d_input, expected.d_input);
  difference.compare("gradient", actual.gradients, expected.gradients);
  difference.compare("weight", actual.weights, expected.weights);
  return std::move(difference).text();
}

}  // namespace moesim
