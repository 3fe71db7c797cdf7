#include "sim/analysis/intervals.h"

#include <algorithm>

namespace moesim {

std::vector<Interval> merged(std::vector<Interval> intervals) {
  const auto begins_earlier = [](const Interval& a, const Interval& b) {
    return a.begin < b.begin;
  };
  std::sort(intervals.begin(), intervals.end(), begins_earlier);
  std::vector<Interval> result;
  for (const Interval& interval : intervals) {
    if (interval.end <= interval.begin) {
      continue;
    }
    if (!result.empty() && interval.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, interval.end);
    } else {
      result.push_back(interval);
    }
  }
  return result;
}

Time total_length(const std::vector<Interval>& intervals) {
  Time sum;
  for (const Interval& interval : intervals) {
    sum += interval.end - interval.begin;
  }
  return sum;
}

Time overlap(const std::vector<Interval>& left, const std::vector<Interval>& right) {
  Time sum;
  auto a = left.begin();
  auto b = right.begin();
  while (a != left.end() && b != right.end()) {
    const Time begin = std::max(a->begin, b->begin);
    const Time end = std::min(a->end, b->end);
    if (begin < end) {
      sum += end - begin;
    }
    if (a->end < b->end) {
      ++a;
    } else {
      ++b;
    }
  }
  return sum;
}

}  // namespace moesim
