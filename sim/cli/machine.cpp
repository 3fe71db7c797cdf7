#include "sim/cli/machine.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <functional>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "kernels/gemm.h"
#include "sim/base/message.h"
#include "sim/base/units.h"
#include "sim/io/files.h"

namespace moesim {
namespace {

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Of one call; the first, which warms up, does not count.
double seconds_of(const std::function<void()>& work) {
  constexpr int kRepetitions = 8;
  work();
  const double start = thread_seconds();
  for (int i = 0; i < kRepetitions; ++i) {
    work();
  }
  return (thread_seconds() - start) / kRepetitions;
}

double measured_flop_rate() {
  constexpr int kSize = 256;
  const std::vector<float> a(kSize * kSize, 1.0F);
  const std::vector<float> b(kSize * kSize, 2.0F);
  std::vector<float> c(kSize * kSize);
  const double seconds = seconds_of([&] {
    multiply({a.data(), kSize, kSize}, {b.data(), kSize, kSize}, {c.data(), kSize});
  });
  return 2.0 * kSize * kSize * kSize / seconds;
}

// Bytes read and written.
double measured_memory_rate() {
  constexpr size_t kBytes = size_t{1} << 20U;
  const std::vector<char> from(kBytes, 'x');
  std::vector<char> to(kBytes);
  return 2.0 * kBytes / seconds_of([&] { std::memcpy(to.data(), from.data(), kBytes); });
}

int num_cores() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace

// "model name : AMD EPYC" of the first core.
std::string processor_name() {
  const std::string text = read_file("/proc/cpuinfo");
  const std::string key = "model name";
  const size_t at = text.find(key);
  const size_t colon = text.find(':', at);
  if (at == std::string::npos || colon == std::string::npos) {
    return {};
  }
  const size_t first = text.find_first_not_of(' ', colon + 1);
  return visible_in_line(text.substr(first, text.find('\n', first) - first));
}

std::string machine_text() {
  utsname system{};
  uname(&system);
  const std::string processor = processor_name();
  const int64_t memory = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  return fmt::format("{} {} {}, {} cores{}, {} of memory",
                     system.sysname,
                     system.release,
                     system.machine,
                     num_cores(),
                     processor.empty() ? "" : " (" + processor + ")",
                     format_bytes(memory));
}

MachineSpeed measured_speed() {
  return {.flops_per_second = measured_flop_rate(),
          .bytes_per_second = measured_memory_rate(),
          .num_cores = num_cores()};
}

}  // namespace moesim
