#pragma once

#include <string>
#include <vector>

#include "sim/io/program.h"

namespace moesim {

// The jitter of a task on a rank: a draw of mean 1 and standard deviation d, the relative
// deviation. It follows from seed, the task's name and the rank alone, so that order does not
// matter, and Programs that have a task of the same name, those of other schedules or degrees, draw
// the same for it: what is compared then differs by less than either varies.
//   LOG_NORMAL           exp(s * Z - s^2 / 2), s^2 = ln(1 + d^2), Z standard normal (Box and Muller
//                        1958). Positive and skewed to longer times [assumed: no source for GPU
//                        kernels]
//   SHIFTED_EXPONENTIAL  1 - d + d * X, X exponential of mean 1: a least time, and a tail. Lee et
//                        al., "Speeding up distributed machine learning using codes", IEEE Trans.
//                        Information Theory 64(3), 2018, section III, has it for workers. The
//                        largest of n has the mean 1 - d + d * (1 + 1/2 + … + 1/n).
double jitter_factor(const Jitter& jitter, const std::string& task, int rank);

// What an operation's time on a rank is multiplied with for the rank's speed; 1 for tasks that
// compute nothing.
double mean_slowdown(const Program& program, const Task& task, int rank);

// The same with the jitter.
double slowdown(const Program& program, const Task& task, int rank);

// Whether operations take other times on some rank than the profile says.
bool varies(const Program& program);

// What a result rests on, a sentence for the speeds and one for the jitter.
std::vector<std::string> variation_assumptions(const Program& program);

}  // namespace moesim
