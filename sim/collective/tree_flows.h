#pragma once

#include "sim/collective/flows.h"

namespace moesim {

// Trees. ALL_REDUCE, as NCCL (2.4 and later, src/graph/trees.cc): the nodes are in two binary trees
// such that each is a leaf of one of them, half of the bytes go up and down over each edge of one;
// within a node they go up and down a chain of its members, whose head is in the trees. Over nodes
// with g members g times 1/g of the bytes, with another head each time; with unequal numbers once,
// the first members being the heads. (Sanders, Speck and Traeff, "Two-tree algorithms for full
// bandwidth broadcast, reduction and scan", 2009.)
//
// BROADCAST: the binomial tree from the root, its node first: member i, counted from the root, has
// the bytes from i without its lowest bit. Everything goes over each edge.
void tree_flows(const Collective& collective, const Seating& seating, const VisitFlow& visit);

// Over one member of each node, for_each of the two trees: half of `share` up and down.
void double_tree_flows(const std::vector<int>& heads, double share, const VisitFlow& visit);

// The binomial tree over members, the first being the root.
void binomial_flows(const std::vector<int>& order, double share, const VisitFlow& visit);

// How many edges lie between the root and the farthest of `size`: ceil(log2(size)).
int tree_depth(int size);

// The members, those of the root's node first and the root before them, node by node.
std::vector<int> from_root(const Seating& seating, int root);

}  // namespace moesim
