#include "kernels/mpi/pulse.h"

#include <algorithm>

#include "kernels/mpi/silence.h"
#include "kernels/mpi/tags.h"

namespace moesim {
namespace {

constexpr std::chrono::milliseconds kInterval{500};
constexpr std::chrono::milliseconds kShortest{20};
// Whoever was never heard of may still be loading what others have loaded.
constexpr std::chrono::seconds kLoading{60};
// Who was away for so long himself cannot tell who was silent.
constexpr std::chrono::milliseconds kAway{2000};

}  // namespace

Pulse::Pulse(int process, int num_processes, std::chrono::seconds silence)
    : process_(process),
      num_processes_(num_processes),
      silence_(silence),
      last_heard_(num_processes, std::chrono::steady_clock::now() + kLoading),
      last_beat_(std::chrono::steady_clock::now()) {}

void Pulse::beat(MonotonicTime now, const Listener& listener) {
  if (now - last_beat_ < kShortest) {
    return;
  }
  if (now - last_beat_ > kAway) {
    for (MonotonicTime& last_heard : last_heard_) {
      last_heard = std::max(last_heard, now);
    }
  }
  last_beat_ = now;
  hear(now, listener);
  look_for_silence(now);
  if (now - last_sent_ >= kInterval) {
    last_sent_ = now;
    send();
  }
}

void Pulse::hear(MonotonicTime now, const Listener& listener) {
  while (true) {
    int is_there = 0;
    MPI_Status status;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, kPulseTag, MPI_COMM_WORLD, &is_there, &status),
              "MPI_Iprobe");
    if (is_there == 0) {
      return;
    }
    int count = 0;
    check_mpi(MPI_Get_count(&status, MPI_CHAR, &count), "MPI_Get_count");
    std::string news(count, '\0');
    check_mpi(MPI_Recv(news.data(),
                       count,
                       MPI_CHAR,
                       status.MPI_SOURCE,
                       kPulseTag,
                       MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE),
              "MPI_Recv");
    last_heard_[status.MPI_SOURCE] = now;
    if (!news.empty()) {
      listener(news, status.MPI_SOURCE);
    }
  }
}

void Pulse::look_for_silence(MonotonicTime now) const {
  for (int other = 0; other < num_processes_; ++other) {
    if (other != process_ && is_heard_by(other) && now - last_heard_[other] > silence_) {
      throw Silence(other, num_processes_, silence_);
    }
  }
}

void Pulse::send() {
  forget_sent();
  for (int other = 0; other < num_processes_; ++other) {
    if (other == process_ || !is_heard_by(other)) {
      continue;
    }
    Sign& sign = sent_.emplace_back();
    sign.bytes = news_;
    check_mpi(MPI_Isend(sign.bytes.data(),
                        static_cast<int>(sign.bytes.size()),
                        MPI_CHAR,
                        other,
                        kPulseTag,
                        MPI_COMM_WORLD,
                        &sign.request),
              "MPI_Isend");
  }
  news_.clear();
}

void Pulse::forget_sent() {
  std::erase_if(sent_, [](Sign& sign) {
    int is_done = 0;
    check_mpi(MPI_Test(&sign.request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
    return is_done != 0;
  });
}

}  // namespace moesim
