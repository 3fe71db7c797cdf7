#include "tests/support/exchange_runner.h"

#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>

#include "kernels/apply_moves.h"

namespace moesim::test {
namespace {

using Words = std::vector<float>;  // four bytes each, whatever they mean

void require(bool condition, const std::string& what) {
  if (!condition) {
    throw std::logic_error(what);
  }
}

class ExchangeRunner {
 public:
  ExchangeRunner(const std::vector<ExchangePlan>& plans,
                 const std::vector<int>& ranks,
                 TensorStore& tensors)
      : plans_(plans), ranks_(ranks), tensors_(tensors) {
    for (const ExchangePlan& plan : plans) {
      scratch_.emplace_back(static_cast<size_t>(plan.scratch_rows * plan.columns));
    }
  }

  void run() {
    for (size_t member = 0; member < plans_.size(); ++member) {
      apply(plans_[member].pack, member);
    }
    require_same_calls();
    for (size_t member = 0; member < plans_.size(); ++member) {
      for (const ExchangeCall& call : plans_[member].calls) {
        post(call, member);
      }
    }
    for (size_t member = 0; member < plans_.size(); ++member) {
      for (const ExchangeCall& call : plans_[member].calls) {
        collect(call, member);
      }
    }
    for (const auto& [pair, parcels] : mail_) {
      require(parcels.empty(),
              fmt::format("{} sends more than {} receives", pair.first, pair.second));
    }
    for (size_t member = 0; member < plans_.size(); ++member) {
      apply(plans_[member].unpack, member);
    }
  }

 private:
  static bool is_mail(const ExchangeCall& call) {
    return call.kind == ExchangeKind::kSend || call.kind == ExchangeKind::kReceive;
  }

  // A communicator has one call of a kind that all members make, or mail alone.
  void require_same_calls() const {
    const std::vector<ExchangeCall>& first = plans_.front().calls;
    const bool is_native = !first.empty() && !is_mail(first.front());
    for (const ExchangePlan& plan : plans_) {
      if (is_native) {
        require(plan.calls.size() == 1 && plan.calls[0].kind == first[0].kind &&
                    plan.calls[0].rows == first[0].rows && plan.calls[0].peer == first[0].peer,
                "members call different collectives");
      }
      for (const ExchangeCall& call : plan.calls) {
        require(is_native || is_mail(call), "collectives and mail in one exchange");
        require(call.rows > 0, "a call without rows");
      }
    }
  }

  std::byte* address(const RowAddress& row, size_t member) {
    require(row.member == static_cast<int>(member), "the row is another member's");
    if (row.tensor != kNone) {
      return tensors_.bytes(ranks_[member], row.tensor, row.row);
    }
    const auto at = static_cast<size_t>(row.row * plans_[member].columns);
    require(at < scratch_[member].size(), "beyond the scratch memory");
    return reinterpret_cast<std::byte*>(scratch_[member].data() + at);
  }

  void apply(const std::vector<Move>& moves, size_t member) {
    for (const Move& move : moves) {
      apply_move(
          move, plans_[member].columns, address(move.from, member), address(move.to, member));
    }
  }

  size_t num_words(const ExchangeCall& call, size_t member, int64_t parts = 1) const {
    return static_cast<size_t>(call.rows * parts * plans_[member].columns);
  }

  int64_t parts_sent(const ExchangeCall& call) const {
    const bool many =
        call.kind == ExchangeKind::kReduceScatter || call.kind == ExchangeKind::kAllToAll;
    return many ? std::ssize(plans_) : 1;
  }

  void post(const ExchangeCall& call, size_t member) {
    if (call.kind == ExchangeKind::kReceive) {
      return;
    }
    if (call.kind == ExchangeKind::kBroadcast && call.peer != static_cast<int>(member)) {
      sent_.emplace_back();
      return;
    }
    Words words(num_words(call, member, parts_sent(call)));
    std::memcpy(words.data(), address(call.from, member), words.size() * sizeof(float));
    if (call.kind == ExchangeKind::kSend) {
      mail_[{static_cast<int>(member), call.peer}].push_back(std::move(words));
    } else {
      sent_.push_back(std::move(words));
    }
  }

  // Part `index` of what all sent, added up from the member on.
  Words sum(size_t index, size_t words, size_t member) const {
    Words total = part(member, index, words);
    for (size_t i = 1; i < sent_.size(); ++i) {
      const Words& terms = sent_[(member + i) % sent_.size()];
      for (size_t word = 0; word < words; ++word) {
        total[word] += terms[index * words + word];
      }
    }
    return total;
  }

  Words part(size_t sender, size_t index, size_t words) const {
    const auto first = sent_[sender].begin() + static_cast<std::ptrdiff_t>(index * words);
    return {first, first + static_cast<std::ptrdiff_t>(words)};
  }

  Words received(const ExchangeCall& call, size_t member) {
    const size_t words = num_words(call, member);
    Words all;
    switch (call.kind) {
      case ExchangeKind::kReceive: {
        std::vector<Words>& parcels = mail_[{call.peer, static_cast<int>(member)}];
        require(!parcels.empty() && parcels.front().size() == words,
                fmt::format("{} does not receive what {} sends", member, call.peer));
        all = std::move(parcels.front());
        parcels.erase(parcels.begin());
        return all;
      }
      case ExchangeKind::kBroadcast:
        return sent_[static_cast<size_t>(call.peer)];
      case ExchangeKind::kAllReduce:
        return sum(0, words, member);
      case ExchangeKind::kReduceScatter:
        return sum(member, words, member);
      default:
        break;
    }
    for (size_t sender = 0; sender < plans_.size(); ++sender) {
      const bool is_own = call.kind == ExchangeKind::kAllToAll;
      const Words one = part(sender, is_own ? member : 0, words);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }

  void collect(const ExchangeCall& call, size_t member) {
    if (call.kind == ExchangeKind::kSend) {
      return;
    }
    const Words words = received(call, member);
    std::memcpy(address(call.to, member), words.data(), words.size() * sizeof(float));
  }

  const std::vector<ExchangePlan>& plans_;
  const std::vector<int>& ranks_;
  TensorStore& tensors_;
  std::vector<Words> scratch_;                              // by member
  std::vector<Words> sent_;                                 // by member, of a collective
  std::map<std::pair<int, int>, std::vector<Words>> mail_;  // by sender and receiver
};

}  // namespace

void run_exchange(const std::vector<ExchangePlan>& plans,
                  const std::vector<int>& ranks,
                  TensorStore& tensors) {
  ExchangeRunner(plans, ranks, tensors).run();
}

void run_exchange(const MovePlan& moves,
                  CollectiveOperation operation,
                  bool native_all_to_all,
                  const std::vector<int>& ranks,
                  TensorStore& tensors) {
  const auto size = static_cast<int>(ranks.size());
  std::vector<ExchangePlan> plans;
  for (int member = 0; member < size; ++member) {
    plans.push_back(plan_exchange(moves, {operation, size, member, native_all_to_all}));
  }
  run_exchange(plans, ranks, tensors);
}

}  // namespace moesim::test
