#include "kernels/device/lower_exchange.h"

#include "kernels/device/lower_moves.h"

namespace moesim {

DeviceExchange lower_exchange(const ExchangeSite& site, LoweringSpace& space) {
  const ExchangePlan& plan = *site.plan;
  const MovePlan moves{plan.columns, plan.scratch_rows, {}, {plan.pack, plan.unpack}};
  const MoveSite own{&moves, site.ranks, site.stream, site.type};
  const auto address = [&](const RowAddress& row) { return row_address(own, row, space).address; };
  DeviceExchange exchange;
  exchange.pack = lower_moves(own, 0, site.member, space);
  for (const ExchangeCall& call : plan.calls) {
    const bool is_receive = call.kind == ExchangeKind::kReceive;
    const bool is_send = call.kind == ExchangeKind::kSend;
    exchange.calls.push_back({call.kind,
                              is_receive ? 0 : address(call.from),
                              is_send ? 0 : address(call.to),
                              call.rows * plan.columns,
                              site.type,
                              call.peer});
  }
  exchange.unpack = lower_moves(own, 1, site.member, space);
  return exchange;
}

}  // namespace moesim
