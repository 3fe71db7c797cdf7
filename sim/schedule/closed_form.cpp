#include "sim/schedule/closed_form.h"

#include <algorithm>

namespace moesim {
namespace {

// FSMoE, section 4, in order of the cases.
std::array<double, 4> fsmoe_times(int r, const ChunkTimes& t) {
  return {2 * r * t.a + t.gar,
          2 * t.a + t.g + t.s + r * t.e,
          2 * r * t.a + t.g + t.s,
          2 * t.a + r * (t.g + t.s)};
}

}  // namespace

int fsmoe_case(int r, const ChunkTimes& t) {
  const bool q1 = t.a > t.g;
  const bool q2 = r * t.e > 2 * (r - 1) * t.a;
  const bool q3 = r * t.e > (r - 1) * (t.g + t.s);
  const bool q4 = t.gar > t.g + t.s;
  const bool q5 = t.gar > r * t.e - 2 * (r - 1) * t.a + t.g + t.s;  // and Q7
  const bool q6 = t.gar > r * (t.g + t.s) - 2 * (r - 1) * t.a;
  if (q1) {
    return q2 ? (q5 ? 1 : 2) : (q4 ? 1 : 3);
  }
  return q3 ? (q5 ? 1 : 2) : (q6 ? 1 : 4);
}

double fsmoe_time(int r, const ChunkTimes& t) {
  return fsmoe_times(r, t).at(static_cast<std::size_t>(fsmoe_case(r, t) - 1));
}

double fsmoe_hidden(int r, const ChunkTimes& t) {
  ChunkTimes alone = t;
  alone.gar = 0;
  // t_olp,moe of section 5: the case's time less the AlltoAlls'.
  return std::max(0.0, fsmoe_time(r, alone) - 2 * r * t.a);
}

double fsmoe_bound(int r, const ChunkTimes& t) {
  const auto times = fsmoe_times(r, t);
  return *std::max_element(times.begin(), times.end());
}

double pipemoe_time(int r, const ChunkTimes& t) {
  const double communication = 2 * t.a + t.g + t.s;
  return std::max(r * communication, communication + r * t.e);
}

}  // namespace moesim
