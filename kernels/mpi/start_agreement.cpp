#include "kernels/mpi/start_agreement.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

#include "kernels/mpi/mpi_call.h"
#include "kernels/mpi/tags.h"

namespace moesim {
namespace {

using std::chrono::nanoseconds;

constexpr int kNumQuestions = 40;
constexpr std::chrono::milliseconds kHeadStart{30};
constexpr std::chrono::seconds kPatience{5};
constexpr int64_t kQuestion = -1;  // anything else is the start

enum class Waiting { kSleep, kYield };

nanoseconds now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

void wait(MPI_Request& request, Waiting how) {
  const nanoseconds deadline = now() + kPatience;
  for (int is_done = 0; is_done == 0;) {
    check_mpi(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
    if (is_done == 0 && now() > deadline) {
      throw std::runtime_error("the processes cannot agree on a start: one does not answer");
    }
    if (is_done == 0 && how == Waiting::kSleep) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    } else if (is_done == 0) {
      std::this_thread::yield();
    }
  }
}

void send(int64_t word, int other) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Isend(&word, 1, MPI_INT64_T, other, kClockTag, MPI_COMM_WORLD, &request),
            "MPI_Isend");
  wait(request, Waiting::kYield);
}

int64_t receive(int other, Waiting how) {
  int64_t word = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Irecv(&word, 1, MPI_INT64_T, other, kClockTag, MPI_COMM_WORLD, &request),
            "MPI_Irecv");
  wait(request, how);
  return word;
}

struct Offset {
  nanoseconds ahead{};  // of process 0's clock
  nanoseconds uncertainty = nanoseconds::max();
};

Offset measure_offset(int other) {
  Offset best;
  for (int i = 0; i < kNumQuestions; ++i) {
    const nanoseconds before = now();
    send(kQuestion, other);
    const nanoseconds answer(receive(other, i == 0 ? Waiting::kSleep : Waiting::kYield));
    const nanoseconds after = now();
    if ((after - before) / 2 < best.uncertainty) {
      best = {answer - before - (after - before) / 2, (after - before) / 2};
    }
  }
  return best;
}

StartAgreement lead(int num_processes) {
  StartAgreement agreement;
  std::vector<Offset> offsets(num_processes);
  for (int other = 1; other < num_processes; ++other) {
    offsets[other] = measure_offset(other);
    agreement.uncertainty = std::max(agreement.uncertainty, offsets[other].uncertainty);
  }
  const nanoseconds start = now() + kHeadStart;
  for (int other = 1; other < num_processes; ++other) {
    send((start + offsets[other].ahead).count(), other);
  }
  agreement.start = MonotonicTime(start);
  return agreement;
}

StartAgreement follow() {
  for (int64_t word = receive(0, Waiting::kSleep);; word = receive(0, Waiting::kYield)) {
    if (word != kQuestion) {
      return {MonotonicTime(nanoseconds(word)), {}};
    }
    send(now().count(), 0);
  }
}

}  // namespace

StartAgreement agree_on_start(const MpiWorld& world) {
  return world.process() == 0 ? lead(world.num_processes()) : follow();
}

}  // namespace moesim
