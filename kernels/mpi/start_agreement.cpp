#include "kernels/mpi/start_agreement.h"

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

#include "kernels/mpi/mpi_call.h"
#include "kernels/mpi/silence.h"
#include "kernels/mpi/tags.h"

namespace moesim {
namespace {

using std::chrono::nanoseconds;

constexpr int kNumQuestions = 40;
constexpr std::chrono::milliseconds kHeadStart{30};
// Nobody shows that he lives meanwhile. Process 0 asks one after the other: it is the first to see
// who does not answer.
constexpr std::chrono::seconds kPatienceOfFirst{5};
constexpr std::chrono::seconds kPatienceOfOthers{8};
constexpr int64_t kQuestion = -1;  // anything else is the start

enum class Waiting { kSleep, kYield };

nanoseconds now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

// Talks with one other process, and waits for it as long as it may take.
class Line {
 public:
  Line(const MpiWorld& world, int other) : world_(world), other_(other) {}

  void send(int64_t word) const {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Isend(&word, 1, MPI_INT64_T, other_, kClockTag, MPI_COMM_WORLD, &request),
              "MPI_Isend");
    wait(request, Waiting::kYield);
  }

  int64_t receive(Waiting how) const {
    int64_t word = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Irecv(&word, 1, MPI_INT64_T, other_, kClockTag, MPI_COMM_WORLD, &request),
              "MPI_Irecv");
    wait(request, how);
    return word;
  }

 private:
  void wait(MPI_Request& request, Waiting how) const {
    const auto patience = world_.process() == 0 ? kPatienceOfFirst : kPatienceOfOthers;
    const nanoseconds deadline = now() + patience;
    for (int is_done = 0; is_done == 0;) {
      check_mpi(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
      if (is_done == 0 && now() > deadline) {
        throw Silence(other_, world_.num_processes(), patience);
      }
      if (is_done == 0 && how == Waiting::kSleep) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      } else if (is_done == 0) {
        std::this_thread::yield();
      }
    }
  }

  const MpiWorld& world_;
  int other_;
};

struct Offset {
  nanoseconds ahead{};  // of process 0's clock
  nanoseconds uncertainty = nanoseconds::max();
};

Offset measure_offset(const Line& line) {
  Offset best;
  for (int i = 0; i < kNumQuestions; ++i) {
    const nanoseconds before = now();
    line.send(kQuestion);
    const nanoseconds answer(line.receive(i == 0 ? Waiting::kSleep : Waiting::kYield));
    const nanoseconds after = now();
    if ((after - before) / 2 < best.uncertainty) {
      best = {answer - before - (after - before) / 2, (after - before) / 2};
    }
  }
  return best;
}

StartAgreement lead(const MpiWorld& world) {
  StartAgreement agreement;
  std::vector<Offset> offsets(world.num_processes());
  for (int other = 1; other < world.num_processes(); ++other) {
    offsets[other] = measure_offset(Line(world, other));
    agreement.uncertainty = std::max(agreement.uncertainty, offsets[other].uncertainty);
  }
  const nanoseconds start = now() + kHeadStart;
  for (int other = 1; other < world.num_processes(); ++other) {
    Line(world, other).send((start + offsets[other].ahead).count());
  }
  agreement.start = MonotonicTime(start);
  return agreement;
}

StartAgreement follow(const MpiWorld& world) {
  const Line line(world, 0);
  for (int64_t word = line.receive(Waiting::kSleep);; word = line.receive(Waiting::kYield)) {
    if (word != kQuestion) {
      return {MonotonicTime(nanoseconds(word)), {}};
    }
    line.send(now().count());
  }
}

}  // namespace

StartAgreement agree_on_start(const MpiWorld& world) {
  return world.process() == 0 ? lead(world) : follow(world);
}

}  // namespace moesim
