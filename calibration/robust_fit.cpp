#include "calibration/robust_fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "sim/base/check.h"

namespace moesim {
namespace {

// Huber, "Robust Estimation of a Location Parameter", 1964: 95 % efficient on normal residuals.
constexpr double kHuberThreshold = 1.345;
// The median absolute deviation of a normal distribution, in standard deviations.
constexpr double kMadOfNormal = 0.6745;
constexpr int kIterations = 50;

// Weighted sums of a straight line's normal equations, with relative residuals: every sample is
// divided by its time, so that it reads 1 = startup/t + slope*size/t.
struct Sums {
  double uu = 0;  // u = 1/t
  double uv = 0;  // v = size/t
  double vv = 0;
  double u = 0;
  double v = 0;

  double determinant() const { return uu * vv - uv * uv; }
  // False where single samples outweigh all others so far that digits do not tell two unknowns.
  bool tells_both() const { return determinant() > 1e-12 * uu * vv; }
};

Sums weighted_sums(const std::vector<Sample>& samples, const std::vector<double>& weights) {
  Sums sums;
  for (size_t i = 0; i < samples.size(); ++i) {
    const double u = 1 / samples[i].seconds;
    const double v = samples[i].size / samples[i].seconds;
    sums.uu += weights[i] * u * u;
    sums.uv += weights[i] * u * v;
    sums.vv += weights[i] * v * v;
    sums.u += weights[i] * u;
    sums.v += weights[i] * v;
  }
  return sums;
}

// The least squares solution without negative parts.
void solve(const Sums& sums, Line& line) {
  if (!sums.tells_both()) {
    line.startup_seconds = 0;
    line.seconds_per_unit = sums.v / sums.vv;
    return;
  }
  line.startup_seconds = (sums.vv * sums.u - sums.uv * sums.v) / sums.determinant();
  line.seconds_per_unit = (sums.uu * sums.v - sums.uv * sums.u) / sums.determinant();
  if (line.startup_seconds < 0) {
    line.startup_seconds = 0;
    line.seconds_per_unit = sums.v / sums.vv;
  } else if (line.seconds_per_unit < 0) {
    line.startup_seconds = sums.u / sums.uu;
    line.seconds_per_unit = 0;
  }
}

double residual(const Line& line, const Sample& sample) {
  return 1 - line.at(sample.size) / sample.seconds;
}

std::vector<double> residuals(const Line& line, const std::vector<Sample>& samples) {
  std::vector<double> result;
  for (const Sample& sample : samples) {
    result.push_back(residual(line, sample));
  }
  return result;
}

std::vector<double> huber_weights(const std::vector<double>& residuals) {
  std::vector<double> sizes;
  for (const double value : residuals) {
    sizes.push_back(std::abs(value));
  }
  const double limit = kHuberThreshold * quantile(sizes, 0.5) / kMadOfNormal;
  std::vector<double> weights;
  for (const double size : sizes) {
    weights.push_back(size <= limit ? 1 : limit / size);
  }
  return weights;
}

// n, r^2 of the weighted relative residuals, and the slope's standard error over the slope.
void rate(const std::vector<Sample>& samples, const std::vector<double>& weights, Line& line) {
  double sum_weights = 0;
  double mean = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    sum_weights += weights[i];
    mean += weights[i] * samples[i].seconds;
  }
  mean /= sum_weights;
  double squares = 0;
  double relative_squares = 0;
  double total = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    const double error = samples[i].seconds - line.at(samples[i].size);
    squares += weights[i] * error * error;
    relative_squares += weights[i] * std::pow(residual(line, samples[i]), 2);
    total += weights[i] * std::pow(samples[i].seconds - mean, 2);
  }
  line.fit.num_samples = static_cast<int>(samples.size());
  line.fit.r_squared = total > 0 ? std::clamp(1 - squares / total, 0.0, 1.0) : 1;
  const double freedom = static_cast<double>(samples.size()) - 2;
  if (freedom > 0 && line.seconds_per_unit > 0) {
    const Sums sums = weighted_sums(samples, weights);
    if (!sums.tells_both()) {
      return;
    }
    const double variance = relative_squares / freedom;
    line.fit.standard_error =
        std::sqrt(variance * sums.uu / sums.determinant()) / line.seconds_per_unit;
  }
}

// How far a line lies from the median of the times of any size.
double worst_of_medians(const Line& line, const std::vector<Sample>& samples) {
  double worst = 0;
  for (const Sample& median : median_table(samples)) {
    worst = std::max(worst, std::abs(residual(line, median)));
  }
  return worst;
}

}  // namespace

bool has_two_sizes(const std::vector<Sample>& samples) {
  return std::any_of(samples.begin(), samples.end(), [&](const Sample& sample) {
    return sample.size != samples.front().size;
  });
}

std::vector<MeasuredPoint> table_instead(const Line& line, const std::vector<Sample>& samples) {
  std::vector<MeasuredPoint> points;
  if (worst_of_medians(line, samples) > kWorstResidual) {
    for (const Sample& point : median_table(samples)) {
      points.push_back({static_cast<int64_t>(point.size), point.seconds});
    }
  }
  return points;
}

void fit_time(const std::vector<Sample>& samples, CollectiveCost& cost) {
  const Line line = fit_line(samples);
  cost.fit.num_samples = line.fit.num_samples;
  cost.points = table_instead(line, samples);
  if (cost.points.empty()) {
    cost.startup_seconds = line.startup_seconds;
    cost.seconds_per_byte = line.seconds_per_unit;
    cost.fit = line.fit;
  }
}

Line fit_line(const std::vector<Sample>& samples) {
  const auto [least, most] =
      std::minmax_element(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) {
        return a.size < b.size;
      });
  CHECK(samples.size() >= 2 && least->size < most->size, "a line needs two sizes");
  std::vector<double> weights(samples.size(), 1);
  Line line;
  for (int i = 0; i < kIterations; ++i) {
    solve(weighted_sums(samples, weights), line);
    std::vector<double> next = huber_weights(residuals(line, samples));
    if (next == weights) {
      break;
    }
    weights = std::move(next);
  }
  rate(samples, weights, line);
  return line;
}

std::vector<Sample> median_table(const std::vector<Sample>& samples) {
  std::map<double, std::vector<double>> by_size;
  for (const Sample& sample : samples) {
    by_size[sample.size].push_back(sample.seconds);
  }
  struct Block {
    std::vector<double> sizes;
    std::vector<double> times;  // all samples of the sizes
    double seconds = 0;         // their median
  };
  std::vector<Block> blocks;
  for (const auto& [size, times] : by_size) {
    blocks.push_back({{size}, times, quantile(times, 0.5)});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].seconds > blocks.back().seconds) {
      const Block last = std::move(blocks.back());
      blocks.pop_back();
      Block& pooled = blocks.back();
      pooled.sizes.insert(pooled.sizes.end(), last.sizes.begin(), last.sizes.end());
      pooled.times.insert(pooled.times.end(), last.times.begin(), last.times.end());
      pooled.seconds = quantile(pooled.times, 0.5);
    }
  }
  std::vector<Sample> table;
  for (const Block& block : blocks) {
    for (const double size : block.sizes) {
      table.push_back({size, block.seconds});
    }
  }
  return table;
}

double median(std::vector<double> values) {
  CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

double quantile(std::vector<double> values, double fraction) {
  CHECK(!values.empty() && 0 <= fraction && fraction <= 1);
  const auto index = static_cast<std::ptrdiff_t>(fraction * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + index, values.end());
  return values[static_cast<size_t>(index)];
}

}  // namespace moesim
