#pragma once

#include <cstdint>
#include <vector>

#include "kernels/moves.h"
#include "sim/io/program.h"

namespace moesim {

// The calls of NCCL that a member makes.
enum class ExchangeKind {
  kAllGather,
  kReduceScatter,
  kAllReduce,
  kAllToAll,
  kBroadcast,
  kSend,
  kReceive
};
const char* to_string(ExchangeKind kind);

// One call. `from` and `to` are rows of the member's own memory, one behind the other; a tensor
// kNone is the scratch memory that the member has for this exchange.
struct ExchangeCall {
  ExchangeKind kind = ExchangeKind::kSend;
  RowAddress from;   // not of kReceive
  RowAddress to;     // not of kSend
  int64_t rows = 0;  // NCCL's count: of one member's part (all-gather, reduce-scatter, all-to-all),
                     // else of all that is sent
  int peer = kNone;  // the other member, or the root
};

// One member's part of a collective, where the memory of the others is out of reach: rows that do
// not stand one behind the other are packed, NCCL is called, and what came is put where it belongs.
// All calls are one NCCL group. `pack` and `unpack` touch the member's own memory only; their sums
// add up the members in group order.
struct ExchangePlan {
  int columns = 0;
  int64_t scratch_rows = 0;
  std::vector<Move> pack;
  std::vector<ExchangeCall> calls;
  std::vector<Move> unpack;
};

struct ExchangeRequest {
  CollectiveOperation operation = CollectiveOperation::kAllReduce;
  int num_members = 0;
  int member = 0;                  // whose part it is
  bool native_all_to_all = false;  // ncclAlltoAll: NCCL 2.28 or later
};

// How `request.member` carries out its part of `moves`, the plan of a collective of all members.
//
// Where all members have equally many rows for each other, an AllGather, a ReduceScatter and, if
// asked for, an AlltoAll are the call of that name; so are an AllReduce and a Broadcast always.
// What a routing leaves unequal goes by sends and receives of what there is, without padding; a
// ReduceScatter then adds up on arrival. An AlltoAll by sends and receives packs only the parts
// that are not in one piece, the native one all of them unless all are in one piece together.
ExchangePlan plan_exchange(const MovePlan& moves, const ExchangeRequest& request);

}  // namespace moesim
