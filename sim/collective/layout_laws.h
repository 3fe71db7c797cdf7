#pragma once

#include <algorithm>
#include <optional>

#include "sim/collective/layout.h"
#include "sim/collective/member_place.h"
#include "sim/io/profile.h"

namespace moesim {

// What is known of a collective on one layout tells what it takes on another. Formulas of the
// algorithms that NCCL runs (ring and tree: Thakur, Rabenseifner, Gropp, 2005; NCCL's all-to-all is
// a send and a receive per peer), no fits. Predictions of single collectives (layout_model.h) and
// the simulator's prices (tariff.h) both take them from here.

// A profile's entry and the layout it was measured on.
struct MeasuredLayout {
  Layout layout;
  const CollectiveCost* cost = nullptr;

  [[nodiscard]] double startup() const;
  [[nodiscard]] double transfer(double bytes) const;
  [[nodiscard]] double seconds(double bytes) const { return startup() + transfer(bytes); }
};

// The share of a collective's nominal bytes that passes one NIC, with a NIC for each GPU; on one
// node, one GPU's port. n ranks, g on a node:
//   all-gather, reduce-scatter: (n-1)/n / g, all-reduce twice that: g rings, one over each NIC
//   all-to-all: (n-g)/n, what goes to other nodes; shift: 1; broadcast: 1/g
// On one node g counts as 1, and an all-to-all sends (n-1)/n.
double wire_share(CollectiveOperation operation, const Layout& layout);

// The layout that an entry was measured on; nothing where it states none.
std::optional<Layout> layout_of(const CollectiveCost& cost);

// What a layout is said to take: start-up and transfer. `transfer` is what links carry: it is what
// congestion lengthens.
struct LawTime {
  double startup = 0;
  double transfer = 0;

  [[nodiscard]] double seconds() const { return startup + transfer; }
};

// The same for any size: `scale` times the measured transfer of `argument` times the bytes.
struct LawTerms {
  double startup = 0;
  double argument = 1;
  double scale = 1;

  [[nodiscard]] LawTime at(const MeasuredLayout& from, double bytes) const {
    return {startup, scale * from.transfer(argument * bytes)};
  }
};

// From other layouts of the same kind (several nodes with as many GPUs each, or one node): the same
// algorithm with more steps. n0 ranks measured, n asked for; T0 measured.
//   ring (all-gather, reduce-scatter, all-reduce): a rank sends n-1 messages of bytes/n, one after
//     the other: (n-1)/(n0-1) * T0(bytes n0/n)
//   all-to-all: a message of bytes/n to each peer: start-ups grow with n-1, the transfer with the
//     n-g peers that are on other nodes
//   shift: the same message; broadcast: the same bytes down a longer chain
LawTerms more_steps(CollectiveOperation operation,
                    const MeasuredLayout& from,
                    const MemberPlace& to);

// An all-reduce by trees of nodes: its start-up grows with their depth, log2 of the nodes, its
// transfer does not. NCCL runs whichever of tree and ring it takes for faster. Several nodes each.
LawTerms deeper_tree(const MeasuredLayout& from, const MemberPlace& to);

// Whether such trees may have carried out what was measured: an all-reduce over several nodes that
// names no algorithm, as a table (a line has one start-up, whatever the number of ranks).
bool may_be_tree(const MeasuredLayout& measured);

// What a collective over N nodes, g ranks on this one, n in all, asks of one of its two levels.
struct LevelPart {
  double hops = 0;   // that pay a start-up, one after the other; an all-reduce's are walked twice
  double share = 0;  // of the nominal bytes: what passes a NIC, or a GPU's port in the node
};

// A ring has N of its n hops between nodes; of n-1 hops in sequence the share N/n pays the start-up
// of a hop between nodes, the others that of one within. An all-to-all sends to n-g peers over the
// NIC and to g-1 inside, both at once; of a shift one message crosses either.
struct LevelParts {
  LevelPart between;
  LevelPart inside;
  bool at_once = false;  // the start-ups of both: the longer counts, else their sum
};
LevelParts level_parts(CollectiveOperation operation, const MemberPlace& to);

// The start-up of a level at an entry's figure: once, where it is paid once.
double startup_of(const LevelPart& part, const CollectiveCost& entry);

// From one node and from one GPU on each of several nodes (level_parts): start-ups, then what a NIC
// and what a GPU's port in the node carry pass at the same time, and the slower of the two counts.
struct Composition {
  double startup = 0;
  double over_nics = 0;  // transfers
  double over_ports = 0;
  double low = 0;   // start-ups and transfers hide behind each other where they can
  double high = 0;  // nothing hides

  // `congestion` is the fabric's: how many times as long as it would what crosses it takes.
  [[nodiscard]] double seconds(double congestion) const {
    return startup + std::max(over_nics * congestion, over_ports);
  }
};
Composition composed(CollectiveOperation operation,
                     const MeasuredLayout& in_node,
                     const MeasuredLayout& between_nodes,
                     const Layout& to,
                     double bytes);

}  // namespace moesim
