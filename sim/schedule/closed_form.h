#pragma once

#include <array>

namespace moesim {

// Per-chunk times of a pipelined MoE region with r equal chunks, in any unit: AlltoAll a,
// AllGather g, ReduceScatter s, expert e; and the gradient slice's time gar.
struct ChunkTimes {
  double a = 0;
  double g = 0;
  double s = 0;
  double e = 0;
  double gar = 0;
};

// FSMoE's four cases (section 4): 1 inter-bound, 2 compute-bound, 3 AlltoAll-bound, 4 intra-bound.
int fsmoe_case(int r, const ChunkTimes& t);

// The time of that case.
double fsmoe_time(int r, const ChunkTimes& t);

// All four cases in one: the largest of them. Equal to the in-order streams when g = s, else a
// lower bound; never below fsmoe_time.
double fsmoe_bound(int r, const ChunkTimes& t);

// One chunk's communication, c = 2a + g + s.
double communication_time(const ChunkTimes& t);

// PipeMoE and Tutel, one communication at a time: max(r*c, c + r*e). With g = s = 0 and r >= 2 this
// is PipeMoE's max(2r*a, 2a + r*e).
double pipemoe_time(int r, const ChunkTimes& t);

// One communication at a time with a gradient slice after the last gather (FSMoE without
// intra-inter overlap), exactly. Equal to pipemoe_time when g = s and gar = 0, else never below it.
double one_communication_time(int r, const ChunkTimes& t);

}  // namespace moesim
