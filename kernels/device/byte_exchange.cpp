#include "kernels/device/byte_exchange.h"

#include <algorithm>

#include "sim/base/check.h"

namespace moesim {
namespace {

int64_t rows_of(int64_t bytes) {
  return (bytes + kByteExchangeRow - 1) / kByteExchangeRow;
}

// Each member's scratch memory holds what it sends and, behind that, what it receives.
class ByteMoves {
 public:
  ByteMoves(CollectiveOperation operation, const Traffic& traffic)
      : operation_(operation), traffic_(traffic), num_members_(static_cast<int>(traffic.size())) {}

  // Rows that a member sends and receives, one part behind the other or all at one place.
  int64_t num_sent(int member) const { return sent_before(member, num_members_); }
  int64_t num_received(int member) const { return received_before(member, num_members_); }

  MovePlan plan() const {
    MovePlan plan;
    plan.columns = 1;
    std::vector<Move>& moves = plan.steps.emplace_back();
    for (int to = 0; to < num_members_; ++to) {
      for (int from = 0; from < num_members_; ++from) {
        if (const int64_t rows = this->rows(from, to); rows > 0) {
          moves.push_back({{from, kNone, has_own_parts() ? sent_before(from, to) : 0},
                           {to, kNone, num_sent(to) + (adds() ? 0 : received_before(to, from))},
                           rows,
                           adds() && from > 0});
        }
      }
    }
    return plan;
  }

 private:
  // What a member sends is another part for each.
  bool has_own_parts() const { return operation_ == CollectiveOperation::kAllToAll || adds(); }
  bool adds() const { return operation_ == CollectiveOperation::kReduceScatter; }

  int64_t rows(int from, int to) const {
    return rows_of(traffic_[static_cast<size_t>(from)][static_cast<size_t>(to)]);
  }

  // Rows of the parts for members [0, end), or the largest of them where all get the same.
  int64_t sent_before(int member, int end) const {
    int64_t sum = 0;
    int64_t most = 0;
    for (int to = 0; to < end; ++to) {
      sum += rows(member, to);
      most = std::max(most, rows(member, to));
    }
    return has_own_parts() ? sum : most;
  }

  int64_t received_before(int member, int end) const {
    int64_t sum = 0;
    int64_t most = 0;
    for (int from = 0; from < end; ++from) {
      sum += rows(from, member);
      most = std::max(most, rows(from, member));
    }
    return adds() ? most : sum;
  }

  CollectiveOperation operation_;
  const Traffic& traffic_;
  int num_members_;
};

// In place.
ExchangePlan byte_all_reduce(int64_t bytes, int member) {
  ExchangePlan plan;
  plan.columns = 1;
  plan.scratch_rows = rows_of(bytes);
  if (bytes > 0) {
    const RowAddress all{member, kNone, 0};
    plan.calls.push_back({ExchangeKind::kAllReduce, all, all, plan.scratch_rows, kNone});
  }
  return plan;
}

}  // namespace

ExchangePlan plan_byte_exchange(const Collective& collective,
                                const Traffic& traffic,
                                const ExchangeRequest& request) {
  if (collective.operation == CollectiveOperation::kAllReduce) {
    return byte_all_reduce(collective.bytes, request.member);
  }
  const ByteMoves moves(collective.operation, traffic);
  ExchangePlan plan = plan_exchange(moves.plan(), request);
  CHECK(plan.scratch_rows == 0, "bytes without a place of their own");
  plan.scratch_rows = moves.num_sent(request.member) + moves.num_received(request.member);
  return plan;
}

}  // namespace moesim
