#include "kernels/operations/operand.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/error.h"

namespace moesim {
namespace {

Operand make_operand(const TaskSite& site, const Region& region, Use use) {
  return {site.rank,
          region.tensor,
          site.program().tensors[static_cast<size_t>(region.tensor)].columns,
          site.map->spans(*site.task, region, use, site.rank),
          false};
}

[[noreturn]] void fail(const TaskSite& site, const std::string& what) {
  throw Error(fmt::format(
      "task '{}': {}; `moesim verify` says what its kind needs", site.task->name, what));
}

const Region& region_at(const TaskSite& site,
                        const std::vector<Region>& regions,
                        size_t i,
                        const char* name) {
  if (i >= regions.size()) {
    fail(site, fmt::format("it has no '{}'", name));
  }
  return regions[i];
}

}  // namespace

int64_t Operand::num_rows() const {
  int64_t rows = 0;
  for (const RowSpan& span : spans) {
    rows += span.valid;
  }
  return rows;
}

std::vector<RowRun> Operand::runs() const {
  std::vector<RowRun> runs;
  for (const RowSpan& span : spans) {
    if (!runs.empty() && runs.back().first + runs.back().count == span.first) {
      runs.back().count += span.valid;
    } else if (span.valid > 0) {
      runs.push_back({span.first, span.valid});
    }
  }
  return runs;
}

std::vector<int64_t> Operand::rows() const {
  std::vector<int64_t> rows;
  for (const RowSpan& span : spans) {
    for (int i = 0; i < span.valid; ++i) {
      rows.push_back(span.first + i);
    }
  }
  return rows;
}

Operand read_operand(const TaskSite& site, size_t i, const char* name) {
  return make_operand(site, region_at(site, site.task->reads, i, name), Use::kRead);
}

Operand write_operand(const TaskSite& site, size_t i, const char* name) {
  return make_operand(site, region_at(site, site.task->writes, i, name), Use::kWrite);
}

Operand sum_operand(const TaskSite& site, size_t i, const char* name, size_t num_own_reads) {
  Operand sum = write_operand(site, i, name);
  const std::vector<Region>& reads = site.task->reads;
  sum.is_continued = reads.size() > num_own_reads &&
                     std::find(reads.begin() + static_cast<std::ptrdiff_t>(num_own_reads),
                               reads.end(),
                               site.task->writes[i]) != reads.end();
  return sum;
}

void require(const TaskSite& site, bool condition, const char* what) {
  if (!condition) {
    fail(site, what);
  }
}

void begin_sum(const Operand& sum, TensorStore& tensors) {
  if (sum.is_continued) {
    return;
  }
  for (const RowRun& run : sum.runs()) {
    std::fill_n(sum.row(tensors, run.first), run.count * sum.columns, 0.0F);
  }
}

const float* rounded_rows(const Operand& operand,
                          const RowRun& run,
                          Rounding rounding,
                          TensorStore& tensors,
                          std::vector<float>& buffer) {
  const float* values = operand.row(tensors, run.first);
  if (rounding == Rounding::kOff) {
    return values;
  }
  const int64_t count = run.count * operand.columns;
  buffer.resize(static_cast<size_t>(count));
  round_values(values, count, rounding, buffer.data());
  return buffer.data();
}

std::vector<float> packed_rows(const Operand& operand, Rounding rounding, TensorStore& tensors) {
  std::vector<float> packed(static_cast<size_t>(operand.num_rows() * operand.columns));
  float* to = packed.data();
  for (const RowRun& run : operand.runs()) {
    const int64_t count = run.count * operand.columns;
    round_values(operand.row(tensors, run.first), count, rounding, to);
    to += count;
  }
  return packed;
}

}  // namespace moesim
