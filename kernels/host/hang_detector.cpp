#include "kernels/host/hang_detector.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/hang.h"
#include "kernels/host/hang_report.h"
#include "sim/base/check.h"

namespace moesim {
namespace {

void unite(Attendance& all, const Attendance& some) {
  for (size_t meeting = 0; meeting < all.size(); ++meeting) {
    for (size_t member = 0; member < all[meeting].size(); ++member) {
      all[meeting][member] = all[meeting][member] || some[meeting][member];
    }
  }
}

bool all_of(const std::vector<bool>& members) {
  return std::find(members.begin(), members.end(), false) == members.end();
}

struct Header {
  int64_t run;
  int64_t from;
  int64_t to;
};

Header header_of(const std::string& bytes) {
  Header header{};
  CHECK(bytes.size() >= sizeof(header), "a report of {} bytes", bytes.size());
  std::memcpy(&header, bytes.data(), sizeof(header));
  return header;
}

Standstill parse_standstill(const HostScript& script, const std::string& bytes) {
  const Header header = header_of(bytes);
  Standstill standstill;
  standstill.from = Time::from_picoseconds(header.from);
  standstill.to = Time::from_picoseconds(header.to);
  size_t next = sizeof(header);
  for (const Meeting& meeting : script.meetings) {
    std::vector<bool>& arrived = standstill.arrived.emplace_back();
    std::vector<bool>& left = standstill.left.emplace_back();
    for (size_t member = 0; member < meeting.tasks.size(); ++member) {
      const int cell = bytes.at(next++) - '0';
      arrived.push_back(cell % 2 != 0);
      left.push_back(cell >= 2);
    }
  }
  return standstill;
}

}  // namespace

HangDetector::HangDetector(const Program& program, const HostScript& script, int num_processes)
    : program_(program), script_(script), latest_(num_processes) {}

void HangDetector::begin(int run) {
  const std::lock_guard lock(mutex_);
  run_ = run;
  latest_.assign(latest_.size(), std::nullopt);
}

void HangDetector::add(int process, StandstillReport report) {
  const std::lock_guard lock(mutex_);
  if (report.run == run_) {
    accept(process, std::move(report.standstill));
  }
}

// News of an earlier run may be of another Program.
void HangDetector::hear(int process, const std::string& bytes) {
  const std::lock_guard lock(mutex_);
  if (header_of(bytes).run == run_) {
    accept(process, parse_standstill(script_, bytes));
  }
}

void HangDetector::accept(int process, Standstill standstill) {
  latest_[process] = std::move(standstill);
  look();
}

void HangDetector::look() const {
  Time begin;
  Time end = Time::max();
  for (const std::optional<Standstill>& one : latest_) {
    if (!one) {
      return;
    }
    begin = std::max(begin, one->from);
    end = std::min(end, one->to);
  }
  if (end == Time::max() || begin + kMargin > end) {
    return;  // all are done, or there is no such moment
  }
  Attendance arrived = latest_.front()->arrived;
  Attendance left = latest_.front()->left;
  for (const std::optional<Standstill>& one : latest_) {
    unite(arrived, one->arrived);
    unite(left, one->left);
  }
  for (size_t meeting = 0; meeting < arrived.size(); ++meeting) {
    if (all_of(arrived[meeting]) && !all_of(left[meeting])) {
      return;  // the network is at work
    }
  }
  throw Hang(describe_hang(program_, script_, arrived));
}

// A header, then a digit for each member of each meeting: 1 for arrived, 2 more for left.
std::string to_bytes(const StandstillReport& report) {
  const Standstill& standstill = report.standstill;
  const Header header{report.run, standstill.from.picoseconds(), standstill.to.picoseconds()};
  std::string bytes(sizeof(header), '\0');
  std::memcpy(bytes.data(), &header, sizeof(header));
  for (size_t meeting = 0; meeting < standstill.arrived.size(); ++meeting) {
    for (size_t member = 0; member < standstill.arrived[meeting].size(); ++member) {
      const int arrived = standstill.arrived[meeting][member] ? 1 : 0;
      const int left = standstill.left[meeting][member] ? 2 : 0;
      bytes.push_back(static_cast<char>('0' + arrived + left));
    }
  }
  return bytes;
}

}  // namespace moesim
