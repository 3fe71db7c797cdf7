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

double fsmoe_bound(int r, const ChunkTimes& t) {
  const auto times = fsmoe_times(r, t);
  return *std::max_element(times.begin(), times.end());
}

double communication_time(const ChunkTimes& t) {
  return 2 * t.a + t.g + t.s;
}

double pipemoe_time(int r, const ChunkTimes& t) {
  const double c = communication_time(t);
  return std::max(r * c, c + r * t.e);
}

// Derived from the order of tasks. The one stream runs dispatch and gather of all chunks, the
// slice, then scatter and combine of all chunks: r*c + gar if it never waits. It waits for the
// expert of chunk i = 0..r-1, which ends at (a + g) + e + i*max(a + g, e), and has r - i scatters
// and combines to come: (a + g) + e + i*max(a + g, e) + (r - i)(s + a). That is linear in i, so
// that the first or the last chunk decides.
double one_communication_time(int r, const ChunkTimes& t) {
  const double in = t.a + t.g;
  const double out = t.s + t.a;
  return std::max(
      {r * (in + out) + t.gar, in + t.e + r * out, in + t.e + (r - 1) * std::max(in, t.e) + out});
}

}  // namespace moesim
