#pragma once

#include "sim/collective/layout.h"
#include "sim/io/profile.h"

namespace moesim {

// What is known of a collective on one layout tells what it takes on another. Formulas of the
// algorithms that NCCL runs (ring and tree: Thakur, Rabenseifner, Gropp, 2005; NCCL's all-to-all is
// a send and a receive per peer), no fits.

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

// What a layout is said to take: start-up and transfer. `transfer` is what links carry: it is what
// congestion lengthens.
struct LawTime {
  double startup = 0;
  double transfer = 0;

  [[nodiscard]] double seconds() const { return startup + transfer; }
};

// From other layouts of the same kind (several nodes with as many GPUs each, or one node): the same
// algorithm with more steps. n0 ranks measured, n asked for; T0 measured.
//   ring (all-gather, reduce-scatter, all-reduce): a rank sends n-1 messages of bytes/n, one after
//     the other: (n-1)/(n0-1) * T0(bytes n0/n)
//   all-to-all: a message of bytes/n to each peer: start-ups grow with n-1, the transfer with the
//     n-g peers that are on other nodes
//   shift: the same message; broadcast: the same bytes down a longer chain
LawTime more_steps(CollectiveOperation operation,
                   const MeasuredLayout& from,
                   const Layout& to,
                   double bytes);

// An all-reduce by trees of nodes: its start-up grows with their depth, log2 of the nodes, its
// transfer does not. NCCL runs whichever of tree and ring it takes for faster. Several nodes each.
LawTime deeper_tree(const MeasuredLayout& from, const Layout& to, double bytes);

// From one node and from one GPU on each of several nodes. A ring over N nodes with g GPUs each has
// N of its n hops between nodes; of n-1 hops in sequence the share N/n pays the start-up of a hop
// between nodes, the others that of one within; what a NIC and what a GPU's port in the node carry
// passes at the same time, and the slower of the two counts. An all-to-all sends to n-g peers over
// the NIC and to g-1 inside, both at once; a shift's slowest message counts.
struct Composition {
  LawTime time;
  double low = 0;   // start-ups and transfers hide behind each other where they can
  double high = 0;  // nothing hides
};
Composition composed(CollectiveOperation operation,
                     const MeasuredLayout& in_node,
                     const MeasuredLayout& between_nodes,
                     const Layout& to,
                     double bytes);

}  // namespace moesim
