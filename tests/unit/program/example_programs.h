#pragma once

#include <string>
#include <vector>

#include "sim/program/builder.h"

namespace moesim::testing {

// The groups of the design's appendix: 4 ranks, mp = esp = {0,1},{2,3}, ep = {0,2},{1,3}, and
// ep_esp = {0,1,2,3}.
struct AppendixGroups {
  int mp = kNone;
  int esp = kNone;
  int ep = kNone;
  int ep_esp = kNone;
};

AppendixGroups add_appendix_groups(ProgramBuilder& builder);

// Sizes of the appendix's programs: S tokens of an mp group, M columns, H of an expert, two
// experts.
struct ExampleSizes {
  int layers = 1;
  int tokens = 8;
  int embedding = 4;
  int hidden = 6;
  int rows_per_expert = 5;  // T, or h for Parm S2
  int forward_degree = 1;
  int backward_degree = 1;
  bool backward = true;
  // Tokens [rank][expert] of a gate without capacity; empty: a capacity, everything full.
  std::vector<std::vector<int>> routing;
};

// FSMoE, as the appendix lists it: reduce-scatter, gate, order, per chunk dispatch, gather, expert,
// scatter, combine, then unorder and gather; backward the same on gradients.
Program fsmoe_program(const ExampleSizes& sizes);

// Parm S2's forward pass, as the appendix lists it.
Program parm_s2_program(const ExampleSizes& sizes);

// A task on a stream; its regions are whole tensors unless given otherwise.
Task fixed_task(std::string name,
                int stream,
                std::vector<Region> reads,
                std::vector<Region> writes);
Task collective_task(std::string name,
                     int stream,
                     const Collective& collective,
                     std::vector<Region> reads,
                     std::vector<Region> writes);

// Index of the task of that name.
int task_named(const Program& program, const std::string& name);

}  // namespace moesim::testing
