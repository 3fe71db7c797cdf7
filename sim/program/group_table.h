#pragma once

#include <vector>

#include "sim/io/program.h"

namespace moesim {

// Where each rank stands in each group of a Program.
class GroupTable {
 public:
  // Takes in the groups that the Program has gained since the last call.
  void update(const Program& program);

  // The rank's instance of the group and its index there; kNone outside the group.
  int instance(int group, int rank) const { return groups_[group].instance[rank]; }
  int index(int group, int rank) const { return groups_[group].index[rank]; }

  // True when every rank of the Program is in an instance.
  bool covers_all(int group) const { return groups_[group].covers_all; }
  // The number of members of every instance, or 0 where instances differ.
  int uniform_size(int group) const { return groups_[group].uniform_size; }

 private:
  struct Entry {
    std::vector<int> instance;
    std::vector<int> index;
    bool covers_all = false;
    int uniform_size = 0;
  };

  static Entry make_entry(const Group& group, int num_ranks);

  std::vector<Entry> groups_;
};

}  // namespace moesim
