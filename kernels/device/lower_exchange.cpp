#include "kernels/device/lower_exchange.h"

#include "kernels/device/lower_moves.h"

namespace moesim {
namespace {

class ExchangeLowering {
 public:
  ExchangeLowering(const ExchangeSite& site, LoweringSpace& space)
      : site_(site),
        space_(space),
        own_{site.plan->columns, site.plan->scratch_rows, {}, {site.plan->pack, site.plan->unpack}},
        rank_(site.ranks[static_cast<size_t>(site.member)]) {}

  DeviceExchange lower() {
    DeviceExchange exchange;
    exchange.pack = moves(0);
    for (const ExchangeCall& call : site_.plan->calls) {
      exchange.calls.push_back({call.kind,
                                call.kind == ExchangeKind::kReceive ? 0 : address(call.from),
                                call.kind == ExchangeKind::kSend ? 0 : address(call.to),
                                call.rows * own_.columns,
                                site_.type,
                                call.peer});
    }
    exchange.unpack = moves(1);
    return exchange;
  }

 private:
  // All of them are the member's own.
  std::vector<DeviceStep> moves(int step) {
    return lower_moves({&own_, site_.ranks, site_.stream, site_.type}, step, site_.member, space_);
  }

  DeviceAddress address(const RowAddress& row) {
    if (row.tensor != kNone) {
      return space_.tensor(rank_, row.tensor, row.row).address;
    }
    const int64_t bytes = own_.scratch_rows * own_.columns * size_of(site_.type);
    const Elements scratch{space_.shared_scratch({rank_, site_.stream}, bytes), site_.type};
    return scratch.from(row.row * own_.columns).address;
  }

  const ExchangeSite& site_;
  LoweringSpace& space_;
  MovePlan own_;
  int rank_;
};

}  // namespace

DeviceExchange lower_exchange(const ExchangeSite& site, LoweringSpace& space) {
  return ExchangeLowering(site, space).lower();
}

}  // namespace moesim
