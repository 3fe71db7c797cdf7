#include "kernels/device/exchange_plan.h"

#include <algorithm>
#include <utility>

#include "sim/base/check.h"

namespace moesim {
namespace {

// Rows that stand one behind the other.
struct RowRun {
  RowAddress first;
  int64_t rows = 0;
};
using RowRuns = std::vector<RowRun>;

void append(RowRuns& runs, const RowAddress& first, int64_t rows) {
  if (!runs.empty() && runs.back().first.tensor == first.tensor &&
      runs.back().first.row + runs.back().rows == first.row) {
    runs.back().rows += rows;
  } else {
    runs.push_back({first, rows});
  }
}

int64_t num_rows(const RowRuns& runs) {
  int64_t rows = 0;
  for (const RowRun& run : runs) {
    rows += run.rows;
  }
  return rows;
}

bool is_same(const RowAddress& left, const RowAddress& right) {
  return left.member == right.member && left.tensor == right.tensor && left.row == right.row;
}

class ExchangePlanner {
 public:
  ExchangePlanner(const MovePlan& moves, const ExchangeRequest& request)
      : moves_(moves), request_(request) {
    plan_.columns = moves.columns;
  }

  ExchangePlan plan() && {
    if (moves_.steps.empty()) {
      return std::move(plan_);
    }
    sort_moves();
    if (request_.num_members == 1) {
      copy_alone();
      return std::move(plan_);
    }
    switch (request_.operation) {
      case CollectiveOperation::kAllReduce:
        all_reduce();
        break;
      case CollectiveOperation::kAllGather:
      case CollectiveOperation::kReduceScatter:
      case CollectiveOperation::kAllToAll:
        exchange_parts();
        break;
      case CollectiveOperation::kBroadcast:
        broadcast();
        break;
      case CollectiveOperation::kShift:
        mail();
        break;
    }
    return std::move(plan_);
  }

 private:
  const std::vector<Move>& first_step() const { return moves_.steps.front(); }

  // Sorts the moves of this member by whom they go to and come from.
  void sort_moves() {
    const auto size = static_cast<size_t>(request_.num_members);
    sent_.resize(size);
    received_.resize(size);
    for (const Move& move : first_step()) {
      if (move.from.member == request_.member) {
        append(sent_[static_cast<size_t>(move.to.member)], move.from, move.rows);
      }
    }
    for (const Move& move : moves_.steps.back()) {
      if (move.to.member == request_.member) {
        append(received_[static_cast<size_t>(move.from.member)], move.to, move.rows);
      }
    }
  }

  const RowRuns& sent_to(int other) const { return sent_[static_cast<size_t>(other)]; }
  const RowRuns& received_from(int other) const { return received_[static_cast<size_t>(other)]; }

  static RowRuns joined(const std::vector<RowRuns>& of_members) {
    RowRuns all;
    for (const RowRuns& runs : of_members) {
      for (const RowRun& run : runs) {
        append(all, run.first, run.rows);
      }
    }
    return all;
  }

  // Every member has equally many rows for every one. Alike on all members.
  bool has_equal_parts() const {
    const auto size = static_cast<size_t>(request_.num_members);
    std::vector<int64_t> rows(size * size);
    for (const Move& move : first_step()) {
      rows[static_cast<size_t>(move.from.member) * size + static_cast<size_t>(move.to.member)] +=
          move.rows;
    }
    return std::ranges::count(rows, rows.front()) == std::ssize(rows);
  }

  RowAddress take_scratch(int64_t rows) {
    const RowAddress first{request_.member, kNone, plan_.scratch_rows};
    plan_.scratch_rows += rows;
    return first;
  }

  static RowAddress behind(RowAddress first, int64_t rows) {
    first.row += rows;
    return first;
  }

  // Where the rows stand one behind the other before the calls.
  RowAddress gathered(const RowRuns& runs) {
    if (runs.size() == 1) {
      return runs.front().first;
    }
    RowAddress next = take_scratch(num_rows(runs));
    const RowAddress first = next;
    for (const RowRun& run : runs) {
      plan_.pack.push_back({run.first, next, run.rows});
      next = behind(next, run.rows);
    }
    return first;
  }

  // Where the calls may leave the rows; `spare` is memory that they may use.
  RowAddress scattered(const RowRuns& runs, const RowAddress* spare = nullptr) {
    if (runs.size() == 1) {
      return runs.front().first;
    }
    RowAddress next = spare != nullptr ? *spare : take_scratch(num_rows(runs));
    const RowAddress first = next;
    for (const RowRun& run : runs) {
      plan_.unpack.push_back({next, run.first, run.rows});
      next = behind(next, run.rows);
    }
    return first;
  }

  void call(ExchangeKind kind, const RowRuns& from, const RowRuns& to) {
    const int64_t rows = std::min(num_rows(from), num_rows(to));
    if (rows == 0) {
      return;
    }
    const bool of_all = kind == ExchangeKind::kAllToAll;
    const RowAddress source = gathered(from);
    plan_.calls.push_back(
        {kind, source, scattered(to), of_all ? rows / request_.num_members : rows, kNone});
  }

  // Who is alone calls nobody.
  void copy_alone() {
    const RowRuns& from = sent_to(0);
    const RowRuns& to = received_from(0);
    if (from.empty()) {
      return;
    }
    const RowAddress source = gathered(from);
    const RowAddress target = scattered(to, source.tensor == kNone ? &source : nullptr);
    if (!is_same(source, target)) {
      plan_.unpack.insert(plan_.unpack.begin(), {source, target, num_rows(from)});
    }
  }

  void exchange_parts() {
    const bool is_all_to_all = request_.operation == CollectiveOperation::kAllToAll;
    if (!has_equal_parts() || (is_all_to_all && !request_.native_all_to_all)) {
      mail();
    } else if (is_all_to_all) {
      call(ExchangeKind::kAllToAll, joined(sent_), joined(received_));
    } else if (request_.operation == CollectiveOperation::kAllGather) {
      call(ExchangeKind::kAllGather, sent_to(request_.member), joined(received_));
    } else {
      call(ExchangeKind::kReduceScatter, joined(sent_), received_from(request_.member));
    }
  }

  // The plan cuts the rows into parts that members 0, 1, ... add up: together they are all rows.
  // What is packed is summed where it stands.
  void all_reduce() {
    const RowRuns from = joined(sent_);
    const RowRuns to = joined(received_);
    CHECK(num_rows(from) == num_rows(to), "{} rows reduced to {}", num_rows(from), num_rows(to));
    if (from.empty()) {
      return;
    }
    const RowAddress source = gathered(from);
    const bool is_packed = source.tensor == kNone;
    const RowAddress target = scattered(to, is_packed ? &source : nullptr);
    plan_.calls.push_back({ExchangeKind::kAllReduce, source, target, num_rows(from), kNone});
  }

  void broadcast() {
    const int root = first_step().empty() ? 0 : first_step().front().from.member;
    const RowRuns& to = received_from(root);
    if (to.empty()) {
      return;
    }
    // Only the root's source means anything to NCCL.
    const bool is_root = root == request_.member;
    const RowAddress source = is_root ? gathered(sent_to(root)) : RowAddress{};
    const RowAddress target = scattered(to);
    plan_.calls.push_back(
        {ExchangeKind::kBroadcast, is_root ? source : target, target, num_rows(to), root});
  }

  // Sends and receives.
  void mail() {
    for (int other = 0; other < request_.num_members; ++other) {
      const RowRuns& runs = sent_to(other);
      if (other != request_.member && !runs.empty()) {
        plan_.calls.push_back({ExchangeKind::kSend, gathered(runs), {}, num_rows(runs), other});
      }
    }
    const bool adds = std::ranges::any_of(first_step(), &Move::add);
    adds ? receive_and_add() : receive();
  }

  void receive() {
    for (int other = 0; other < request_.num_members; ++other) {
      const RowRuns& runs = received_from(other);
      if (other != request_.member && !runs.empty()) {
        plan_.calls.push_back({ExchangeKind::kReceive, {}, scattered(runs), num_rows(runs), other});
      }
    }
    for (const Move& move : first_step()) {
      if (move.from.member == request_.member && move.to.member == request_.member &&
          !is_same(move.from, move.to)) {
        plan_.unpack.push_back(move);
      }
    }
  }

  // What comes is kept apart and added in the plan's order.
  void receive_and_add() {
    std::vector<RowAddress> next;
    for (int other = 0; other < request_.num_members; ++other) {
      const int64_t rows = num_rows(received_from(other));
      const bool comes = other != request_.member && rows > 0;
      next.push_back(comes ? take_scratch(rows) : RowAddress{});
      if (comes) {
        plan_.calls.push_back({ExchangeKind::kReceive, {}, next.back(), rows, other});
      }
    }
    for (Move move : first_step()) {
      if (move.to.member != request_.member) {
        continue;
      }
      if (move.from.member != request_.member) {
        RowAddress& parcel = next[static_cast<size_t>(move.from.member)];
        move.from = parcel;
        parcel = behind(parcel, move.rows);
      }
      plan_.unpack.push_back(move);
    }
  }

  const MovePlan& moves_;
  const ExchangeRequest& request_;
  std::vector<RowRuns> sent_;      // by member: own rows that the first step takes there
  std::vector<RowRuns> received_;  // by member: own rows that the last step writes from there
  ExchangePlan plan_;
};

}  // namespace

const char* to_string(ExchangeKind kind) {
  switch (kind) {
    case ExchangeKind::kAllGather:
      return "ncclAllGather";
    case ExchangeKind::kReduceScatter:
      return "ncclReduceScatter";
    case ExchangeKind::kAllReduce:
      return "ncclAllReduce";
    case ExchangeKind::kAllToAll:
      return "ncclAlltoAll";
    case ExchangeKind::kBroadcast:
      return "ncclBroadcast";
    case ExchangeKind::kSend:
      return "ncclSend";
    case ExchangeKind::kReceive:
      return "ncclRecv";
  }
  return "";
}

ExchangePlan plan_exchange(const MovePlan& moves, const ExchangeRequest& request) {
  CHECK(0 <= request.member && request.member < request.num_members,
        "member {} of {}",
        request.member,
        request.num_members);
  CHECK(moves.clears.empty(), "collectives clear no rows");
  return ExchangePlanner(moves, request).plan();
}

}  // namespace moesim
